package pbs

import "testing"

// The entries of preempt_targets are one value, however many there are and whatever stands around them
// (specification: breadth section 1, rule 22).
func TestResources_PreemptTargets(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"preempt_targets=queue=a,queue=b":                       {"preempt_targets": "queue=a,queue=b"},
		"ncpus=1,preempt_targets=queue=a,Resource_List.mem=1gb": {"ncpus": "1", "preempt_targets": "queue=a,Resource_List.mem=1gb"},
		"preempt_targets=Queue=a,queue=b,mem=1gb,walltime=1":    {"preempt_targets": "Queue=a,queue=b", "mem": "1gb", "walltime": "1"},
		`preempt_targets="queue=a,queue=b",ncpus=1`:             {"preempt_targets": "queue=a,queue=b", "ncpus": "1"},
		"queue=a":                           {"queue": "a"}, // an unknown resource, to the server
		"preempt_targets=queue=a,queue=":    nil,
		"select=ncpus=1\r:mem=1gb\r:arch=x": {"select": "ncpus=1", ":mem": "1gb", ":arch": "x"}, // refused by the server
		" ncpus = 1 mem=2gb ":               {"ncpus": "1", "mem": "2gb"},
		`preempt_targets="queue=a b"`:       {"preempt_targets": "queue=a b"},
		"ncpus=1 mem":                       nil,
		"mem=1gb,Resource_List.mem=1gb":     nil,
	} {
		r := new(request)
		ok := r.resources(text)
		if ok != (want != nil) {
			t.Errorf("%s is taken: %v", text, ok)
		}
		if !ok {
			continue
		}
		if len(r.changes) != len(want) {
			t.Errorf("%s is %v", text, r.changes)
		}
		for _, a := range r.changes {
			if want[a.Resource] != a.Value {
				t.Errorf("%s: %s is %q, want %q", text, a.Resource, a.Value, want[a.Resource])
			}
		}
	}
}
