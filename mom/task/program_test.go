package task

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// A program that could not be started is refused before it is on record: whoever asks for it is
// a program of a job.
func TestStep_RefusesAProgramThatIsNone(t *testing.T) {
	for _, ev := range []Spawn{
		{Key: "k"},
		{Key: "k", Args: []string{""}},
		{Args: []string{"true"}},
		{Key: "k", Args: []string{"true", strings.Repeat("x", MaxProgram)}},
		{Key: "k", Args: []string{"true"}, Env: []string{strings.Repeat("x", MaxProgram)}},
	} {
		for _, where := range []Task{in(Running), in(Running, sister)} {
			if next, actions, err := step(where, ev); !errors.Is(err, pbs.Refuse(pbs.InvalidRequest)) || len(next.Programs)+len(actions) > 0 {
				t.Errorf("%d arguments, %d variables: %v, %v", len(ev.Args), len(ev.Env), actions, err)
			}
		}
	}
}

// Hooks tell the job's own program from those that it starts by the node file (specification:
// reliable-startup section 7).
func TestProgramEnvironment_OnlyTheJobsOwnHasTheNodeFile(t *testing.T) {
	s, has := testSite(t), func(v string) bool { return strings.HasPrefix(v, "PBS_NODEFILE=") }
	for _, where := range []Task{in(Running), in(Running, sister)} {
		if !slices.ContainsFunc(s.environment(where, Account{Name: "ann"}), has) {
			t.Error("the job's own program has no PBS_NODEFILE")
		}
		if env := s.programEnvironment(where, Account{Name: "ann"}, Program{ID: 2}); slices.ContainsFunc(env, has) {
			t.Errorf("a program that a job has started has %q", env)
		}
	}
}
