#!/bin/sh
# Writes a pbs.conf for this host alone, unless there is one, and starts nothing: which
# daemons a host is to have is the site's word.
set -e
if [ ! -e /etc/pbs.conf ]; then
	umask 022
	cat >/etc/pbs.conf <<EOF
PBS_EXEC=/opt/pbs
PBS_HOME=/var/spool/pbs
PBS_SERVER=$(uname -n)
PBS_START_SERVER=0
PBS_START_SCHED=0
PBS_START_COMM=0
PBS_START_MOM=0
PBS_CORE_LIMIT=unlimited
PBS_SCP=/usr/bin/scp
EOF
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	# An upgrade: jobs run on, and the replica hands over.
	for unit in rampart-server rampart-mom rampart-sched rampart-comm; do
		systemctl try-restart $unit.service || true
	done
fi
