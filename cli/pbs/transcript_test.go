package pbs

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"rampart/cli"
	"rampart/cli/script"
	"rampart/transport/api/apiconnect"
	"rampart/transport/build"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// A transcript is a text of command lines and all that came of them: output, lines
// on standard error after "2> ", what the server was asked after "-> ", and the exit
// status. Lines before the first command tell the story, and those after "## ".
//
//	$ [NAME=VALUE...] command [argument...] [< file]
//
// The moms of the host have their sockets in home/run: that of job 6 is b. TERMINAL=1 makes the file one that a person types at a terminal,
// RESERVATIONS=none takes away what reservations there are, SEQUENCE=long raises max_job_sequence_id, HISTORY=none keeps no
// finished jobs, QUORUM=none answers only who takes a stale answer.
func TestTranscripts(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compare(t, got, string(want))
		})
	}
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	command := ""
	for i := range min(len(g), len(w)) {
		if strings.HasPrefix(w[i], "$ ") {
			command = w[i]
		}
		if g[i] != w[i] {
			t.Fatalf("line %d, after %q\n got %q\nwant %q", i+1, command, g[i], w[i])
		}
	}
	if got != want {
		t.Fatalf("got %d lines, want %d", len(g), len(w))
	}
}

func replay(t *testing.T, text string) string {
	story, rest, _ := strings.Cut(text, "\n$ ")
	var out strings.Builder
	out.WriteString(story + "\n")
	for block := range strings.SplitSeq(rest, "\n$ ") {
		line, rest, _ := strings.Cut(block, "\n")
		fmt.Fprintf(&out, "$ %s\n%s\n", line, play(t, line))
		if _, note, ok := strings.Cut(rest, "\n\n## "); ok {
			fmt.Fprintf(&out, "## %s\n\n", strings.TrimSpace(note))
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// play runs one command line against a fresh server.
func play(t *testing.T, line string) string {
	t.Helper()
	words, err := script.Split(line)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"HOME": "/home/ann", "LOGNAME": "ann", "PATH": "/bin:/usr/bin", "SHELL": "/bin/sh", "LANG": "C.UTF-8",
		"PWD": "/home/ann/work", "PBS_CONF_FILE": "pbs.conf", "_": "/bin/pbs",
	}
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0], "=")
		if !ok || strings.Contains(name, "/") {
			break
		}
		env[name], words = value, words[1:]
	}
	var stdin io.Reader = strings.NewReader("")
	if n := len(words); n > 2 && words[n-2] == "<" {
		text, err := fs.ReadFile(files(), words[n-1])
		if err != nil {
			t.Fatal(err)
		}
		stdin, words = bytes.NewReader(text), words[:n-2]
	}
	server := newServer(t)
	server.bare, server.long, server.qdel = env["RESERVATIONS"] == "none", env["SEQUENCE"] == "long", env["QDEL"]
	server.forgets, server.minority = env["HISTORY"] == "none", env["QUORUM"] == "none"
	stdout, stderr := new(bytes.Buffer), new(bytes.Buffer)
	status := cli.Main(t.Context(), world(server, env, stdin, stdout, stderr), words, Commands())
	return told(server, stdout, stderr) + fmt.Sprintf("[exit status %d]\n", status)
}

func told(server *fakeServer, stdout, stderr *bytes.Buffer) string {
	var out strings.Builder
	for _, r := range server.asked {
		out.WriteString("-> " + r + "\n")
	}
	out.Write(stdout.Bytes())
	for line := range strings.Lines(stderr.String()) {
		out.WriteString("2> " + line)
	}
	return out.String()
}

// files is the file system of the transcripts.
var files = sync.OnceValue(func() fstest.MapFS {
	m := fstest.MapFS{
		"pbs.conf":         {Data: []byte("# a comment\nPBS_HOME=home\nPBS_SERVER=s1:15001,s2\nPBS_UNHEARD_OF=1\n")},
		"dir":              {Mode: fs.ModeDir},
		"bad%name":         {Data: []byte("true\n")},
		"named%file":       {Data: []byte("#PBS -N fine\n")},
		"badname.sh":       {Data: []byte("#PBS -N bad%name\n")},
		".command.run":     {Data: []byte("true\n")},
		"job.sh":           {Data: []byte("#!/bin/sh\n#PBS -N scripted -l ncpus=2\n#PBS -l walltime=10,mem=1gb -p 3\necho\n#PBS -h\n")},
		"unmatched.sh":     {Data: []byte("#PBS -N 'x\n")},
		"operand.sh":       {Data: []byte("#PBS -N x # comment\n")},
		"badopt.sh":        {Data: []byte("#PBS -Z\n#PBS -p 5000\n")},
		"interactive.sh":   {Data: []byte("#!/bin/sh\n#PBS -I -N talk\n")},
		"own.sh":           {Data: []byte("#PBS -N no\n#BATCH -N yes\n")},
		"home/run/a.tasks": {}, "home/run/b.tasks": {}, "home/run/c.pid": {},
	}
	for name, lines := range logFiles {
		m[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
	}
	dir, err := os.ReadDir("testdata")
	if err != nil {
		return m
	}
	for _, e := range dir {
		if filepath.Ext(e.Name()) != ".txt" {
			text, _ := os.ReadFile(filepath.Join("testdata", e.Name()))
			m[e.Name()] = &fstest.MapFile{Data: text}
		}
	}
	return m
})

// logFiles are the logs of the transcripts' PBS_HOME.
var logFiles = map[string][]string{
	"home/server_logs/20261120": {"11/20/2026 23:59:59;0008;Server@hosta;Job;5.hosta;Job Modified at request of ann@hosta"},
	"home/server_logs/20261121": {
		"11/21/2026 06:25:41;0100;Server@hosta;Job;5.hosta;enqueuing into workq, state Q hop 1",
		"11/21/2026 06:25:41;0008;Server@hosta;Job;5.hosta;Job Queued at request of ann@hosta; re\x1b[2Jally",
		"11/21/2026 06:25:41;0008;Server@hosta;Job;55.hosta;Job Queued at request of ann@hosta",
		"11/21/2026 06:25:42;0010;Server@hosta;Job;5.hosta;Exit_status=5 resources_used.cpupercent=0 resources_used.cput=00:00:00",
		"no line of a log", "11/21/2026;0010;Server@hosta;Job;5.hosta;no moment",
		"11/21/2026 07:00:00;0008;Server@hosta;Job;7.other;of another server",
	},
	"home/sched_logs/20261121": {
		"11/21/2026 06:25:40;0080;pbs_sched;Job;5.hosta;Considering job to run",
		"11/21/2026 06:25:41;0080;pbs_sched;Job;5.hosta;Considering job to run",
		"11/21/2026 06:25:41;0040;pbs_sched;Job;5.hosta;Job run",
	},
	"home/server_priv/accounting/20261121": {"11/21/2026 06:25:41;Q;5.hosta;user=ann group=users"},
	"other/mom_logs/20261121":              {"11/21/2026 06:25:41.000123;0008;pbs_mom;Job;5.hosta;Started, pid = 839"},
	"other/server_priv/accounting/20261121": {
		"11/21/2026 06:25:41;Q;5.hosta;user=ann group=users",
	},
}

func world(server *fakeServer, env map[string]string, stdin io.Reader, stdout, stderr io.Writer) *cli.Env {
	return &cli.Env{
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Environ: func() []string {
			all := make([]string, 0, len(env))
			for _, name := range []string{"HOME", "LANG", "LOGNAME", "PATH", "PWD", "SHELL", "_"} {
				all = append(all, name+"="+env[name])
			}
			for _, name := range slices.Sorted(maps.Keys(env)) {
				all = append(all, name+"="+env[name])
			}
			return all
		},
		Now:      func() time.Time { return time.Unix(1795242350, 0) },
		Zone:     zone(env["TZ"]),
		Hostname: func() (string, error) { return "login1", nil },
		Getwd:    func() (string, error) { return "/home/ann/work", nil },
		Open:     openFile,
		Stat: func(name string) (fs.FileInfo, error) {
			return fs.Stat(files(), strings.TrimPrefix(name, "/home/ann/work/"))
		},
		Terminal:      func() bool { return env["TERMINAL"] != "" },
		Batch:         func(t cli.Target) (apiconnect.BatchClient, error) { return server.client(t) },
		Console:       func() (cli.Console, bool) { return nil, env["TERMINAL"] != "" },
		Tasks:         server.tasks,
		Halt:          func(t cli.Target) (apiconnect.HaltClient, error) { return server.halt(t) },
		WithRequestID: func(ctx context.Context, id string) context.Context { return context.WithValue(ctx, idKey{}, id) },
		NewRequestID:  func() string { return "fresh" },
	}
}

// zone returns the time zone of the user, so many hours before or behind UTC, in which the logs are written.
func zone(hours string) *time.Location {
	n, _ := strconv.Atoi(hours)
	return time.FixedZone("", n*3600)
}

// openFile fails as a real file system does.
func openFile(name string) (fs.File, error) {
	f, err := files().Open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	return f, nil
}

type idKey struct{}
