package hook

import (
	"encoding/json"
	"slices"
	"testing"
)

// The pbs module goes through the attributes of each object: there is a list of them, though it may be empty.
func TestObject_WithoutAttributes(t *testing.T) {
	if got, err := json.Marshal(&Event{Job: &Object{Name: "1.srv"}}); err != nil || !json.Valid(got) || string(mustField(t, got, "job")) != `{"name":"1.srv","attrs":[]}` {
		t.Errorf("%s, %v", got, err)
	}
}

// dir() names what an event has and what of its objects can be asked for; each name can be.
func TestObject_Dir(t *testing.T) {
	_, lines := try(t, newTestRuntime(t), queue(), `
import pbs
e = pbs.event()
for name in ("type", "hook_name", "requestor", "job", "alarm", "accept", "vnode_list"):
    pbs.logmsg(pbs.LOG_DEBUG, "event %s %s" % (name, name in dir(e)))
for name in ("id", "Job_Name", "Resource_List", "exec_vnode", "in_ms_mom", "nonsense"):
    pbs.logmsg(pbs.LOG_DEBUG, "job %s %s" % (name, name in dir(e.job)))
for o in (e, e.job):
    for name in dir(o):
        getattr(o, name)
`)
	want := []string{
		"event type True", "event hook_name True", "event requestor True", "event job True", "event alarm True", "event accept True", "event vnode_list False",
		"job id True", "job Job_Name True", "job Resource_List True", "job exec_vnode True", "job in_ms_mom True", "job nonsense False",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

func mustField(t *testing.T, data []byte, name string) json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all[name]
}
