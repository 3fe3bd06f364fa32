//go:build !bug_planted

package planted

import "testing"

// An ordinary build has no bug in it, as its compiler knows: this array would not
// compile if Bug were a variable, or one of the bugs.
var _ [len(Bug)]struct{} = [0]struct{}{}

func TestBug_NoneInAnOrdinaryBuild(t *testing.T) {
	if Bug != None {
		t.Errorf("this build has the bug %q", Bug)
	}
}
