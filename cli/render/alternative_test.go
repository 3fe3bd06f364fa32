package render

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/transport/api"
)

// recordedJobs are the jobs of the recordings.
func recordedJobs() []*api.Object {
	job := func(id, name, state, ncpus, comment string, more ...string) *api.Object {
		o := &api.Object{Name: id + ".hosta", Attributes: []*api.Attribute{
			attribute("Job_Name", name), attribute("Job_Owner", "pbsuser@hosta"), attribute("job_state", state),
			attribute("queue", "workq"), attribute("Resource_List.ncpus", ncpus), attribute("Resource_List.nodect", "1"),
		}}
		if comment != "" {
			o.Attributes = append(o.Attributes, attribute("comment", comment))
		}
		for i := 0; i < len(more); i += 2 {
			o.Attributes = slices.DeleteFunc(o.Attributes, func(a *api.Attribute) bool { return label(a) == more[i] })
			o.Attributes = append(o.Attributes, attribute(more[i], more[i+1]))
		}
		return o
	}
	return []*api.Object{
		job("0", "run1", "R", "6", "Job run at Sat Nov 21 at 06:25 on (hosta:ncpus=2:mem=1048576kb)+(hostb:ncpus=2:mem=1048576kb)+(hostc:ncpus=2:mem=1048576kb)",
			"session_id", "820", "Resource_List.nodect", "3", "Resource_List.mem", "3gb", "Resource_List.walltime", "01:00:00",
			"resources_used.walltime", "00:00:15", "resources_used.cput", "00:00:00", "exec_host", "hosta/0*2+hostb/0*2+hostc/0*2"),
		job("1", "held", "H", "1", ""),
		job("2", "big", "Q", "64", "Can Never Run: Insufficient amount of resource: ncpus (R: 64 A: 24 T: 24)"),
		job("3[]", "arr", "B", "1", "Job Array Began at Sat Nov 21 at 06:25",
			"array_state_count", "Queued:0 Running:3 Exiting:0 Expired:0 "),
		job("4", "dep", "H", "1", ""),
		job("6", "later", "W", "1", ""),
	}
}

func TestAlternative_AsRecorded(t *testing.T) {
	finished := recordedJobs()[1]
	finished.Name, finished.Attributes[0].Value, finished.Attributes[2].Value = "5.hosta", "fails", "F"
	finished.Attributes = append(finished.Attributes, attribute("resources_used.walltime", "00:00:00"))
	for name, c := range map[string]struct {
		table Alternative
		jobs  []*api.Object
	}{
		"qstat-a.txt":  {Alternative{}, recordedJobs()},
		"qstat-n.txt":  {Alternative{Nodes: true}, recordedJobs()},
		"qstat-n1.txt": {Alternative{Nodes: true, OneLine: true}, recordedJobs()},
		"qstat-s.txt":  {Alternative{Comment: true}, recordedJobs()},
		"qstat-s1.txt": {Alternative{Comment: true, OneLine: true}, recordedJobs()},
		"qstat-aw.txt": {Alternative{Wide: true}, recordedJobs()},
		"qstat-r.txt":  {Alternative{}, recordedJobs()[:1]},
		"qstat-H.txt":  {Alternative{}, []*api.Object{finished}},
		"qstat-T.txt":  {Alternative{Start: true}, ByStart(recordedJobs())},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			c.table.Head(&got, "hosta")
			for _, o := range c.jobs {
				c.table.Row(&got, o)
			}
			same(t, got.String(), recorded(t, name))
		})
	}
}

// The start that a job is expected to have stands in the zone of who asks (breadth, rule 10).
func TestAlternative_ExpectedStart(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	for value, want := range map[string]string{"1795622043": "16:54", "": "--", "soon": "--"} {
		o := recordedJobs()[0]
		o.Attributes = append(o.Attributes, &api.Attribute{Name: "estimated", Resource: "start_time", Value: value})
		var row strings.Builder
		(&Alternative{Start: true, Zone: zone}).Row(&row, o)
		if words := strings.Fields(row.String()); words[len(words)-1] != want {
			t.Errorf("%q is shown in %q, want %s", value, row.String(), want)
		}
	}
}

func TestAlternative_Memory(t *testing.T) {
	for _, c := range []struct {
		unit       Unit
		text, want string
	}{
		{0, "3gb", "3gb"},
		{0, "1048576kb", "1gb"},
		{0, "24684096kb", "24gb"},
		{0, "500mb", "500mb"},
		{0, "0kb", "0kb"},
		{0, "1b", "1kb"},
		{0, "99999tb", "98pb"},
		{Gigabytes, "3gb", "3gb"},
		{Gigabytes, "100mb", "0gb"},
		{Megawords, "8gb", "1024mw"},
		{0, "", ""},
		{0, "rubbish", "rubbish"},
	} {
		if got := (&Alternative{Unit: c.unit}).memory(c.text); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.text, c.unit, got, c.want)
		}
	}
}

func TestAlternative_CutsWhatDoesNotFit(t *testing.T) {
	o := &api.Object{Name: "123456[123].a-long-server.example", Attributes: []*api.Attribute{
		attribute("Job_Name", "a-long-job-name"), attribute("Job_Owner", "somebodylong@host"), attribute("queue", "averylongqueue"),
	}}
	var got bytes.Buffer
	new(Alternative).Row(&got, o)
	if want := "123456[123].a-* somebod* averylo* a-long-jo* "; !strings.HasPrefix(got.String(), want) {
		t.Errorf("got %q, want %q first", got.String(), want)
	}
}

func TestJobTable_PercentAsRecorded(t *testing.T) {
	var got bytes.Buffer
	table := NewJobTable(&got, false).Percent()
	table.Head()
	for _, o := range recordedJobs() {
		table.Row(o)
	}
	same(t, got.String(), recorded(t, "qstat-p.txt"))
}

func TestJobTable_PercentOfWhatIsLonger(t *testing.T) {
	c := cells{
		"job_state": "R", "Resource_List.walltime": "01:00:00", "resources_used.walltime": "00:15:00",
		"Resource_List.cput": "00:10:00", "resources_used.cput": "00:09:00",
	}
	if got := percentDone(c); got != "90" {
		t.Errorf("got %s, want 90", got)
	}
	for _, c := range []struct {
		c    cells
		want string
	}{
		{cells{"job_state": "R", "resources_used.walltime": "00:01:00"}, "--"}, // nothing was asked for
		{cells{"job_state": "R", "Resource_List.cput": "01:00:00"}, "0"},
		{cells{"job_state": "X"}, "100"},
		{cells{"job_state": "Q", "Resource_List.walltime": "01:00:00"}, "--"},
	} {
		if got := percentDone(c.c); got != c.want {
			t.Errorf("percentDone(%v) = %s, want %s", c.c, got, c.want)
		}
	}
	if got := percentDone(cells{"array_state_count": "Queued:1 Running:1 Exiting:0 Expired:2 "}); got != "50" {
		t.Errorf("array: got %s, want 50", got)
	}
}

func TestQueueLimits_AsRecorded(t *testing.T) {
	q := &api.Object{Name: "workq", Attributes: []*api.Attribute{
		attribute("state_count", "Transit:0 Queued:1 Held:2 Waiting:1 Running:4 Exiting:0 Begun:1 "),
		attribute("enabled", "True"), attribute("started", "True"),
	}}
	var got bytes.Buffer
	new(Alternative).QueueLimits(&got, "hosta", []*api.Object{q})
	same(t, got.String(), recorded(t, "qstat-q.txt"))
}

func TestNodeJobs_AsRecorded(t *testing.T) {
	text := strings.NewReplacer("[1]/2", "[1].hosta/2").Replace(recorded(t, "pbsnodes-aSj.txt"))
	node := func(name, jobs, ncpus string) *api.Object {
		return &api.Object{Name: name, Attributes: []*api.Attribute{
			attribute("state", "free"), attribute("jobs", jobs),
			attribute("resources_available.mem", "8gb"), attribute("resources_available.ncpus", "8"),
			attribute("resources_assigned.mem", "1048576kb"), attribute("resources_assigned.ncpus", ncpus),
		}}
	}
	var got bytes.Buffer
	NodeJobs(&got, []*api.Object{
		node("hosta", "0.hosta/0, 0.hosta/1, 3[1].hosta/2, 3[3].hosta/3, 3[5].hosta/4", "5"),
		node("hostb", "0.hosta/0, 0.hosta/1", "2"), node("hostc", "0.hosta/0, 0.hosta/1", "2"),
	}, false)
	same(t, got.String(), text)
}
