package hook

import (
	"encoding/json"
	"testing"
)

// The pbs module goes through the attributes of each object: there is a list of them, though it may be empty.
func TestObject_WithoutAttributes(t *testing.T) {
	if got, err := json.Marshal(&Event{Job: &Object{Name: "1.srv"}}); err != nil || !json.Valid(got) || string(mustField(t, got, "job")) != `{"name":"1.srv","attrs":[]}` {
		t.Errorf("%s, %v", got, err)
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
