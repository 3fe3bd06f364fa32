package lsf

import (
	"errors"
	"testing"

	"rampart/fsm/pbs"
)

// What ends while bkill 0 goes through its list is not among those it is for; any other refusal is told.
func TestChosenChange(t *testing.T) {
	for code, passed := range map[pbs.Code]bool{pbs.HasFinished: true, pbs.UnknownJob: true, pbs.Unauthorized: false, pbs.BadState: false} {
		if err := chosenChange(pbs.Refuse(code)); errors.Is(err, errEnded) != passed {
			t.Errorf("%v: %v", code, err)
		}
	}
	if err := chosenChange(nil); err != nil {
		t.Error(err)
	}
}
