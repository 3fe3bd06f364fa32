package mom

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/task"
	"rampart/transport/pause"
)

// A restriction is $restrict_user and the lines beside it: who may have processes on the host without a job there.
type restriction struct {
	on     bool
	system uint32   // accounts up to this number belong to the system
	spared []string // names of others
}

// lastSystemUser is PBS's $restrict_user_maxsysid where a site sets none.
const lastSystemUser = 999

func (r *restriction) read(directive, text string) error {
	switch directive {
	case "$restrict_user":
		return truth(&r.on, directive, text)
	case "$restrict_user_maxsysid":
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return fmt.Errorf("%s %q is no number of an account", directive, text)
		}
		r.system = uint32(n)
	default:
		r.spared = nil
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				r.spared = append(r.spared, name)
			}
		}
		if len(r.spared) == 0 {
			return fmt.Errorf("%s wants names of users, joined by commas", directive)
		}
	}
	return nil
}

// keepRestricted ends the processes of people who have no job on the host, if the site wants that.
func (m *Mom) keepRestricted(ctx context.Context, l *life) {
	for pause.For(ctx, pollEvery) {
		r := m.settings.Load().restrict
		if !r.on || !m.config.SwitchUser {
			continue
		}
		if err := m.restrict(ctx, l, r); err != nil { // whose processes are whose is not known: somebody's job could be ended
			m.config.Logger.Warn("nobody is restricted", "err", err)
		}
	}
}

// restrict looks who has jobs again when it has found somebody: a job may have come meanwhile.
func (m *Mom) restrict(ctx context.Context, l *life, r restriction) error {
	may, err := l.people(ctx, r)
	if err != nil {
		return err
	}
	strangers := proc.Strangers(func(uid uint32) bool { return uid <= r.system || may[uid] })
	if len(strangers) == 0 {
		return nil
	}
	if may, err = l.people(ctx, r); err != nil {
		return err
	}
	for _, p := range strangers {
		if !may[p.UID] && p.End() {
			m.lines.system(pbs.LogSystem, "dorestrict_user", fmt.Sprintf("killed uid %d pid %d(%s)", p.UID, p.PID, p.Command))
		}
	}
	return nil
}

// people returns the accounts that may have processes on the host: those with jobs, and those that are spared. Names that no
// account has stand for nobody.
func (l *life) people(ctx context.Context, r restriction) (map[uint32]bool, error) {
	may := make(map[uint32]bool)
	for _, name := range r.spared {
		a, err := l.site.Accounts.Account(ctx, name, "")
		switch {
		case err == nil:
			may[a.UID] = true
		case !errors.Is(err, task.ErrNoAccount):
			return nil, fmt.Errorf("account of %s: %w", name, err)
		}
	}
	for _, runner := range l.all() {
		t := runner.Task()
		uid, err := l.site.Owner(ctx, t)
		switch {
		case err == nil:
			may[uid] = true
		case !errors.Is(err, task.ErrNoAccount):
			return nil, fmt.Errorf("owner of job %s: %w", t.Key.Job, err)
		}
	}
	return may, nil
}
