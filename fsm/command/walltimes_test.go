package command

import (
	"strings"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Bounds of a job's time that contradict each other are refused, at qsub and at qalter.
func TestWalltimes(t *testing.T) {
	w := newWriter(t)
	list := func(words string) (l attr.List) {
		for word := range strings.FieldsSeq(words) {
			name, value, _ := strings.Cut(word, "=")
			l = l.Set("Resource_List", name, value)
		}
		return l
	}
	for words, want := range map[string]string{
		"min_walltime=10 max_walltime=10":    "",
		"soft_walltime=10 walltime=10":       "",
		"max_walltime=10":                    `Can not have "max_walltime" without "min_walltime"`,
		"min_walltime=11 max_walltime=10":    `"min_walltime" can not be greater than "max_walltime"`,
		"min_walltime=10 soft_walltime=5":    "soft_walltime is not supported with Shrink to Fit jobs",
		"soft_walltime=00:00:11 walltime=10": "Illegal attribute or resource value Resource_List.soft_walltime",
	} {
		seq := w.View().Cluster().NextJob
		w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
		var changes []AttrChange
		for _, e := range list(words) {
			changes = append(changes, AttrChange{Entry: e})
		}
		for _, err := range []error{
			w.run(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list(words)}),
			w.run(&AlterJob{Job: pbs.NewJobID(seq, "srv"), Changes: changes}),
		} {
			if err == nil && want != "" || err != nil && strings.TrimSpace(err.Error()) != want {
				t.Errorf("%s: %v, want %q", words, err, want)
			}
		}
	}
	array := list("min_walltime=10").Set("array_indices_submitted", "", "1-2")
	if err := w.run(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: array}); pbs.CodeOf(err) != pbs.ArrayWalltimeRange {
		t.Errorf("an array: %v", err)
	}
}

// What a queue says of walltime is about the bounds of a job that shrinks to fit; the bounds themselves have no limits.
func TestWalltimes_LimitsOfAQueue(t *testing.T) {
	limit := func(bound, res, value string) *ManageQueue {
		return &ManageQueue{Verb: VerbSet, Queue: "workq", Changes: []AttrChange{{Entry: attr.Entry{Name: bound, Resource: res, Value: value}}}}
	}
	w := newWriter(t)
	w.must(limit("resources_min", "walltime", "00:01:00"))
	w.must(limit("resources_max", "walltime", "00:10:00"))
	for request, want := range map[string]string{ // the max_walltime and walltime that the job has, or why it is refused
		"min_walltime=00:01:00":                       "00:10:00 ",
		"min_walltime=00:01:00 max_walltime=00:05:00": "00:05:00 ",
		"min_walltime=00:00:59 max_walltime=00:05:00": "Job violates queue and/or server resource limits",
		"min_walltime=00:01:00 max_walltime=00:10:01": "Job violates queue and/or server resource limits",
		"min_walltime=00:10:01":                       "Job violates queue and/or server resource limits",
		"min_walltime=00:05:00 max_walltime=00:04:00": `"min_walltime" can not be greater than "max_walltime"`,
		"ncpus=1": " 00:10:00",
	} {
		var list attr.List
		for word := range strings.FieldsSeq(request) {
			name, value, _ := strings.Cut(word, "=")
			list = list.Set("Resource_List", name, value)
		}
		id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
		err := w.run(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			j, _ := w.View().Job(id)
			most, _ := j.Resources.Get("max_walltime")
			long, _ := j.Resources.Get("walltime")
			got = most + " " + long
		}
		if got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
	for _, bound := range []string{"resources_min", "resources_max"} {
		for _, res := range []string{"min_walltime", "max_walltime"} {
			err := w.run(limit(bound, res, "00:10:00"))
			if pbs.CodeOf(err) != 15166 || err.Error() != "Resource limits can not be set for the resource" {
				t.Errorf("%s.%s of a queue: %v", bound, res, err)
			}
			server := &ManageServer{Verb: VerbSet, Changes: limit(bound, res, "00:10:00").Changes}
			if err := w.run(server); pbs.CodeOf(err) != pbs.NoLimitOf {
				t.Errorf("%s.%s of the server: %v", bound, res, err)
			}
		}
	}
	w.must(limit("resources_default", "min_walltime", "00:02:00"))

	w.must(&HostUp{Host: "h", Address: "h:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: resource.List{{Name: "ncpus", Value: "2"}}}}})
	id := w.submit(attr.List{}.Set("Resource_List", "min_walltime", "00:02:00"))
	w.must(&StartJob{Job: id, ExecVnode: "(h:ncpus=1)"})
	longer := &AlterJob{Job: id, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "walltime", Value: "00:11:00"}}}}
	if err := w.run(longer); pbs.CodeOf(err) != pbs.ResourceLimit {
		t.Errorf("a running job that is to run for longer than the queue allows: %v", err)
	}
}

// A run that outlasts its soft_walltime is expected to last as long again, up to its walltime.
func TestUsageSample_OutlastsItsSoftWalltime(t *testing.T) {
	w := newReleasing(t)
	w.confirm("hosta", nil)
	for _, res := range []string{"walltime=100", "soft_walltime=30"} {
		name, value, _ := strings.Cut(res, "=")
		w.must(&AlterJob{Job: w.job, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: name, Value: value}}}})
	}
	for _, c := range [][2]string{{"00:00:29", ""}, {"00:00:30", "00:01:00"}, {"00:01:31", "00:01:40"}} {
		w.must(&UsageSample{Host: "hosta", Jobs: []JobUsage{{Job: w.job, RunCount: 1, Used: resource.List{{Name: "walltime", Value: c[0]}}}}})
		if got, _ := w.now().Attrs.Get("estimated", "soft_walltime"); got != c[1] {
			t.Errorf("after %s: %q, want %q", c[0], got, c[1])
		}
	}
}

// It is shown so from the moment on, whatever its mom has reported; what was reported of it stays.
func TestOutlasts_Now(t *testing.T) {
	w := newReleasing(t)
	w.confirm("hosta", nil)
	for _, res := range []string{"walltime=100", "soft_walltime=30"} {
		name, value, _ := strings.Cut(res, "=")
		w.must(&AlterJob{Job: w.job, Changes: []AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: name, Value: value}}}})
	}
	for _, c := range []struct {
		after    int
		reported string
		want     string
	}{{29, "", ""}, {31, "", "00:01:00"}, {32, "00:01:01", "00:01:30"}, {61, "", "00:01:30"}, {99, "", "00:01:40"}} {
		w.writer.at = pbs.Time(c.after) * pbs.Time(time.Second)
		if w.writer.must(&TimeTick{}); c.reported != "" {
			w.must(&UsageSample{Host: "hosta", Jobs: []JobUsage{{Job: w.job, RunCount: 1, Used: resource.List{{Name: "walltime", Value: c.reported}}}}})
		}
		v := w.View()
		j, _ := v.Job(w.job)
		shown := ""
		for _, e := range v.JobAttributes(j) {
			if e.Name == "estimated" {
				shown = e.Value
			}
		}
		if one := v.JobAttribute(j, "estimated", "soft_walltime"); shown != c.want || one != c.want {
			t.Errorf("after %d s: %q and %q, want %q", c.after, shown, one, c.want)
		}
	}
}
