package dropin

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseSchedConfig(t *testing.T) {
	c := parseSchedConfig(`
# a comment
round_robin: False	all
by_queue: True		prime
by_queue: True		non_prime
fairshare_entity: egroup prime
help_starving_jobs: false prime
strict_ordering: true   ALL
preemptive_sched: false non_prime
job_sort_key: "ncpus HIGH" prime
resources: "ncpus, mem, foo"	ALL
job_sort_key: "cput LOW" ALL
job_sort_key: "job_priority HIGH"
node_sort_key: "sort_priority HIGH"	ALL
max_starve: 24:00:00
preempt_order: "SC"
no_such: 1
what is this
`)
	want := map[string]string{
		"round_robin": "False", "by_queue": "True", "strict_ordering": "true", "resources": "ncpus, mem, foo",
		"prime_help_starving_jobs": "false", "preemptive_sched": "false", "prime_preemptive_sched": "true",
		"job_sort_key": "cput LOW, job_priority HIGH", "prime_job_sort_key": "ncpus HIGH, cput LOW, job_priority HIGH", "node_sort_key": "sort_priority HIGH", "max_starve": "24:00:00",
	}
	if !maps.Equal(c.values, want) {
		t.Errorf("values are %v, want %v", c.values, want)
	}
	if len(c.faults) != 4 || !strings.Contains(c.faults[0], "prime time") || !strings.Contains(c.faults[1], "with qmgr") ||
		!strings.Contains(c.faults[2], "no_such") || !strings.Contains(c.faults[3], "line 18") {
		t.Errorf("faults are %q", c.faults)
	}
}

// TestParseSchedConfig_Installed: the file that is installed says nothing that is wrong, or
// without effect.
func TestParseSchedConfig_Installed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "home", "etc", "pbs_sched_config"))
	if err != nil {
		t.Fatal(err)
	}
	c := parseSchedConfig(string(text))
	if len(c.faults) > 0 || len(c.values) < 4 {
		t.Errorf("%d values, faults %q", len(c.values), c.faults)
	}
	for name, value := range c.values {
		if idle(name, value) {
			t.Errorf("%s: %s has no effect", name, value)
		}
	}
}

func FuzzParseSchedConfig(f *testing.F) {
	f.Add("a: b\nby_queue: \"x\" all\n")
	f.Add("resources: \"")
	f.Fuzz(func(_ *testing.T, text string) { parseSchedConfig(text) })
}
