package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// files writes files of a test, by name, and returns their folder.
func files(t testing.TB, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// swfLine is a job of user u that comes at a time, runs and asks for so long on so many processors.
func swfLine(n, at, run, procs, asked, user, queue int) string {
	return fmt.Sprintf("%d %d -1 %d %d -1 -1 %d %d -1 1 %d 1 -1 %d -1 -1 -1\n", n, at, run, procs, procs, asked, user, queue)
}

func play(t testing.TB, o Options) (*Report, []Result) {
	t.Helper()
	var all []Result
	o.Each = func(r Result) { all = append(all, r) }
	o.check = true
	r, err := Replay(o)
	if err != nil {
		t.Fatal(err)
	}
	return r, all
}

// starts are the seconds after the begin of a trace at which its jobs have started, by name.
func starts(all []Result) map[string]int {
	m := map[string]int{}
	for _, r := range all {
		m[r.Job.Name] = int((r.Start - pbs.Time(standardBegin.UnixNano())) / pbs.Time(time.Second))
	}
	return m
}

// Jobs wait for each other where there is no room, and pass each other where there is.
func TestReplay_Waits(t *testing.T) {
	dir := files(t, map[string]string{"a.swf": "; MaxNodes: 2\n; MaxProcs: 8\n; Queue: 1 workq\n" +
		swfLine(1, 0, 100, 8, 200, 1, 1) + swfLine(2, 10, 50, 8, 60, 2, 1) + swfLine(3, 20, 30, 2, 60, 1, 1) + swfLine(4, 30, 500, 1, 400, 2, 1)})
	r, all := play(t, Options{Files: []string{dir + "/a.swf"}})
	if got, want := starts(all), map[string]int{"1": 0, "2": 100, "3": 150, "4": 150}; !reflect.DeepEqual(got, want) {
		t.Errorf("started at %v, want %v", got, want)
	}
	f := r.Figures
	if f.Jobs != 4 || f.Finished != 4 || f.Limited != 1 || f.Left != 0 || r.CPUs != 8 || r.Vnodes != 2 {
		t.Errorf("%+v", r)
	}
	// 8 cpus for 150 s, and 2 for 30 s, and 1 for 400 s, of 8 for 550 s.
	if want := (8*150 + 2*30 + 400.) / (8 * 550); math.Abs(f.Utilisation-want) > 0.001 {
		t.Errorf("utilisation %g, want %g", f.Utilisation, want)
	}
	if w := r.All.Wait; w.Max < 129 || w.Max > 131 || r.All.Jobs != 4 {
		t.Errorf("%+v", r.All)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "4 jobs, 4 finished, 0 left, 0 refused, 1 ended by their walltime") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// Queues, limits, vnodes and the policy are those of the site; what it says and cannot be had is told with its line.
func TestReplay_Site(t *testing.T) {
	dir := files(t, map[string]string{
		"a.swf": "; Queue: 1 slow\n; Queue: 2 fast\n" +
			swfLine(1, 0, 100, 2, 200, 1, 1) + swfLine(2, 1, 100, 2, 200, 1, 1) + swfLine(3, 2, 100, 2, 200, 1, 1) + swfLine(4, 3, 100, 2, 200, 1, 2) + swfLine(5, 4, 100, 99, 200, 1, 2),
		"site/a.qmgr": "#\n# Create queues and set their attributes.\n#\ncreate queue slow\nset queue slow queue_type = Execution\nset queue slow enabled = True\n" +
			"set queue slow started = True\nset queue slow max_run = [u:PBS_GENERIC=1]\ncreate queue fast queue_type=Execution,enabled=True,started=True\n" +
			"set queue fast Priority = 100\nset server default_queue = slow\nset server default_queue = nosuch\nset server comment = \"two\nlines\"\n",
		"site/nodes.qmgr":   "create node hosta\nset node hosta resources_available.ncpus = 4\n",
		"site/sched_config": "strict_ordering: true ALL\nnosuch: 1\n fair_share : maybe non_prime\n",
	})
	r, all := play(t, Options{Files: []string{dir + "/a.swf"}, Site: dir + "/site"})
	if got, want := starts(all), map[string]int{"1": 0, "2": 100, "3": 200, "4": 3}; !reflect.DeepEqual(got, want) {
		t.Errorf("started at %v, want %v", got, want)
	}
	var lines []string
	for _, l := range r.SiteLines {
		lines = append(lines, strings.TrimPrefix(l.String(), dir+"/"))
	}
	if want := []string{
		"site/a.qmgr:12: Unknown queue: set server default_queue = nosuch",
		"site/sched_config:2: nosuch is no setting of the scheduler",
		"site/sched_config:3: fair_share: maybe: Illegal attribute or resource value fair_share",
	}; !reflect.DeepEqual(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if len(r.Left) != 1 || !strings.Contains(r.Left[0], "a.swf:7: job 5: Can Never Run") {
		t.Errorf("left: %q", r.Left)
	}
}

// Hooks of a site are not run, and are told of with file and line.
func TestReplay_SiteWithHooks(t *testing.T) {
	dir := files(t, map[string]string{
		"a.swf":                         "; MaxProcs: 4\n" + swfLine(1, 0, 100, 2, 200, 1, 1),
		"site/a.qmgr":                   "set server comment = x\ncreate hook check\nset hook check event = queuejob\nimport hook check application/x-python default check.py\n",
		"site/hook/qmgr_ph_default.out": "create hook begin\nset hook begin event = execjob_begin\n",
	})
	r, _ := play(t, Options{Files: []string{dir + "/a.swf"}, Site: dir + "/site"})
	var lines []string
	for _, l := range r.SiteLines {
		lines = append(lines, strings.TrimPrefix(l.String(), dir+"/site/"))
	}
	const so = " is not run: jobs are taken as they were recorded, and whatever is to start starts"
	if want := []string{"hook/qmgr_ph_default.out:1: hook begin" + so, "a.qmgr:2: hook check" + so}; !reflect.DeepEqual(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

func TestReplay_NoSite(t *testing.T) {
	dir := files(t, map[string]string{
		"a.swf": swfLine(1, 0, 100, 2, 200, 1, 1), "empty.swf": "; nothing\n", "off/a.qmgr": "set server scheduling = False\n", "none/readme": "x",
		"old/a.qmgr": "create node hosta\n",
	})
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Files: []string{dir + "/a.swf"}}, "neither the site has vnodes, nor does the trace say how many processors there are"},
		{Options{}, "there is no trace"},
		{Options{Files: []string{dir + "/a.swf"}, Site: dir + "/off"}, dir + "/off: scheduling is False: no job would start"},
		{Options{Files: []string{dir + "/a.swf"}, Site: dir + "/none"}, dir + "/none has neither files *.qmgr nor a sched_config"},
		{Options{Files: []string{dir + "/a.swf"}, Site: dir + "/a.swf"}, dir + "/a.swf is no folder"},
		{Options{Files: []string{dir + "/a.swf"}, Site: dir + "/old", Hosts: Hosts{1, resource.List{}}}, "the site has vnodes already"},
		{Options{Files: []string{dir + "/empty.swf"}, Hosts: Hosts{1, resource.List{}}}, "there is no job in it that could be replayed: 0 lines were skipped"},
		{Options{Files: []string{dir}}, dir + " is a folder without files YYYYMMDD"},
	} {
		if _, err := Replay(c.o); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
}

// Lines that cannot be replayed are passed over, with file and line; what is assumed is told, too.
func TestSWF_BadLines(t *testing.T) {
	text := "; UnixStartTime: 1000000000\n\n" +
		"1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1\n" + // 17 fields
		"2 x -1 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1\n" +
		"3 -1 -1 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1\n" +
		"4 5 -1 -1 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1\n" +
		"5 5 -1 -7 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1\n" +
		"6 5 -1 10 -1 -1 -1 -1 20 -1 1 1 1 -1 1 -1 -1 -1\n" +
		"7 5 -1 -1 1 -1 -1 1 20 -1 5 1 1 -1 1 -1 -1 -1\n" +
		"8 5 -1 10 1 -1 -1 1 20 -1 3 1 1 -1 1 -1 -1 -1\n" +
		"9 5 7 10 1 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n" +
		"10 4 -1 10 2 -1 -1 1 20 512 1 1 1 -1 1 -1 -1 -1\r\n" +
		"11 6 -1 1e300 2 -1 -1 1 20 512 1 1 1 -1 1 -1 -1 -1\n" +
		strings.Repeat("y", 1000) + "\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	dir := files(t, map[string]string{"a": text, "b.gz": packed.String()})
	for _, name := range []string{"a", "b.gz"} {
		troubles := &Troubles{}
		s, err := open([]string{filepath.Join(dir, name)}, troubles)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for j, err := s.Next(); err == nil; j, err = s.Next() {
			got = append(got, fmt.Sprintf("%s %d %s %s %d %d %s %q %d %d", j.Name, j.Submit.Unix(), j.Runs, j.Limit, j.CPUs, j.Mem, j.User, j.Group, j.Exit, j.Began.Unix()))
		}
		if want := []string{`9 1000000005 10s 0s 1 0 nobody "" 1 1000000012`, `10 1000000005 10s 20s 1 512 user1 "group1" 0 0`}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		var lines []string
		for _, one := range troubles.List {
			lines = append(lines, strings.TrimPrefix(one.String(), filepath.Join(dir, name)))
		}
		if want := []string{
			`:3: not 18 fields`, `:4: not a number: field 2 is "x"`, `:5: no submit time: -1`, `:6: no run time`, `:7: negative run time: -7`, `:8: no processors`,
			`:9: cancelled before it began`, `:10: a part of a job whose whole stands in another line`, `:11: no user: it is counted as nobody's`,
			`:12: the submit time goes back: it is taken for that of the line before`, `:13: not a number: field 4 is "1e300"`,
			`:14: not a number: field 1 is "` + strings.Repeat("y", 40) + `"`,
		}; !reflect.DeepEqual(lines, want) {
			t.Errorf("%s: %q, want %q", name, lines, want)
		}
		if troubles.Skipped != 10 || troubles.Amended != 2 {
			t.Errorf("%d skipped, %d amended", troubles.Skipped, troubles.Amended)
		}
		if s.Read() != 1 {
			t.Errorf("%g of it was read", s.Read())
		}
		_ = s.Close()
	}
}

func synthetic(t testing.TB, o Synthetic) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSynthetic(&b, o); err != nil {
		t.Fatal(err)
	}
	return files(t, map[string]string{"work.swf": b.String()}) + "/work.swf"
}

// The same workload gives the same report, to the byte and in every form, and breaks no law on its way.
func TestReplay_Again(t *testing.T) {
	name := synthetic(t, Synthetic{Jobs: 400, Nodes: 20, CPUs: 4, Load: 1.1, Users: 9, Seed: 3})
	site := files(t, map[string]string{
		"a.qmgr":       "create queue short queue_type=Execution,enabled=True,started=True\nset queue short Priority = 150\nset queue short max_run = [u:PBS_GENERIC=5]\ncreate queue long queue_type=e,enabled=t,started=t\n",
		"sched_config": "strict_ordering: true\nfair_share: true\nbackfill: true\n",
	})
	var texts [2]string
	for i := range texts {
		begin := pbs.Time(standardBegin.UnixNano())
		r, jobs := play(t, Options{Files: []string{name}, Site: site, From: begin, Until: begin + pbs.Time(24*time.Hour)})
		var b strings.Builder
		if err := errors.Join(r.JSON(&b), r.Text(&b), r.CSV(&b), r.SVG(&b)); err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			fmt.Fprintln(&b, j.Job.Name, j.Queue, j.CPUs, j.Start, j.End, j.Exit, j.Fills, j.Times)
		}
		texts[i] = b.String()
		if f := r.Figures; f.Preempted == 0 || f.Backfilled == 0 || f.Finished != 400 {
			t.Errorf("%+v", f)
		}
	}
	if texts[0] != texts[1] {
		t.Error("another report")
	}
}

// A wrong planner plans as if no queue had a Priority.
type wrong struct {
	m *machine
	*sched.Planner
}

func (w wrong) Plan(v *state.View, now pbs.Time) sched.Plan {
	was := map[pbs.QueueName]string{}
	for q := range v.Queues() {
		was[q.Name] = q.Get("Priority")
	}
	change := func(value func(pbs.QueueName) string) {
		for q := range was {
			if was[q] != "" {
				_ = w.m.do(&command.ManageQueue{Verb: command.VerbSet, Queue: q, Changes: []command.AttrChange{set("Priority", "", value(q))}})
			}
		}
	}
	change(func(pbs.QueueName) string { return "0" })
	defer change(func(q pbs.QueueName) string { return was[q] })
	return w.Planner.Plan(w.m.view(), now)
}

// The comparison sees a planner that is wrong about the priority of queues, and nothing where both are the same.
func TestComparison_WrongPlanner(t *testing.T) {
	name := synthetic(t, Synthetic{Jobs: 300, Nodes: 10, CPUs: 4, Load: 1.2, Users: 9, Seed: 4})
	site := files(t, map[string]string{
		"a.qmgr": "create queue short queue_type=Execution,enabled=True,started=True\nset queue short Priority = 100\ncreate queue long queue_type=e,enabled=t,started=t\n",
	})
	right, _ := play(t, Options{Files: []string{name}, Site: site})
	for _, c := range []struct {
		planner func(*machine) planner
		seen    bool
	}{
		{nil, false},
		{func(m *machine) planner { return wrong{m, sched.NewPlanner()} }, true},
	} {
		other, _ := play(t, Options{Files: []string{name}, Site: site, planner: c.planner})
		var text, table strings.Builder
		both := Comparison{right, other}
		if err := errors.Join(both.Text(&text), both.CSV(&table)); err != nil {
			t.Fatal(err)
		}
		differ := strings.Contains(text.String(), "queue short wait p95") || strings.Contains(text.String(), "queue short wait median")
		slower := other.Queues[1].Name == "short" && other.Queues[1].Wait.Mean > 1.2*right.Queues[1].Wait.Mean
		if differ != c.seen || slower != c.seen || !strings.Contains(table.String(), "\nqueue short,wait_mean,") {
			t.Errorf("wrong planner %v, seen %v %v:\n%s%s", c.seen, differ, slower, &text, &table)
		}
	}
}

// The document shows a comparison as it comes out.
func TestDocument_ShowsTheComparison(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sim.md")
	if err != nil {
		t.Fatal(err)
	}
	name := synthetic(t, Synthetic{Jobs: 2000, Nodes: 100, CPUs: 8, Load: 0.9, Widest: 128, Users: 50, Seed: 1})
	t.Chdir("../../../docs/examples/sim")
	var both Comparison
	for site, report := range map[string]**Report{"today": &both.One, "express": &both.Other} {
		r, err := Replay(Options{Files: []string{name}, Site: site})
		if err != nil {
			t.Fatal(err)
		}
		*report = r
	}
	var text, block strings.Builder
	if err := both.Text(&text); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if line != "\n" {
			block.WriteString("    ")
		}
		block.WriteString(line)
	}
	if !strings.Contains(string(page), block.String()) {
		t.Errorf("docs/sim.md does not show\n%s", &block)
	}
}

// The picture has both graphs, and the runs of the stretch.
func TestReport_SVG(t *testing.T) {
	dir := files(t, map[string]string{"a.swf": "; MaxNodes: 2\n; MaxProcs: 8\n" + swfLine(1, 0, 100, 8, 200, 1, 1) + swfLine(2, 10, 50, 2, 60, 2, 1)})
	begin := pbs.Time(standardBegin.UnixNano())
	r, _ := play(t, Options{Files: []string{dir + "/a.swf"}, From: begin, Until: begin + pbs.Time(2*time.Minute)})
	var b strings.Builder
	if err := r.SVG(&b); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal([]byte(b.String()), new(struct{})); err != nil {
		t.Error(err)
	}
	for _, part := range []string{"utilisation", "jobs queued", "runs from 2001-01-01 00:00:00 to 2001-01-01 00:02:00", "job 1, 2001-01-01 00:00:00 to 2001-01-01 00:01:40", "node2"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("%q is not in the picture", part)
		}
	}
}

// What is drawn is as the model says: the parts of serial jobs and of powers of two, the logarithms of run times.
func TestSynthetic_IsTheModel(t *testing.T) {
	const jobs = 20000
	serial, power, logs, rush, night := 0, 0, 0.0, 0, 0
	for _, j := range draw(Synthetic{Jobs: jobs, Nodes: 128, CPUs: 1, Users: 10, Seed: 5}) {
		switch {
		case j.cpus == 1:
			serial++
		case j.cpus&(j.cpus-1) == 0:
			power++
		}
		logs += math.Log(float64(j.run)) / jobs
		switch hour := j.at / 3600 % 24; {
		case hour >= 10 && hour < 18:
			rush++
		case hour >= 2 && hour < 10:
			night++
		}
		if j.asked < j.run || j.cpus < 1 || j.cpus > 128 || j.user < 1 || j.user > 10 {
			t.Fatalf("%+v", j)
		}
	}
	if part := float64(serial) / jobs; part < serialPart-0.01 || part > serialPart+0.01 {
		t.Errorf("%g are serial", part)
	}
	if part := float64(power) / jobs; part < (1-serialPart)*powerPart || part > 0.65 {
		t.Errorf("%g are powers of two", part)
	}
	if short, long := shortShape*shortScale, longShape*longScale; logs < short || logs > (short+long)/2 {
		t.Errorf("the mean logarithm of run times is %g", logs)
	}
	if rush < 2*night {
		t.Errorf("%d come by day, %d at night", rush, night)
	}
}

// The same seed draws the same workload, and another one another.
func TestSynthetic_Again(t *testing.T) {
	var texts [3]string
	for i, seed := range []uint64{5, 5, 6} {
		data, err := os.ReadFile(synthetic(t, Synthetic{Jobs: 500, Nodes: 16, CPUs: 4, Load: 0.8, Widest: 32, Users: 7, Seed: seed}))
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(data)
	}
	if texts[0] != texts[1] || texts[0] == texts[2] {
		t.Errorf("the same: %v, of another seed: %v", texts[0] == texts[1], texts[0] == texts[2])
	}
}

func TestHistogram(t *testing.T) {
	var h histogram
	for n := 1; n <= 100000; n++ {
		h.add(float64(n))
	}
	for part, want := range map[float64]float64{0.5: 50000, 0.95: 95000, 1: 100000, 0.00001: 1} {
		if got := h.at(part); math.Abs(got-want) > want/100 {
			t.Errorf("%g: %g, want %g", part, got, want)
		}
	}
	if h.max != 100000 || h.mean() != 50000.5 {
		t.Errorf("%g, %g", h.max, h.mean())
	}
	for n := uint64(1); n < 1<<50; n = n*9/8 + 1 {
		v := float64(n) / 100
		if m := middle(bucket(v)); math.Abs(m-v) > v/100 || bucket(v) > bucket(v*1.02) {
			t.Fatalf("%g is told as %g", v, m)
		}
	}
}

// The picture of time grows coarser, and loses nothing.
func TestLine(t *testing.T) {
	l := newLine(0)
	const long = 90 * 24 * time.Hour
	for at := pbs.Time(0); at < pbs.Time(long); at += pbs.Time(time.Hour) {
		l.add(at, at+pbs.Time(time.Hour), 2, 1, 3)
	}
	sum := 0.0
	for _, p := range l.point {
		sum += p.busy
	}
	if len(l.point) > mostPoints || math.Abs(sum-2*float64(long)) > 1 {
		t.Errorf("%d points, %g", len(l.point), sum)
	}
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		part  float64
		spent time.Duration
		want  string
	}{
		{0, 0, "[..............................]   0 %"},
		{0.5, 90 * time.Second, "[###############...............]  50 %, 0:01:30 left"},
		{2, time.Minute, "[##############################] 100 %"},
	} {
		if got := progress(c.part, c.spent); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestInput_Part: a trace that fits into what is read ahead is not half done with its first line.
func TestInput_Part(t *testing.T) {
	const lines = 4000
	text := strings.Repeat("1 2 3 4 5 6 7 8 9 0 1 2 3 4 5\n", lines)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	dir := files(t, map[string]string{"plain": text, "packed": packed.String()})
	for _, name := range []string{"plain", "packed"} {
		in, err := openInput([]string{dir + "/" + name})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= lines; n++ {
			if _, err := in.next(); err != nil {
				t.Fatal(err)
			}
			if want := float64(n) / lines; math.Abs(in.part()-want) > 0.02 && name == "plain" || in.part() > 1 || n < lines/10 && in.part() > 0.5 {
				t.Fatalf("%s: %g of it after line %d of %d", name, in.part(), n, lines)
			}
		}
		if _, err := in.next(); !errors.Is(err, io.EOF) || in.part() != 1 {
			t.Errorf("%s: %v, %g at the end", name, err, in.part())
		}
		if err := in.close(); err != nil {
			t.Error(err)
		}
	}
}

func FuzzSWF(f *testing.F) {
	f.Add("; MaxProcs: 4\n" + swfLine(1, 0, 100, 2, 200, 1, 1))
	f.Add("1 2 3\n;;\n1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1 7")
	f.Fuzz(func(t *testing.T, text string) {
		in, err := openInput([]string{files(t, map[string]string{"a": text}) + "/a"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := openSWF(in, &Troubles{})
		if err != nil {
			return
		}
		defer s.Close()
		last := pbs.Time(0)
		for j, err := s.Next(); err == nil; j, err = s.Next() {
			if j.Submit < last || j.Runs < 0 || j.CPUs < 1 || j.User == "" {
				t.Errorf("%+v", j)
			}
			last = j.Submit
		}
	})
}
