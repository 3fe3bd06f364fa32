package conformance

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/cmd/devrun"
)

// A recording is a session at a PBS, command by command, and the same session here.
type recording struct {
	t       *testing.T
	cluster *devrun.Cluster
	dir     string
	ours    map[string]string // job numbers of the recording in our cluster
	missing []string          // job numbers that there are none of
}

// A block is one command of a recording and all that it printed, its exit status last.
type block struct{ command, output string }

// TestRecorded_Everyday plays the everyday commands of the specification's recordings and
// sets our output beside what PBS printed. Dates, ids, paths and what belongs to the
// installation are masked; hosts and users go by other names, each always by the same.
func TestRecorded_Everyday(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("root manages and somebody else submits")
	}
	r := newRecording(t)
	for _, b := range blocks(t, "testdata/recorded/everyday.txt") {
		if filesOf[b.command] != "" {
			r.compareFile(b)
			continue
		}
		if got, want, same := r.play(b); !same {
			t.Errorf("$ %s\n%s", b.command, sideBySide(want, got))
		}
	}
}

func newRecording(t *testing.T) *recording {
	t.Helper()
	c := newCluster(t, "--name", "hosta",
		"--mom", "hosta:ncpus=8,mem=8gb", "--mom", "hostb:ncpus=8,mem=8gb", "--mom", "hostc:ncpus=8,mem=8gb")
	dir, err := os.MkdirTemp(scratch, "rec-")
	if err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "HOME="+dir, "PWD="+dir, "LANG=C.UTF-8", "LOGNAME=pbsuser", "MAIL=/var/mail/pbsuser", "SHELL=/bin/bash")
	if err := os.Chmod(dir, 0o777); err != nil { // jobs write there
		t.Fatal(err)
	}
	r := &recording{t: t, cluster: c, dir: dir, ours: map[string]string{}}
	if out := r.run("qmgr -c 'set server job_history_enable = True'"); !strings.Contains(out, "[exit status 0]") {
		t.Fatal(out)
	}
	return r
}

func blocks(t *testing.T, file string) []block {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	for part := range strings.SplitSeq("\n"+string(text), "\n$ ") {
		if command, output, ok := strings.Cut(part, "\n"); ok && command != "" {
			all = append(all, block{command, strings.TrimRight(output, "\n") + "\n"})
		}
	}
	return all
}

// run returns what a shell line printed, errors in their place, and its exit status.
func (r *recording) run(line string) string {
	user := "root"
	if submits.MatchString(line) {
		user = submittingUser
	}
	argv := asUser(user, "bash", "-c", line)
	cmd := r.cluster.Command(context.Background(), argv[0], argv[1:]...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	status := 0
	if err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			r.t.Fatal(err)
		}
		status = exit.ExitCode()
	}
	return fmt.Sprintf("%s[exit status %d]\n", out, status)
}

var (
	jobNumber = regexp.MustCompile(`\b(\d+)((?:\[\d*\])?)\.hosta\b`)
	submitted = regexp.MustCompile(`^(\d+)(?:\[\])?\.hosta\n`)
	readOnly  = regexp.MustCompile(`^(qstat|qselect|pbsnodes -[a-z]+S|pbsnodes -v|pbsnodes -a|tracejob|cat|qmgr -c "(print|list))`)
)

// play runs a block. What only reads may be asked again until it shows what was recorded:
// things take their time.
func (r *recording) play(b block) (got, want string, same bool) {
	want = r.mask(r.without(b.output))
	line := r.ourNumbers(cmp.Or(instead[b.command], b.command))
	line = strings.ReplaceAll(line, "-u pbsuser", "-u "+submittingUser)
	limit := patience
	if r.t.Failed() {
		limit = time.Second // one difference is enough to know
	}
	for began := time.Now(); ; poll(began) {
		raw := r.run(line)
		r.noteJob(b.output, raw)
		got = r.mask(r.named(r.theirs(raw)))
		if got == want || !readOnly.MatchString(b.command) || time.Since(began) > limit {
			return got, want, got == want
		}
	}
}

// ourNumbers writes the job numbers of the recording as ours.
func (r *recording) ourNumbers(line string) string {
	return jobNumber.ReplaceAllStringFunc(line, func(id string) string {
		m := jobNumber.FindStringSubmatch(id)
		return cmp.Or(r.ours[m[1]], m[1]) + m[2] + ".hosta"
	})
}

// noteJob learns which job here is which of the recording.
func (r *recording) noteJob(recorded, got string) {
	theirs := submitted.FindStringSubmatch(recorded)
	if theirs == nil || !strings.HasSuffix(recorded, ".hosta\n[exit status 0]\n") || strings.Count(recorded, "\n") != 2 || r.ours[theirs[1]] != "" {
		return
	}
	if ours := submitted.FindStringSubmatch(got); ours != nil {
		r.ours[theirs[1]] = ours[1]
		return
	}
	r.missing = append(r.missing, theirs[1])
}

// theirs writes our job numbers as those of the recording.
func (r *recording) theirs(text string) string {
	return jobNumber.ReplaceAllStringFunc(text, func(id string) string {
		m := jobNumber.FindStringSubmatch(id)
		for theirs, ours := range r.ours {
			if ours == m[1] {
				return theirs + m[2] + ".hosta"
			}
		}
		return id
	})
}

// without drops the rows of jobs that we could not submit.
func (r *recording) without(text string) string {
	var out strings.Builder
	dropped := false
	for line := range strings.Lines(text) {
		m := jobNumber.FindStringSubmatchIndex(line)
		switch {
		case m != nil && m[0] == 0:
			dropped = slices.Contains(r.missing, line[m[2]:m[3]])
		case !strings.HasPrefix(line, "   "):
			dropped = false
		}
		if !dropped {
			out.WriteString(line)
		}
	}
	return out.String()
}

// A masking replaces what is incidental, in the recording and in our output alike.
type masking struct {
	of *regexp.Regexp
	by string
}

// Commands are asked on the host of a replica.
var submitHost = regexp.MustCompile(`([@="\s;])s[123]\b`)

var maskings = []masking{
	{regexp.MustCompile(`\n\t([^\t"}\]])`), "$1"}, // folded lines: where they fold is tested byte by byte in cli/render
	{regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d( at)? \d\d:\d\d(:\d\d \d{4})?`), "DATE"},
	{regexp.MustCompile(`\d\d/\d\d/\d{4} \d\d:\d\d:\d\d`), "STAMP"},
	{regexp.MustCompile(`\b1[78]\d{8}\b`), "EPOCH"},
	{regexp.MustCompile(`(resources_used\.\w+ ?= ?)[\w:]+`), "${1}USED"},
	{regexp.MustCompile(`(?s)("resources_used":\t\{).*?(\})`), "$1$2"},
	{regexp.MustCompile(`(session_id(=|":\t))\d+`), "${1}SESSION"},
	{regexp.MustCompile(`(?m)^    session_id = .*\n`), ""}, // a short job's may have come too late
	{regexp.MustCompile(`(?m)^(\d\S*\.hosta +\S+ +\S+ +\S+) +(?:\d+|--) +(\d+ +\d+ .*[RF] )`), "$1 SESSION $2"},
	{regexp.MustCompile(`(\.[oe])\d+`), "${1}N"},
	{regexp.MustCompile(`PBS_O_PATH((":\t")|=)[^",|\n]*`), "PBS_O_PATH${1}PATH"},
	// What comes from PBS's own internals.
	{regexp.MustCompile(`\t*"(hashname|queue_rank|PBS_O_INTERACTIVE_\w+)":\t.*\n`), ""},
	{regexp.MustCompile(`[|%](hashname|queue_rank)=[^|%\n]*`), ""},
	{regexp.MustCompile(`(?m)^    (hashname|queue_rank) = .*\n`), ""},
	{regexp.MustCompile(`,PBS_O_INTERACTIVE_\w+=[^,|%\n]*`), ""},
	// What belongs to the installation.
	{regexp.MustCompile(`\b(host[abc]/)\d+`), "${1}N"}, // the first that is free: subjobs that begin together take any order
	{regexp.MustCompile(`(?m)^    Shell_Path_List = .*\n|-S /bin/bash `), ""},
	{regexp.MustCompile(`(pbs_version( = |=|":\t"))[\w.+-]+`), "${1}VERSION"},
	{regexp.MustCompile(`(Used|High_Use):\d+`), "$1:N"}, // counted once a minute
	{regexp.MustCompile(`(Port( = |=|":\t))\d+`), "${1}PORT"},
	{regexp.MustCompile(`(pcpus( = |=|":\t))\d+`), "${1}N"},
	{regexp.MustCompile(`\t*"(acl_roots|flatuid|timezone)":\t.*\n`), ""},
	{regexp.MustCompile(`(?m)^(    |set server )(acl_roots|flatuid|timezone) = .*\n`), ""},
}

// submittingUser stands for pbsuser, whose the recorded jobs are. All else root does, as there.
const submittingUser = "games"

var (
	submits   = regexp.MustCompile(`^(echo .*\| )?qsub `)
	groupName = regexp.MustCompile(`(group ?= ?|group":\t")(games|root)\b`)
)

// named writes our names as those of the recording, each always as the same one.
func (r *recording) named(text string) string {
	text = strings.ReplaceAll(text, r.dir, "/home/pbsuser")
	text = submitHost.ReplaceAllString(text, "${1}hosta")
	text = strings.ReplaceAll(text, "/usr/games", "/home/pbsuser")
	text = groupName.ReplaceAllString(text, "${1}tstgrp00")
	text = strings.ReplaceAll(text, "games  ", "pbsuser")
	return strings.ReplaceAll(text, "games", "pbsuser")
}

func (r *recording) mask(text string) string {
	for _, m := range maskings {
		text = m.of.ReplaceAllString(text, m.by)
	}
	// Subjobs that begin in one cycle are started in any order.
	return subjobLists.ReplaceAllStringFunc(text, func(list string) string {
		ids := strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
		slices.Sort(ids)
		return strings.Join(ids, ",")
	})
}

var subjobLists = regexp.MustCompile(`3\[\d\](?:\.\w+)?(?:/N)?(?:, ?3\[\d\](?:\.\w+)?(?:/N)?)+`)

// sideBySide shows the lines in which two texts differ, as a diff does.
func sideBySide(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	common := make([][]int, len(w)+1) // lengths of the longest common rests
	for i := range common {
		common[i] = make([]int, len(g)+1)
	}
	for i := len(w) - 1; i >= 0; i-- {
		for j := len(g) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); w[i] == g[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var out strings.Builder
	for i, j := 0, 0; i < len(w) || j < len(g); {
		switch {
		case i < len(w) && j < len(g) && w[i] == g[j]:
			i, j = i+1, j+1
		case j == len(g) || i < len(w) && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintf(&out, "  PBS  %q\n", w[i])
			i++
		default:
			fmt.Fprintf(&out, "  ours %q\n", g[j])
			j++
		}
	}
	return out.String()
}
