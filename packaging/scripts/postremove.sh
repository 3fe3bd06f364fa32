#!/bin/sh
# PBS_HOME stays: it holds jobs, accounting and the keys of the cluster.
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
[ "$1" != purge ] || rm -f /etc/pbs.conf
