package service

import (
	"context"
	"testing"
	"testing/synctest"
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

// Daemons are told what is on record of owners of jobs, by name and by number, and who is to be forgotten.
func TestRecallAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, _ := trustBench(t)
		job := b.mustSubmit("ann@login1")
		recall := func(key string) *api.RecallAccountReply {
			t.Helper()
			r, err := b.Trust.RecallAccount(b.asMom("hosta"), request(&api.RecallAccountRequest{User: key}, ""))
			if err != nil {
				t.Fatal(err)
			}
			return r.Msg
		}
		for _, key := range []string{"ann", "1000"} {
			if r := recall(key); r.GetAccount().GetName() != "ann" || r.GetAccount().GetUid() != 1000 || !r.GetOwner() || r.GetTold() == 0 {
				t.Errorf("%s: %v", key, r)
			}
		}
		for _, key := range []string{"bob", "1", ""} {
			if r := recall(key); r.GetAccount() != nil || r.GetOwner() {
				t.Errorf("%s: %v", key, r)
			}
		}
		told := func() []*api.ForgottenAccount {
			t.Helper()
			r, err := b.Trust.News(b.asMom("hosta"), request(&api.NewsRequest{}, ""))
			if err != nil {
				t.Fatal(err)
			}
			return r.Msg.GetForgotten()
		}
		if all := told(); len(all) != 0 {
			t.Errorf("forgotten: %v", all)
		}
		time.Sleep(time.Second)
		at := time.Now().UnixNano()
		if _, err := b.Trust.ForgetAccount(b.boss(), request(&api.ForgetAccountRequest{User: "ann"}, "")); err != nil {
			t.Fatal(err)
		}
		if all := told(); len(all) != 1 || all[0].GetUser() != "ann" || all[0].GetAt() != at {
			t.Errorf("forgotten: %v, want ann at %d", all, at)
		}
		if r := recall("ann"); r.GetAccount() != nil || !r.GetOwner() {
			t.Errorf("ann of job %s, who is forgotten: %v", job, r)
		}
		time.Sleep(32 * 24 * time.Hour)
		if all := told(); len(all) != 0 {
			t.Errorf("forgotten for a month: %v", all)
		}
	})
}
