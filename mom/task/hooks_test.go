package task

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"rampart/mom/proc"
	"rampart/mom/spool"
)

// A tuner is hooks that set a variable of the job before its program, as the mom does it for them.
type tuner struct {
	witness
	r     *Runner
	found []string // the variables of the program at execjob_launch
}

func (u *tuner) Begin(ctx context.Context, _ Task) ([]spool.Used, error) {
	return nil, u.r.Tell(ctx, Alter{Attrs{{Name: "Variable_List", Value: `A=1,AT_BEGIN=x\,y`}}})
}

func (u *tuner) Prologue(ctx context.Context, t Task) ([]spool.Used, error) {
	return nil, u.r.Tell(ctx, Alter{Attrs{{Name: "Variable_List", Value: t.Attrs.Get("Variable_List") + ",AT_PROLOGUE=z"}}})
}

func (u *tuner) Launch(_ context.Context, _ Task, spec *proc.Spec) ([]spool.Used, error) {
	u.found = slices.Clone(spec.Env)
	return nil, nil
}

// What hooks of execjob_begin and execjob_prologue set of Variable_List, the job's program finds (specification: hooks section 6).
func TestRunner_VariablesOfHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := stageSite(t)
		u := &tuner{}
		s.Lines, s.Hooks, s.Scripts = new(notes), u, prompt{}
		u.r = NewRunner(s, in(Accepted, with("Variable_List", "A=1"), with("exec_vnode", "(hosta:ncpus=1)"), with("exec_host", "hosta/0")))
		ctx, cancel := context.WithCancel(t.Context())
		go u.r.Run(ctx, Accept{})
		if last, err := u.r.Await(ctx, func(t Task) bool { return t.Life.StartedAt != 0 || t.Over() }); err != nil || last.Life.StartedAt == 0 {
			t.Errorf("it is %s, %+v, %v", last.State(), last.Result, err)
		}
		cancel()
		<-u.r.Done()
		for _, want := range []string{"A=1", "AT_BEGIN=x,y", "AT_PROLOGUE=z"} {
			if !slices.Contains(u.found, want) {
				t.Errorf("no %s in %q", want, u.found)
			}
		}
	})
}
