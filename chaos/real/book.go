package real

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rampart/chaos/check"
	"rampart/transport/api"
)

// program is what every job runs: it says in a file of its run when it began, that it
// lives, and when it ended, with the number of its process: a run that was started twice
// is seen. What was killed has no end, and its last word counts. When the world comes to
// rest, nothing needs to go on. The name of the run is that of the folder that its shim was given.
// On each further host it starts itself, and has a file for each there. Where it is, that folder says as
// well: the numbers of nodes change with what is released.
const program = `#!/bin/bash
LC_ALL=C
all=${0%/*}
mapfile -d '' -t shim <"/proc/$PPID/cmdline"
host=${shim[1]##*/homes/}
host=${host%%/*}
if (($# == 2)); then
	run=$2 file=$2+$host
else
	run=${shim[1]##*/} file=$run
	nodes=$(uniq "$PBS_NODEFILE" | wc -l)
	for ((n = 1; n < nodes; n++)); do
		"$all/../bin/pbsdsh" -o -n $n "$0" "$1" "$run" &
	done
fi
exec 9>>"$all/runs/$file" 8<> <(:)
say() { echo "$1 $EPOCHREALTIME $$ $host" >&9; }
say began
until=$(($1 * 1000 + ${EPOCHREALTIME/./}))
while ((${EPOCHREALTIME/./} < until)) && [[ ! -e $all/enough ]]; do
	read -rt 0.1 -u 8
	say lives
done
say ended
`

// A book is the folder in which jobs write.
type book struct{ dir string }

func (b book) program() string { return filepath.Join(b.dir, "program") }
func (b book) runs() string    { return filepath.Join(b.dir, "runs") }

// close lets every program end that runs or begins from now on.
func (b book) close() error { return os.WriteFile(filepath.Join(b.dir, "enough"), nil, 0o644) }

// openBook makes the folder; every user may write into it.
func openBook(dir string) (book, error) {
	b := book{dir}
	for path, mode := range map[string]fs.FileMode{dir: 0o755, b.runs(): 0o777} {
		if err := os.MkdirAll(path, mode); err != nil {
			return b, err
		}
		if err := os.Chmod(path, mode); err != nil {
			return b, err
		}
	}
	return b, os.WriteFile(b.program(), []byte(program), 0o755)
}

// job is one that runs the program; no shell reads the user's profile first, which may
// take longer than all that is looked at.
func (b book) job(runs time.Duration) *api.SubmitRequest {
	return &api.SubmitRequest{Attributes: []*api.Attribute{
		{Name: "executable", Value: b.program()},
		{Name: "argument_list", Value: strconv.FormatInt(runs.Milliseconds(), 10)},
		{Name: "Join_Path", Value: "oe"},
		{Name: "Output_Path", Value: "/dev/null"},
		{Name: "Keep_Files", Value: "n"},
	}}
}

// read returns all runs; their times count from begun.
func (b book) read(begun time.Time) ([]check.Run, error) {
	entries, err := os.ReadDir(b.runs())
	if err != nil {
		return nil, err
	}
	var all []check.Run
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(b.runs(), e.Name()))
		if err != nil {
			return nil, err
		}
		runs, err := parse(e.Name(), string(text), begun)
		if err != nil {
			return nil, fmt.Errorf("read the book: %s: %w", e.Name(), err)
		}
		all = append(all, runs...)
	}
	return all, nil
}

// parse reads the file of one run, JOB@RUN, or of what it started on another host, JOB@RUN+HOST: one
// run for each process that wrote in it.
func parse(name, text string, begun time.Time) ([]check.Run, error) {
	name, _, part := strings.Cut(name, "+")
	job, number, _ := strings.Cut(name, "@")
	count, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return nil, err
	}
	var all []check.Run
	of := make(map[string]int)
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 4 || !strings.HasSuffix(line, "\n") {
			return nil, fmt.Errorf("the line %q is not whole", line)
		}
		micros, err := strconv.ParseInt(strings.Replace(fields[1], ".", "", 1), 10, 64)
		if err != nil {
			return nil, err
		}
		at := time.UnixMicro(micros).Sub(begun.Round(0)) // by the clock on the wall
		n, known := of[fields[2]]
		if !known {
			n = len(all)
			of[fields[2]] = n
			all = append(all, check.Run{Job: job, Count: uint32(count), Host: fields[3], Start: at, Part: part})
		}
		all[n].End = at
	}
	return all, nil
}
