package task

import (
	"syscall"
	"testing"
)

// Names that the servers let pass mean a signal here, second names too.
func TestParseSignal_SecondNames(t *testing.T) {
	for name, want := range map[string]syscall.Signal{"IOT": 6, "SIGCLD": 17, "poll": 29} {
		if got, err := ParseSignal(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
