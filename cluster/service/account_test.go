package service

import (
	"context"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// removed is a directory that does not know ann any more, or does not answer for her.
type removed struct {
	accounts
	err error
}

func (r removed) ByName(ctx context.Context, name string) (transport.Account, error) {
	if name == "ann" {
		return transport.Account{}, r.err
	}
	return r.accounts.ByName(ctx, name)
}

// Who was removed is refused at once when he is forgotten, whoever vouches for him; and nobody
// but he, and no request of root's, depends on the directory.
func TestForgetAccount(t *testing.T) {
	for name, err := range map[string]error{"removed": transport.ErrNoAccount, "silent": pbs.Refuse(pbs.NoDirectory)} {
		t.Run(name, func(t *testing.T) {
			b, _ := trustBench(t)
			b.mustSubmit("ann@login1")
			if a, ok := b.store.View().Account("ann"); !ok || a.UID != 1000 || time.Since(time.Unix(0, int64(a.Told))) > time.Minute {
				t.Fatalf("the owner of a job is not on record: %+v", a)
			}
			b.Batch.Accounts = removed{err: err}
			if _, err := b.list("ann@login1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB}); err != nil {
				t.Fatalf("before: %v", err)
			}
			forget := func(ctx context.Context) error {
				_, err := b.Trust.ForgetAccount(ctx, request(&api.ForgetAccountRequest{User: "ann"}, ""))
				return err
			}
			if err := forget(b.as("bob@login1")); pbs.CodeOf(err) != pbs.Unauthorized {
				t.Errorf("anybody may: %v", err)
			}
			if err := forget(b.boss()); err != nil {
				t.Fatal(err)
			}
			want := pbs.Unauthorized
			if name == "silent" {
				want = pbs.NoDirectory
			}
			if _, err := b.list("ann@login1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB}); pbs.CodeOf(err) != want {
				t.Errorf("list of one who is forgotten: %v", err)
			}
			if _, err := b.submit("ann@login1"); pbs.CodeOf(err) != want {
				t.Errorf("submission of one who is forgotten: %v", err)
			}
			if _, err := b.list("root@replica:s1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB}); err != nil {
				t.Errorf("root: %v", err)
			}
		})
	}
}
