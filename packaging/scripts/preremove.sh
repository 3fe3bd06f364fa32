#!/bin/sh
set -e
case $1 in
upgrade) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	for unit in rampart-sched rampart-comm rampart-mom rampart-server; do
		systemctl disable --now $unit.service || true
	done
fi
[ ! -x /opt/pbs/libexec/pbs_init.d ] || /opt/pbs/libexec/pbs_init.d stop || true
