# The commands of the batch system, as pbs.conf says where they are.
_pbs_exec=$(sed -n 's/^PBS_EXEC=//p' "${PBS_CONF_FILE:-/etc/pbs.conf}" 2>/dev/null | tail -n 1)
if [ -d "$_pbs_exec/bin" ]; then
	case ":$PATH:" in
	*":$_pbs_exec/bin:"*) ;;
	*) PATH=$PATH:$_pbs_exec/bin ;;
	esac
	if [ "$(id -u)" -eq 0 ]; then
		case ":$PATH:" in
		*":$_pbs_exec/sbin:"*) ;;
		*) PATH=$PATH:$_pbs_exec/sbin ;;
		esac
	fi
	export PATH
fi
unset _pbs_exec
