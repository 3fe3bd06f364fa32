package resreq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// level parses what a level says; "-" says nothing.
func level(t *testing.T, text string) *Requirement {
	t.Helper()
	if text == "-" {
		return nil
	}
	r := parsed(t, text)
	return &r
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ name, job, application, queue, limits, want string }{
		{"nothing is said", "-", "-", "-", "", "select[type==any] order[r15s:pg]"},
		{"RSV-03", "rusage[mem=100]", "-", "rusage[mem=200:lic=1]", "", "select[type==any] order[r15s:pg] rusage[mem=100:lic=1]"},
		{"RSV-04", "rusage[mem=100]", "-", "rusage[mem=200:duration=20:decay=1]", "", "select[type==any] order[r15s:pg] rusage[mem=100:duration=20:decay=1]"},
		{"RSV-05", "rusage[mem=50:swp=100]", "-", "rusage[mem=40:swp=80:tmp=100]", "", "Cannot exceed queue's resource reservation: mem is 50, expected at most 40"},
		{"RSV-06", "rusage[mem=30]", "-", "rusage[mem=40:swp=80:tmp=100]", "", "select[type==any] order[r15s:pg] rusage[mem=30:swp=80:tmp=100]"},
		{"RSV-07 mem=29", "rusage[mem=29]", "-", "select[type==any] rusage[swp=100:mem=40:duration=60]", "[mem=30,100]", "Job cannot exceed queue level RESRSV_LIMIT limitation: mem is 29, expected 30 to 100"},
		{"RSV-07 mem=30", "rusage[mem=30]", "-", "select[type==any] rusage[swp=100:mem=40:duration=60]", "[mem=30,100]", "select[type==any] order[r15s:pg] rusage[mem=30:swp=100:duration=60]"},
		{"RSV-07 mem=100", "rusage[mem=100]", "-", "select[type==any] rusage[swp=100:mem=40:duration=60]", "[mem=30,100]", "select[type==any] order[r15s:pg] rusage[mem=100:swp=100:duration=60]"},
		{"RSV-07 mem=101", "rusage[mem=101]", "-", "select[type==any] rusage[swp=100:mem=40:duration=60]", "[mem=30,100]", "Job cannot exceed queue level RESRSV_LIMIT limitation: mem is 101, expected 30 to 100"},
		{"RSV-07 swp=101", "rusage[swp=101]", "-", "select[type==any] rusage[swp=100:mem=40:duration=60]", "[mem=30,100]", "Cannot exceed queue's resource reservation: swp is 101, expected at most 100"},
		{"RSV-07 no -R", "-", "-", "select[type==any] rusage[swp=100:mem=40:duration=60]", "[mem=30,100]", "select[type==any] order[r15s:pg] rusage[swp=100:mem=40:duration=60]"},
		{"RSV-08", "-", "-", "rusage[mem=20||mem=10:swp=20]", "", "select[type==any] order[r15s:pg] rusage[mem=20||mem=10:swp=20]"},
		{"RSV-10 first", "span[hosts=-1]", "-", "span[hosts=1]", "", "select[type==any] order[r15s:pg]"},
		{"RSV-10 second", "-", "-", "span[hosts=1]", "", "select[type==any] order[r15s:pg] span[hosts=1]"},
		{"RSV-13", "-", "-", "select[mem>2000]", "", "select[mem>2000] order[r15s:pg]"},

		{"all levels select", "mem>1||swp>1", "type==any", "(tmp>1)", "", "select[(mem>1 || swp>1) && (tmp>1)] order[r15s:pg]"},
		{"three selects", "mem>1", "swp>1", "tmp>1", "", "select[(mem>1) && (swp>1) && (tmp>1)] order[r15s:pg]"},
		{"the job's order", "order[mem]", "order[swp]", "order[tmp]", "", "select[type==any] order[mem]"},
		{"a job without order", "mem>1", "order[swp]", "order[tmp]", "", "select[mem>1] order[r15s:pg]"},
		{"a job that says nothing", "-", "order[swp]", "order[tmp]", "", "select[type==any] order[swp]"},
		{"an application without order", "-", "mem>1", "order[tmp]", "", "select[mem>1] order[tmp]"},
		{"span of the application", "-", "span[ptile=2]", "span[hosts=1]", "", "select[type==any] order[r15s:pg] span[ptile=2]"},
		{"span is cancelled by the application", "-", "span[hosts=-1]", "span[hosts=1]", "", "select[type==any] order[r15s:pg]"},
		{"same of all", "same[type]", "same[model:type]", "same[os]", "", "select[type==any] order[r15s:pg] same[type:model:os]"},
		{"cu of the job", "cu[excl]", "cu[balance]", "-", "", "select[type==any] order[r15s:pg] cu[excl]"},
		{"cu of the queue", "-", "-", "cu[maxcus=2]", "", "select[type==any] order[r15s:pg] cu[maxcus=2]"},

		{"usage of three", "rusage[mem=1]", "rusage[swp=2:mem=9:duration=5]", "rusage[tmp=3]", "", "select[type==any] order[r15s:pg] rusage[mem=1:swp=2:duration=5,tmp=3]"},
		{"a duration of its own", "rusage[mem=1:duration=5]", "-", "rusage[mem=2:duration=9:decay=1]", "", "select[type==any] order[r15s:pg] rusage[mem=1:duration=5]"},
		{"a duration that is longer", "rusage[mem=1:duration=10]", "-", "rusage[mem=2:duration=9]", "", "Cannot exceed queue's resource reservation: the duration of mem is 10, expected at most 9"},
		{"a duration where the queue has none", "rusage[mem=1:duration=10]", "-", "rusage[mem=2]", "", "select[type==any] order[r15s:pg] rusage[mem=1:duration=10]"},
		{"the application exceeds", "-", "rusage[lic=3]", "rusage[lic=2]", "", "Cannot exceed queue's resource reservation: lic is 3, expected at most 2"},
		{"the job corrects the application", "rusage[lic=2]", "rusage[lic=3]", "rusage[lic=2]", "", "select[type==any] order[r15s:pg] rusage[lic=2]"},
		{"the first that fails decides", "rusage[swp=9:mem=9]", "-", "rusage[swp=1]", "[mem=5]", "Cannot exceed queue's resource reservation: swp is 9, expected at most 1"},
		{"the first that fails decides, reversed", "rusage[mem=9:swp=9]", "-", "rusage[swp=1]", "[mem=5]", "Job cannot exceed queue level RESRSV_LIMIT limitation: mem is 9, expected at most 5"},
		{"a limit frees from the queue's own value", "rusage[mem=90]", "-", "rusage[mem=40:duration=5]", "[mem=30,100]", "select[type==any] order[r15s:pg] rusage[mem=90:duration=5]"},
		{"a limit without a request", "rusage[swp=1]", "-", "-", "[mem=30,100]", "select[type==any] order[r15s:pg] rusage[swp=1]"},
		{"a maximum alone", "rusage[mem=0]", "-", "-", "[mem=100]", "select[type==any] order[r15s:pg] rusage[mem=0]"},

		{"alternatives of two levels", "rusage[mem=1||mem=2]", "-", "rusage[swp=5||tmp=6]", "", "select[type==any] order[r15s:pg] rusage[mem=1:swp=5||mem=1:tmp=6||mem=2:swp=5||mem=2:tmp=6]"},
		{"alternatives that are alike", "rusage[mem=1]", "-", "rusage[mem=5||mem=6]", "", "select[type==any] order[r15s:pg] rusage[mem=1]"},
		{"a pair that fails is dropped", "rusage[mem=1||mem=9]", "-", "rusage[mem=5||mem=10:swp=1]", "", "select[type==any] order[r15s:pg] rusage[mem=1||mem=1:swp=1||mem=9:swp=1]"},
		{"no pair is left", "rusage[mem=11||mem=19]", "-", "rusage[mem=5||mem=10:swp=1]", "", "Cannot exceed queue's resource reservation: mem is 11, expected at most 5"},

		{"a compound job", "1*{rusage[mem=1]}+2*{span[hosts=1]}", "-", "swp>1 rusage[lic=1||tmp=2] span[ptile=3] cu[excl]", "", "1*{select[swp>1] order[r15s:pg] rusage[mem=1:lic=1] span[ptile=3]}+2*{select[swp>1] order[r15s:pg] rusage[lic=1] span[hosts=1]}"},
		{"a compound job that exceeds", "1*{rusage[mem=1]}+2*{rusage[mem=7]}", "-", "rusage[mem=6]", "", "Cannot exceed queue's resource reservation: mem is 7, expected at most 6"},
		{"a compound application under a job", "rusage[mem=1]", "1*{swp>1}+2*{}", "-", "", "select[type==any] order[r15s:pg] rusage[mem=1]"},
		{"a compound queue under an application", "-", "mem>1", "1*{swp>1}+2*{}", "", "select[mem>1] order[r15s:pg]"},
		{"a compound queue", "-", "-", "1*{swp>1}+2*{}", "", "1*{select[swp>1] order[r15s:pg]}+2*{select[type==any] order[r15s:pg]}"},
	} {
		limits, invalid := ParseLimits(c.limits, site)
		if len(invalid) > 0 {
			t.Fatalf("%s: %v", c.name, invalid)
		}
		r, err := Merge(level(t, c.job), level(t, c.application), Queue{level(t, c.queue), limits}, false)
		got := r.Combined()
		if err != nil {
			got = explain(err)
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A job that runs may go below the minimum of its queue, never above the maximum.
func TestMergeOfARunningJob(t *testing.T) {
	limits, _ := ParseLimits("[mem=30,100]", site)
	for text, ok := range map[string]bool{"rusage[mem=29]": true, "rusage[mem=100]": true, "rusage[mem=101]": false} {
		_, err := Merge(level(t, text), nil, Queue{Limits: limits}, true)
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []string
		want  string
	}{
		{"none", nil, "select[type==any] order[r15s:pg]"},
		{
			"RSV-11",
			[]string{"rusage[mem=100]", "rusage[tmp=50:duration=60]", "select[swp>10]", "select[tmp>10]"},
			"select[(swp>10) && (tmp>10)] order[r15s:pg] rusage[mem=100,tmp=50:duration=60]",
		},
		{"order", []string{"order[mem]", "order[-swp:tmp]"}, "select[type==any] order[mem:-swp:tmp]"},
		{"same", []string{"same[type]", "same[model:type]"}, "select[type==any] order[r15s:pg] same[type:model]"},
		{"alternatives", []string{"rusage[mem=1||mem=2]", "rusage[swp=1||swp=2]"}, "select[type==any] order[r15s:pg] rusage[mem=1:swp=1||mem=1:swp=2||mem=2:swp=1||mem=2:swp=2]"},
		{"span and cu", []string{"span[hosts=1]", "cu[excl]"}, "select[type==any] order[r15s:pg] span[hosts=1] cu[excl]"},
		{"a second amount", []string{"rusage[mem=1||swp=1]", "rusage[mem=1]"}, "Bad resource requirement syntax: a second amount of mem, expected each resource once"},
		{"a second span", []string{"span[hosts=1]", "span[hosts=-1]"}, "Bad resource requirement syntax: a second section span, expected one"},
		{"a second cu", []string{"cu[excl]", "cu[excl]"}, "Bad resource requirement syntax: a second section cu, expected one"},
		{"compound", []string{"1*{}+1*{}", "mem>1"}, "Bad resource requirement syntax: a compound requirement beside another one, expected it alone"},
		{"one compound", []string{"1*{}+1*{}"}, "1*{select[type==any] order[r15s:pg]}+1*{select[type==any] order[r15s:pg]}"},
	} {
		var parts []Requirement
		for _, text := range c.parts {
			parts = append(parts, parsed(t, text))
		}
		r, err := Join(parts...)
		got := r.Combined()
		if err != nil {
			got = explain(err)
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// What several strings make together is bounded as one is, and so is the work for it.
func TestMergeIsBounded(t *testing.T) {
	long := parsed(t, strings.Repeat("mem>1&&", 380)+"mem>1")
	_, err := Join(long, long)
	if err == nil || !strings.Contains(explain(err), "bytes, expected at most 4096") {
		t.Errorf("long: %v", err)
	}
	many := func(resource string) Requirement {
		var words []string
		for i := range 100 {
			words = append(words, fmt.Sprintf("%s=%d", resource, i))
		}
		return parsed(t, "rusage["+strings.Join(words, "||")+"]")
	}
	a, b := many("mem"), many("swp")
	_, err = Merge(&a, &b, Queue{}, false)
	if err == nil || explain(err) != "Bad resource requirement syntax: rusage has 10000 alternatives, expected at most 4096" {
		t.Errorf("many: %v", err)
	}
}

func TestParseLimits(t *testing.T) {
	for _, c := range []struct{ text, want, invalid string }{
		{"[mem=30,100]", "[mem=30,100]", ""},
		{"[mem=100]", "[mem=100]", ""},
		{"[mem={30,}100] [swp=1,2:lic=3]", "[mem=30,100] [swp=1,2] [lic=3]", ""},
		{" [ mem = 30 , 100 ] ", "[mem=30,100]", ""},
		{"[mem=0.5,1]", "[mem=0.5,1]", ""},
		{"[swap=0,2147483647]", "[swp=2147483647]", ""},
		{"[mem=100,30]", "", "mem"},
		{"[mem=30,100] [mem=5]", "[mem=30,100]", "mem"},
		{"[nosuch=1:mem=1]", "[mem=1]", "nosuch"},
		{"[ncpus=1]", "", "ncpus"},
		{"[mem=2147483648]", "", "mem"},
		{"[mem=x]", "", "mem"},
		{"[mem]", "", "mem"},
		{"[mem={30,100]", "", "mem"},
		{"[mem=1G]", "", "mem"},
		{"[swp=1] mem=30,100", "[swp=1]", "mem=30,100"},
		{"[mem=1", "", "[mem=1"},
	} {
		limits, invalid := ParseLimits(c.text, site)
		if limits.String() != c.want || strings.Join(invalid, " ") != c.invalid {
			t.Errorf("%q: %q, %q", c.text, limits, invalid)
		}
	}
}

// A queue's own value outside of its limits is no default.
func TestWithoutOutside(t *testing.T) {
	limits, _ := ParseLimits("[mem=30,100]", site)
	q, dropped := Queue{level(t, "mem>1 rusage[mem=20:swp=5||mem=101||mem=30]"), limits}.WithoutOutside()
	if got := q.Requirement.String(); got != "select[mem>1] rusage[swp=5||mem=30]" || !slices.Equal(dropped, []string{"mem"}) {
		t.Errorf("%s, %v", got, dropped)
	}
	if q, dropped := (Queue{}).WithoutOutside(); q.Requirement != nil || dropped != nil {
		t.Errorf("%v, %v", q, dropped)
	}
}

func TestEffective(t *testing.T) {
	r := parsed(t, "rusage[mem=20||mem=10:swp=20]")
	for alternative, want := range map[int]string{0: "rusage[mem=20]", 1: "rusage[mem=10:swp=20]", 2: "rusage[mem=20]", -1: "rusage[mem=20]"} {
		if got := r.Effective(alternative).String(); got != want {
			t.Errorf("%d: %s", alternative, got)
		}
	}
	if r.String() != "rusage[mem=20||mem=10:swp=20]" {
		t.Errorf("it was changed to %s", r)
	}
}

func TestRefusedByQueueIsARefusal(t *testing.T) {
	_, err := Merge(level(t, "rusage[mem=2]"), nil, Queue{Requirement: level(t, "rusage[mem=1]")}, false)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Error() != "Cannot exceed queue's resource reservation" {
		t.Errorf("%v", err)
	}
}
