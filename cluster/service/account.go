package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// recordedAfter is how old a record of an account gets before a submission renews it.
const recordedAfter = pbs.Time(time.Hour)

// account asks the directory of users for somebody who submits.
func (c *base) account(ctx context.Context, u pbs.User) (transport.Account, error) {
	a, err := c.Accounts.ByName(ctx, u.Name)
	switch {
	case errors.Is(err, transport.ErrNoAccount):
		return transport.Account{}, pbs.Refuse(pbs.NotAccountHolder)
	case err != nil:
		return transport.Account{}, fmt.Errorf("look up the account of %s: %w", u, err)
	}
	return a, nil
}

// toRecord returns what the state is to keep of an owner of jobs, so that no replica and no
// mom depends on the directory for that user; nil: it is known. root's account is every host's own.
func toRecord(v *state.View, a transport.Account) *state.Account {
	if a.UID == 0 {
		return nil
	}
	told := a.Told
	if told.IsZero() {
		told = time.Now()
	}
	next := &state.Account{
		Name: a.Name, UID: a.UID, GID: a.GID, Home: a.Home, Shell: a.Shell,
		Groups: a.Groups, GIDs: a.GIDs, Told: pbs.Time(told.UnixNano()),
	}
	if old, ok := v.Account(a.Name); ok && old.Told != 0 && next.Told < old.Told+recordedAfter && (next.Told <= old.Told || next.SameAs(old)) {
		return nil
	}
	return next
}

// known refuses somebody whom an administrator had forgotten and whom the directory does not
// know any more: others who vouch for that user may not have heard of it.
func (c *base) known(ctx context.Context, v *state.View, u pbs.User) error {
	if a, ok := v.Account(u.Name); !ok || a.Forgotten == 0 || c.Accounts == nil {
		return nil
	}
	_, err := c.Accounts.ByName(ctx, u.Name)
	if errors.Is(err, transport.ErrNoAccount) {
		return fmt.Errorf("%s is forgotten: %w", u, pbs.Refuse(pbs.Unauthorized))
	}
	return err
}

// ForgetAccount has every daemon ask the directory anew for somebody.
func (s *Trust) ForgetAccount(ctx context.Context, r *connect.Request[api.ForgetAccountRequest]) (*connect.Response[api.ForgetAccountReply], error) {
	err := s.manage(ctx, r, func(*state.View) ([]command.Command, error) {
		return []command.Command{&command.ForgetAccount{Name: r.Msg.GetUser()}}, nil
	})
	return reply(&api.ForgetAccountReply{}, err)
}

// RecallAccount tells a daemon what is on record of somebody.
func (s *Trust) RecallAccount(ctx context.Context, r *connect.Request[api.RecallAccountRequest]) (*connect.Response[api.RecallAccountReply], error) {
	v, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	out := &api.RecallAccountReply{Owner: v.OwnsJobs(r.Msg.GetUser())}
	if a, ok := v.Recall(r.Msg.GetUser()); ok {
		out.Account, out.Told, out.Owner = recorded(v, a.Name), int64(a.Told), v.OwnsJobs(a.Name)
	}
	return connect.NewResponse(out), nil
}

// forgottenLife is how long daemons are told of somebody who was forgotten: no daemon keeps for longer
// what it was told before.
const forgottenLife = 31 * 24 * time.Hour

// forgottenFor is how long a list of those who are forgotten is told before it is made anew: every daemon
// asks for it all the time.
const forgottenFor = time.Second

// forgotten keeps the list.
type forgotten struct {
	mu   sync.Mutex
	made time.Time
	list []*api.ForgottenAccount
}

func (f *forgotten) in(v *state.View) []*api.ForgottenAccount {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if !f.made.IsZero() && now.Sub(f.made) < forgottenFor {
		return f.list
	}
	f.made, f.list = now, nil
	for a := range v.Accounts() {
		if a.Forgotten > pbs.Time(now.Add(-forgottenLife).UnixNano()) {
			f.list = append(f.list, &api.ForgottenAccount{User: a.Name, At: int64(a.Forgotten)})
		}
	}
	return f.list
}

// recorded returns what moms are told of somebody, for when their own directory does not answer.
func recorded(v *state.View, name string) *api.Account {
	a, ok := v.Account(name)
	if !ok || a.Told == 0 {
		return nil
	}
	return &api.Account{Name: a.Name, Uid: a.UID, Gid: a.GID, Home: a.Home, Shell: a.Shell, Groups: a.Groups, Gids: a.GIDs}
}
