package service

import (
	"context"
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

// preterm is a deletion that hooks of execjob_preterm may refuse.
type preterm struct {
	job      pbs.JobID
	run      pbs.RunCount
	patience time.Duration // 0: there are no hooks to wait for
}

func pretermOf(v *state.View, j *state.Job, force bool) preterm {
	if force || j.State != pbs.Running || !v.HasHooksAt("execjob_preterm") {
		return preterm{}
	}
	p := preterm{job: j.ID, run: j.RunCount, patience: pretermMargin}
	for _, h := range v.HooksAt("execjob_preterm") {
		p.patience += time.Duration(h.Int("alarm")) * time.Second
	}
	return p
}

// awaitPreterm waits until the run has ended, or hooks have refused that, which is the refusal of the
// request then. The order stays, if it takes longer.
func (c *Config) awaitPreterm(ctx context.Context, p preterm) error {
	defer transport.Working(ctx)()
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	for {
		changed := c.Replica.Changed()
		v, err := c.Replica.Read(ctx, cluster.Stale)
		if err != nil {
			return nil
		}
		j, ok := v.Job(p.job)
		switch {
		case !ok || j.RunCount != p.run || j.State != pbs.Running && j.State != pbs.Exiting:
			return nil
		case j.State == pbs.Running:
			if why, kept := strings.CutPrefix(j.Comment, command.KeptComment); kept {
				return pbs.Errorf(pbs.HookError, "%s", why)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}
