package conformance

import (
	"bytes"
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"
)

// jsonValue is the command json VALUE KEY...: the standard output of the last command is
// an object that holds VALUE, in JSON, at the path of keys.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: json VALUE KEY...")
	}
	at := json.RawMessage(ts.ReadFile("stdout"))
	for _, key := range args[1:] {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(at, &object); err != nil {
			ts.Fatalf("json %v: no object before %s: %v\n%s", args, key, err, at)
		}
		value, ok := object[key]
		if !ok {
			ts.Fatalf("json %v: no %s in %s", args, key, at)
		}
		at = value
	}
	var got bytes.Buffer
	ts.Check(json.Compact(&got, at))
	if got.String() != args[0] {
		ts.Fatalf("json %v: got %s", args, got.Bytes())
	}
}
