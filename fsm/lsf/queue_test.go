package lsf

import (
	"strings"
	"testing"

	"rampart/fsm/resource"
)

func TestCheckQueue(t *testing.T) {
	known := SiteOf(site)
	for _, c := range []struct{ attribute, value, refusal string }{
		{QueueRequirement, "rusage[mem=40:lic=1]", ""},
		{QueueRequirement, "select[bigmem] rusage[mem=40] span[ptile=2]", ""},
		{QueueRequirement, "2*{rusage[mem=10] span[hosts=1]}+3*{select[bigmem]}", ""},
		{QueueRequirement, "rusage[mem=", "Bad resource requirement syntax: at character"},
		{QueueRequirement, "rusage[nosuch=1]", "Bad resource requirement syntax: at character"},
		{QueueRequirement, "select[mem>5]", ""},
		{QueueRequirement, "rusage[mem=5||mem=3]", ""},
		{QueueLimits, "[mem=30,100] [lic=2]", ""},
		{QueueLimits, "[mem=100,30]", "lsf_resrsv_limit: not valid: mem;"},
		{QueueLimits, "[nosuch=5]", "lsf_resrsv_limit: not valid: nosuch;"},
		{QueueLimits, "[bigmem=5]", "lsf_resrsv_limit: not valid: bigmem;"},
		{QueueLimits, "x", "lsf_resrsv_limit: not valid"},
		{QueueStop, "select[((!bigmem && it < 5) || (bigmem && mem < 15 && swp < 50))]", ""},
		{QueueResume, "mem > 50 && swp > 60", ""},
		{QueueStop, "select[mem<15] rusage[mem=5] order[mem]", ""},
		{QueueStop, "select[nosuch<15]", "Bad resource requirement syntax: at character"},
		{QueueResume, "mem >", "Bad resource requirement syntax: at character"},
		{QueueStop, "rusage[mem=5]", "lsf_stop_cond: not valid: rusage[mem=5]; expected a select[] of hosts"},
		{QueueResume, "2*{select[mem>5]}+1*{select[mem>6]}", "lsf_resume_cond: not valid"},
	} {
		err := CheckQueue(c.attribute, c.value, site, known)
		if (err == nil) != (c.refusal == "") || err != nil && !strings.HasPrefix(err.Error(), c.refusal) {
			t.Errorf("%s = %s: %v, want %q", c.attribute, c.value, err, c.refusal)
		}
	}
}

// A queue whose attributes say what cannot be read any more says nothing, and its own default does not
// count where its own limits forbid it.
func TestQueueOf(t *testing.T) {
	known := SiteOf(site)
	if q := QueueOf("rusage[gone=1]", "[gone=1]", known); q.Requirement != nil || len(q.Limits) != 0 {
		t.Errorf("%+v", q)
	}
	q := QueueOf("rusage[mem=500:lic=1]", "[mem=30,100]", known)
	if got := q.Requirement.String(); got != "rusage[lic=1]" || q.Limits.String() != "[mem=30,100]" {
		t.Errorf("%s, %s", got, q.Limits)
	}
}

func TestAsked(t *testing.T) {
	known := SiteOf(site)
	for _, c := range []struct {
		sel   string
		whole resource.List
		want  string
	}{
		{"1:ncpus=1:mem=101mb", nil, "rusage[mem=101]"},
		{"2:ncpus=2:mem=512kb:bigmem=True", nil, "rusage[mem=0.5]"},
		{"1:ncpus=1:disk=3:share=1.5+1:ncpus=2:mem=1gb", nil, "1*{rusage[disk=3:share=1.5]}+2*{rusage[mem=1024]}"},
		{"1:ncpus=1:mem=1mb", resource.List{{Name: "lic", Value: "2"}, {Name: "mem", Value: "1mb"}}, "rusage[lic=2:mem=1]"},
		{"", resource.List{{Name: "lic", Value: "2"}}, "rusage[lic=2]"},
		{"+++", nil, ""},
		{"1:ncpus=1", resource.List{{Name: "walltime", Value: "1"}}, ""},
	} {
		if got := Asked(c.sel, c.whole, site, known).String(); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.sel, c.whole, got, c.want)
		}
	}
	if r := Asked("1:mem=5mb", nil, site, known); r.Compound() {
		t.Error("one chunk is compound")
	}
}
