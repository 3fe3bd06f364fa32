package task

import (
	"context"
	"errors"

	"rampart/fsm/pbs"
)

// A RunOwner is what the servers know of a run: its mother superior, and the user and the group
// under which it runs.
type RunOwner struct {
	Mother      pbs.HostName
	User, Group string
	Known       *Account // the user, as the servers know him; nil: they do not
}

// admit reports whether a sister may take part: the servers say that the run counts, and is what
// the host that has asked says of it, and this host knows the owner. It returns the task with
// what the servers know of that user.
func (s *Site) admit(ctx context.Context, t Task) (Task, error) {
	owner, err := s.Scripts.Counts(ctx, t.Key)
	if err != nil {
		return t, err
	}
	if err := t.confirm(owner); err != nil {
		return t, err
	}
	t.Known = owner.Known
	_, err = s.owners().account(ctx, t)
	if errors.Is(err, ErrNoAccount) {
		return t, pbs.Errorf(pbs.BadUser, "%s: %v", s.Host, err)
	}
	return t, err
}

// confirm refuses a run that came from another host than its mother superior, or for another user
// than its owner: a mom that was broken into gets programs of its jobs run as their owners
// elsewhere, and as nobody else.
func (o Order) confirm(owner RunOwner) error {
	told := RunOwner{User: o.Attrs.Get("euser"), Group: o.Attrs.Get("egroup")}
	if len(o.Hosts) > 0 {
		told.Mother = o.Hosts[0].Name
	}
	if told.Mother != owner.Mother || told.User != owner.User || told.Group != owner.Group {
		return pbs.Errorf(pbs.Unauthorized, "%s: %s asks for %s:%s, the run is of %s:%s at %s",
			pbs.Unauthorized.Text(), told.Mother, told.User, told.Group, owner.User, owner.Group, owner.Mother)
	}
	return nil
}
