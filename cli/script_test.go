package cli

import (
	"testing"

	"rampart/fsm/pbs"
)

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadScript_WithoutAnEnd(t *testing.T) {
	if _, err := ReadScript(endless{}); pbs.CodeOf(err) != pbs.ScriptOverLimit {
		t.Errorf("refused with %v", err)
	}
}
