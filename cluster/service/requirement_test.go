package service

import (
	"errors"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// A requirement of LSF becomes chunks and their placement; what it was can be read.
func TestSubmit_Requirement(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.host("hostb", "hostb")
	for _, c := range []struct {
		text, slots string
		more        []*api.Attribute
		sel, place  string
		code        pbs.Code
	}{
		{text: "span[ptile=2] rusage[mem=10]", slots: "3", sel: "1:ncpus=2:mem=10mb+1:ncpus=1:mem=10mb", place: "scatter"},
		{text: "span[hosts=1]", slots: "2", sel: "1:ncpus=2", place: "pack"},
		{text: "select[type==any]", slots: "2", sel: "2:ncpus=1", place: "free"},
		{text: "select[type==any]", sel: "1:ncpus=1", place: "free"},
		{text: "select[type==any]", slots: "1", more: []*api.Attribute{set("Resource_List.host", "hostb"), set("Resource_List.place", "exclhost")}, sel: "1:ncpus=1:host=hostb", place: "free:exclhost"},
		{text: "select[", slots: "1", code: pbs.BadAttributeValue},
		{text: "span[hosts=1]", slots: "500", code: pbs.ResourceLimit},
		{text: "order[mem]", slots: "1", sel: "1:ncpus=1", place: "free"},
		{text: "span[hosts=1]", slots: "x", code: pbs.BadAttributeValue},
		{text: "span[hosts=1]", more: []*api.Attribute{set("Resource_List.select", "1:ncpus=1")}, code: pbs.BadAttributeValue},
		{text: "span[hosts=1]", more: []*api.Attribute{set("Resource_List.place", "nowhere")}, code: pbs.BadAttributeValue},
	} {
		list := append([]*api.Attribute{set("lsf_resreq", c.text)}, c.more...)
		if c.slots != "" {
			list = append(list, set("Resource_List.ncpus", c.slots))
		}
		r, err := b.Batch.Submit(b.as("ann@hosta"), request(&api.SubmitRequest{Attributes: list}, ""))
		if c.code != 0 {
			var refusal *pbs.Error
			if !errors.As(err, &refusal) || refusal.Code != c.code {
				t.Errorf("%s: %v, want %d", c.text, err, c.code)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		v := b.store.View()
		j, _ := v.Job(pbs.JobID(r.Msg.Job))
		sel, place := v.JobAttribute(j, "Resource_List", "select"), v.JobAttribute(j, "Resource_List", "place")
		if sel != c.sel || place != c.place || v.JobAttribute(j, "lsf_resreq", "") != c.text {
			t.Errorf("%s: %s, %s", c.text, sel, place)
		}
	}
}

// What a queue wants of its jobs is merged into what they ask for, and is a ceiling for those of either face
// (RSV-03, RSV-05 to RSV-07, RSV-59).
func TestSubmit_QueueRequirement(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.do(&command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{change("type", "long"), change("flag", "q")}})
	queue := func(name string, changes ...command.AttrChange) {
		b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: pbs.QueueName(name), Changes: append(changes, change("enabled", "True"), change("started", "True"))})
	}
	queue("merged", change("lsf_res_req", "rusage[mem=200:lic=1]"))
	queue("limited", change("lsf_res_req", "rusage[mem=40]"), change("lsf_resrsv_limit", "[mem=30,100]"))
	const (
		ceiling = "Cannot exceed queue's resource reservation"
		limit   = "Job cannot exceed queue level RESRSV_LIMIT limitation"
		ours    = "Job violates queue and/or server resource limits"
	)
	for _, c := range []struct {
		queue, text, sel string // one of the two
		want             string // combined, or of a job of PBS its select
		refusal          string
	}{
		{"merged", "rusage[mem=100]", "", "rusage[mem=100:lic=1]", ""},
		{"merged", "select[type==any]", "", "rusage[mem=200:lic=1]", ""},
		{"merged", "rusage[mem=201]", "", "", ceiling},
		{"merged", "rusage[lic=2]", "", "", ceiling},
		{"merged", "", "1:ncpus=1:mem=200mb", "1:ncpus=1:mem=200mb", ""},
		{"merged", "", "1:ncpus=1:mem=201mb", "", ours},
		{"limited", "rusage[mem=29]", "", "", limit},
		{"limited", "rusage[mem=30]", "", "rusage[mem=30]", ""},
		{"limited", "rusage[mem=100]", "", "rusage[mem=100]", ""},
		{"limited", "rusage[mem=101]", "", "", limit},
		{"limited", "select[type==any]", "", "rusage[mem=40]", ""},
		{"limited", "", "1:ncpus=1:mem=101mb", "", ours},
		{"limited", "", "1:ncpus=1:mem=1gb+1:ncpus=1:mem=50mb", "", ours},
		{"limited", "", "1:ncpus=1", "1:ncpus=1", ""},
	} {
		list := []*api.Attribute{set("lsf_resreq", c.text)}
		if c.sel != "" {
			list = []*api.Attribute{set("Resource_List.select", c.sel)}
		}
		r, err := b.Batch.Submit(b.as("ann@hosta"), request(&api.SubmitRequest{Attributes: list, Destination: c.queue}, ""))
		if c.refusal != "" {
			if !errors.Is(err, pbs.Refuse(pbs.ResourceLimit)) && (err == nil || err.Error() != c.refusal) {
				t.Errorf("%s %s%s: %v, want %s", c.queue, c.text, c.sel, err, c.refusal)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s%s: %v", c.queue, c.text, c.sel, err)
			continue
		}
		v := b.store.View()
		j, _ := v.Job(pbs.JobID(r.Msg.Job))
		got := v.JobAttribute(j, "lsf_combined", "")
		if c.sel != "" {
			got = v.JobAttribute(j, "Resource_List", "select")
		}
		if got != c.want {
			t.Errorf("%s %s%s: %s, want %s", c.queue, c.text, c.sel, got, c.want)
		}
		if c.queue == "merged" && c.sel == "" && v.JobAttribute(j, "Resource_List", "lic") != "1" {
			t.Errorf("%s: no licence", c.text)
		}
	}
}

// By LSF's rules the owner of a job suspends it, by PBS's he does not, whatever the job came by; nor does anybody else's owner.
func TestSuspend_ByTheOwner(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	jobs := []string{b.mustSubmit("ann@hosta", set("lsf_resreq", "select[type==any]")), b.mustSubmit("ann@hosta")}
	for _, c := range []struct {
		who, signal string
		lsf, denied bool
	}{
		{"ann@hosta", "suspend", true, false},
		{"ann@hosta", "admin-suspend", true, true},
		{"bob@hosta", "suspend", true, true},
		{"ann@hosta", "suspend", false, true},
		{"ann@hosta", "resume", false, true},
	} {
		for _, job := range jobs {
			_, err := b.Batch.Signal(b.as(c.who), request(&api.SignalRequest{Job: job, Signal: c.signal, Lsf: c.lsf}, ""))
			if denied := errors.Is(err, pbs.Refuse(pbs.Unauthorized)); denied != c.denied {
				t.Errorf("%s %s of %s, by LSF's rules: %t: %v", c.who, c.signal, job, c.lsf, err)
			}
		}
	}
}

// An empty owner is who asks.
func TestList_OwnJobs(t *testing.T) {
	b := newBench(t)
	b.mustSubmit("ann@h")
	own := b.mustSubmit("bob@h")
	got, err := b.list("bob@h", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Where: []*api.Criterion{{Name: "Job_Owner"}}})
	if err != nil || len(got) != 1 || got[0].Name != own {
		t.Errorf("%v, %v", got, err)
	}
}

// change sets an attribute of an object.
func change(name, value string) command.AttrChange {
	return command.AttrChange{Entry: attr.Entry{Name: name, Value: value}}
}
