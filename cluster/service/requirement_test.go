package service

import (
	"errors"
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// A requirement of LSF becomes chunks and their placement; what it was can be read.
func TestSubmit_Requirement(t *testing.T) {
	b := newBench(t)
	b.do(&command.RaiseLevel{Level: command.FeatureLevel})
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
		{text: "order[mem]", slots: "1", code: pbs.NotSupported},
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

// LSF lets the owner of a job suspend it; PBS does not, nor does anybody else's owner.
func TestSuspend_ByTheOwner(t *testing.T) {
	b := newBench(t)
	b.do(&command.RaiseLevel{Level: command.FeatureLevel})
	b.host("hosta", "hosta")
	lsf, other := b.mustSubmit("ann@hosta", set("lsf_resreq", "select[type==any]")), b.mustSubmit("ann@hosta")
	for _, c := range []struct {
		who, job, signal string
		denied           bool
	}{
		{"ann@hosta", lsf, "suspend", false},
		{"ann@hosta", lsf, "admin-suspend", true},
		{"bob@hosta", lsf, "suspend", true},
		{"ann@hosta", other, "suspend", true},
	} {
		_, err := b.Batch.Signal(b.as(c.who), request(&api.SignalRequest{Job: c.job, Signal: c.signal}, ""))
		if denied := errors.Is(err, pbs.Refuse(pbs.Unauthorized)); denied != c.denied {
			t.Errorf("%s %s of %s: %v", c.who, c.signal, c.job, err)
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
