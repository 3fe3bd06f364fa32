#!/bin/sh
# Starts and stops the daemons of this host that pbs.conf, or the environment, names with
# PBS_START_SERVER=1, PBS_START_SCHED=1, PBS_START_COMM=1 and PBS_START_MOM=1. What the
# environment says wins. Returns when they are up, or down. What restart ends and starts again
# keeps its jobs; after stop and start the mom has them queued again, as PBS does.
#
# usage: pbs_init.d start|stop|restart|status

conf=${PBS_CONF_FILE:-/etc/pbs.conf}

# read_conf takes the lines KEY=VALUE whose keys the environment does not have.
read_conf() {
	[ -r "$conf" ] || return 0
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		PBS_*=*) ;;
		*) continue ;;
		esac
		key=${line%%=*}
		value=${line#*=}
		value=${value#\"}
		value=${value%\"}
		case $key in
		*[!A-Z0-9_]*) continue ;;
		esac
		eval "[ -n \"\${$key+set}\" ]" || eval "$key=\$value"
	done <"$conf"
}

# pid_of NAME: sets pid to that of the running daemon, and fails if there is none.
pid_of() {
	pid=
	[ -r "$(lock_of "$1")" ] && IFS= read -r pid <"$(lock_of "$1")"
	case $pid in
	'' | *[!0-9]*) return 1 ;;
	esac
	{ tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "pbs_$1"; } 2>/dev/null # it may end meanwhile
}

lock_of() {
	case $1 in
	server | comm) echo "$PBS_HOME/server_priv/$1.lock" ;;
	*) echo "$PBS_HOME/$1_priv/$1.lock" ;;
	esac
}

# wanted NAME: whether this host is to have the daemon.
wanted() {
	case $1 in
	server) [ "${PBS_START_SERVER:-0}" -gt 0 ] ;;
	sched) [ "${PBS_START_SCHED:-0}" -gt 0 ] ;;
	comm) [ "${PBS_START_COMM:-0}" -gt 0 ] ;;
	mom) [ "${PBS_START_MOM:-0}" -gt 0 ] ;;
	esac 2>/dev/null
}

# options_of NAME: a mom that is restarted adopts the jobs that its stop has left.
options_of() {
	[ "$1" != mom ] || [ -z "$adopt" ] || echo -p
}

start() {
	echo "Starting PBS"
	prepare || return 1
	failed=0
	for name in server comm sched mom; do
		wanted $name || continue
		if pid_of $name; then
			echo "PBS $name already running, pid $pid"
		elif "$PBS_EXEC/sbin/pbs_$name" $(options_of $name); then
			echo "PBS $name"
		else
			echo "PBS $name could not be started" >&2
			failed=1
		fi
	done
	return $failed
}

# prepare lays the files that sites edit, where there are none.
prepare() {
	umask 022
	mkdir -p "$PBS_HOME" || return 1
	[ -f "$PBS_HOME/pbs_environment" ] || echo "PATH=/bin:/usr/bin" >"$PBS_HOME/pbs_environment" || return 1
	if wanted mom && [ ! -f "$PBS_HOME/mom_priv/config" ]; then
		mkdir -p "$PBS_HOME/mom_priv" && echo "\$clienthost ${PBS_SERVER:-$(uname -n)}" >"$PBS_HOME/mom_priv/config" || return 1
	fi
	ulimit -n "$(ulimit -Hn)" 2>/dev/null
	return 0
}

# stop ends the daemons of this host alone: qterm ends a cluster. Jobs go on under their shims.
stop() {
	echo "Stopping PBS"
	failed=0
	for name in sched mom comm server; do
		wanted $name || continue
		pid_of $name || continue
		was=$pid
		case $name in
		mom) kill -INT "$was" ;;
		*) kill -TERM "$was" ;;
		esac
		if gone $name "$was"; then
			echo "PBS $name - was pid: $was"
		else
			echo "PBS $name, pid $was, does not end" >&2
			failed=1
		fi
	done
	return $failed
}

# gone NAME PID: waits a minute for the end of a daemon.
gone() {
	tries=600
	while [ -d "/proc/$2" ] && pid_of "$1"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1 2>/dev/null || sleep 1
	done
	return 0
}

status() {
	down=0
	for name in server comm sched mom; do
		wanted $name || continue
		if pid_of $name; then
			echo "pbs_$name is pid $pid"
		else
			echo "pbs_$name is not running"
			down=3
		fi
	done
	return $down
}

adopt=
read_conf
if [ -z "$PBS_EXEC" ]; then
	PBS_EXEC=$(cd "$(dirname "$0")/.." && pwd) || exit 1
fi
PBS_HOME=${PBS_HOME:-/var/spool/rampart}
if [ ! -x "$PBS_EXEC/sbin/pbs_server" ]; then
	echo "PBS_EXEC=$PBS_EXEC: there is no sbin/pbs_server" >&2
	exit 1
fi

case $1 in
start | stop | status) "$1" ;;
restart)
	echo "Restarting PBS"
	stop && adopt=1 && start
	;;
*)
	echo "usage: pbs_init.d start|stop|restart|status" >&2
	exit 2
	;;
esac
