#!/usr/bin/env bash
# What `make demo` shows. It runs inside `rampart dev`, which has just started three
# replicas and five moms as real processes on this machine and takes them away again
# at the end:
#
#	bin/rampart dev --exec docs/demo.sh
set -euo pipefail

say() { printf '\n== %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; "$@"; }
fail() { printf 'demo: %s\n' "$*" >&2; exit 1; }
now() { date +%s%N; }
leader() { rampart cluster status --json | awk -F'"' '/"name"/ { name = $4 } /"role": "leader"/ { print name }'; }
state() { qstat -f "$1" 2>/dev/null | awk '$1 == "job_state" { print $3 }'; }
# until SECONDS COMMAND...: runs the command until it succeeds.
until_() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || fail "waited in vain for: $*"
		sleep 0.1
	done
}
is_state() { [ "$(state "$1")" = "$2" ]; }
is_substate() { qstat -f "$1" 2>/dev/null | grep -q "substate = $2\$"; }
only_first_host_busy() { [ "$(pbsnodes -av | grep -c "jobs = $job")" = 1 ]; }
is_gone() { ! qstat "$1" >/dev/null 2>&1; }
records() { cat "$RAMPART_DEV/homes/$1"/server_priv/accounting/[0-9]??????? | grep ";$job;"; }
same_records() { [ "$(records s1)" = "$(records s2)" ] && [ "$(records s1)" = "$(records s3)" ] && records s1 | grep -q ';E;'; }

work=$(mktemp -d "$RAMPART_DEV/demo.XXXXXX")
chmod 1777 "$work"
cd "$work"

say "Three replicas agree on every job; five moms run them."
show rampart cluster status
show pbsnodes -a -F dsv | cut -d'|' -f1-4

say "A job script as any PBS user writes it."
cat >steps.sh <<'JOB'
#!/bin/bash
#PBS -N steps
#PBS -l select=1:ncpus=2:mem=1gb
#PBS -l walltime=00:05:00
#PBS -j oe
echo "job $PBS_JOBID begins on $(cat "$PBS_NODEFILE")"
for step in 1 2 3 4 5 6 7 8; do
	sleep 1
	echo "step $step"
done
echo "job $PBS_JOBID ends"
JOB
cat steps.sh
job=$(qsub -o "$work/steps.out" steps.sh)
printf '$ qsub steps.sh\n%s\n' "$job"
until_ 20 is_state "$job" R
show qstat

old=$(leader)
say "The leader is $old. It dies by kill -9, in the middle of the job."
died=$(now)
show kill -9 "$(cat "$RAMPART_DEV/run/$old.pid")"
next=$(qsub -N next -j oe -o "$work/next.out" -- /bin/echo "submitted while there was no leader")
printf '$ qsub -N next -- /bin/echo ...\n%s\n' "$next"
gap=$((($(now) - died) / 1000000))
say "The next qsub was acknowledged $gap ms after the leader's death; nobody had to try again."
show rampart cluster status || [ $? = 3 ] # it serves, and one replica is dead
[ "$(leader)" != "$old" ] || fail "$old still leads"

say "The job does not notice; the dead replica comes back and catches up."
show qstat
show rampart dev restart "$old"
until_ 40 is_gone "$job"
show cat "$work/steps.out"
[ "$(grep -c '^step' "$work/steps.out")" = 8 ] || fail "the job's output was harmed"
until_ 20 is_gone "$next"
show cat "$work/next.out"

say "Its accounting record: one queued, one started, one ended, the same bytes on all three replicas."
until_ 20 same_records
records s1
for replica in s1 s2 s3; do
	printf '%s  %s\n' "$(records "$replica" | sha256sum | cut -c1-16)" "$replica"
done
[ "$(records s1 | awk -F';' '{ printf "%s", $2 }')" = QSE ] || fail "not exactly one Q, S and E"

say "A job over three hosts gives two of them back while it runs."
job=$(qsub -N shrinks -l select=3:ncpus=2 -l place=scatter -j oe -o "$work/shrinks.out" -- /bin/sleep 600)
until_ 20 is_substate "$job" 42
qstat -f "$job" | grep exec_host
show pbs_release_nodes -j "$job" -k 1
qstat -f "$job" | grep exec_host
show pbs_release_nodes -j "$job" -a
qstat -f "$job" | grep exec_host
until_ 20 only_first_host_busy
show pbsnodes -a -F dsv | cut -d'|' -f1-4
qdel "$job"
until_ 20 same_records
say "u and c: a phase ends, another begins; e and E: the last phase, and the whole."
records s1 | cut -d' ' -f1-2,11-
[ "$(records s1 | awk -F';' '{ printf "%s", $2 }')" = QSucucDeE ] || fail "not the records of two releases"

say "Done: the leader died, the job, its output, its record and the next qsub did not notice."
