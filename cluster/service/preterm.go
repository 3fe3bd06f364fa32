package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
)

// pretermMargin is how long a deletion waits besides the alarms of hooks: for the mom, and for the
// end of what has accepted it.
const pretermMargin = 15 * time.Second

// preterm is a run whose end hooks of execjob_preterm may refuse.
type preterm struct {
	job pbs.JobID
	run pbs.RunCount
}

// pretermsAgain looks for the runs of a request that was committed before, by a leader that has died since.
func (c *base) pretermsAgain(ctx context.Context, job string, force bool) []preterm {
	v, err := c.Replica.Read(ctx, cluster.Stale)
	if err != nil {
		return nil
	}
	j, err := jobOf(v, job)
	if err != nil {
		return nil
	}
	return pretermsOf(v, j, force)
}

// pretermsOf returns the runs that a deletion is about: the job's, or those of the subjobs that are
// named. There are none where no hooks are asked.
func pretermsOf(v *state.View, j *state.Job, force bool) []preterm {
	if force || !v.HasHooksAt("execjob_preterm") {
		return nil
	}
	if j.Array == nil {
		if !pretermed(j) {
			return nil
		}
		return []preterm{{j.ID, j.RunCount}}
	}
	parent, ok := v.Job(j.ID.Parent())
	if !ok {
		return nil
	}
	var all []preterm
	named, several := j.ID.Indices()
	for one := range v.LiveSubjobs(parent) {
		if pretermed(one) && (!several || named.Has(one.Index())) {
			all = append(all, preterm{one.ID, one.RunCount})
		}
	}
	return all
}

// pretermed reports whether hooks may still refuse the end of a run that somebody wants deleted.
func pretermed(j *state.Job) bool {
	return j.State == pbs.Running || j.State == pbs.Exiting && j.LastRun().Ending == state.EndingDelete
}

// pretermPatience returns how long the hooks of one run may take.
func pretermPatience(v *state.View) time.Duration {
	patience := pretermMargin
	for _, h := range v.HooksAt("execjob_preterm") {
		patience += time.Duration(h.Int("alarm")) * time.Second
	}
	return patience
}

// awaitPreterms waits until the runs have ended, or hooks have refused that, which is the refusal of
// the request then. The orders stay, if it takes longer.
func (c *base) awaitPreterms(ctx context.Context, all []preterm) error {
	defer transport.Working(ctx)()
	v, err := c.Replica.Read(ctx, cluster.Stale)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pretermPatience(v))
	defer cancel()
	var kept []string
	for _, one := range all {
		why, refused := c.awaitPreterm(ctx, one)
		if !refused {
			continue
		}
		if len(all) > 1 {
			why = fmt.Sprintf("%s: %s", one.job, why)
		}
		kept = append(kept, why)
	}
	switch n := len(kept); {
	case n == 0:
		return nil
	case n > pretermsTold:
		kept = append(slices.Clip(kept[:pretermsTold]), fmt.Sprintf("and %d more", n-pretermsTold))
	}
	return pbs.Errorf(pbs.HookError, "%s", strings.Join(kept, "; "))
}

// pretermsTold bounds how many subjobs a refusal names.
const pretermsTold = 10

// awaitPreterm waits for one run, and returns why its end is refused.
func (c *base) awaitPreterm(ctx context.Context, p preterm) (why string, refused bool) {
	for {
		changed := c.Replica.Changed()
		v, err := c.Replica.Read(ctx, cluster.Stale)
		if err != nil {
			return "", false
		}
		j, ok := v.Job(p.job)
		switch {
		case !ok || !j.Is(p.run):
			return "", false
		case j.State == pbs.Running:
			return strings.CutPrefix(j.Comment, command.KeptComment)
		}
		select {
		case <-ctx.Done():
			return "", false
		case <-changed:
		}
	}
}
