package mom

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/directory"
	"rampart/transport/known"
)

// silent is a host whose directory of users does not answer, and whose replicas have joe on record.
func silent(t *testing.T, told time.Time) (*accounts, *directory.Directory, *atomic.Bool) {
	away := new(atomic.Bool) // the replicas
	a := newAccounts(func(ctx context.Context, user string) (*api.RecallAccountReply, error) {
		if away.Load() {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if user != "joe" && user != "1000" {
			return &api.RecallAccountReply{}, nil
		}
		return &api.RecallAccountReply{
			Account: &api.Account{Name: "joe", Uid: 1000, Gid: 100, Home: "/home/joe", Groups: []string{"users"}, Gids: []uint32{100}},
			Told:    told.UnixNano(), Owner: true,
		}, nil
	})
	d := directory.New(directory.Options{
		Run: func(ctx context.Context, _ string, _ ...string) ([]byte, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		Etc:    fstest.MapFS{"passwd": {}, "group": {}},
		Recall: a.recall, Owns: a.owns, Forgotten: a.forgottenAt,
	})
	t.Cleanup(func() {
		a.close()
		d.Close()
	})
	return a, d, away
}

// TestAccounts_KnowsWhatTheReplicasKnow: a daemon that was just started serves an owner of jobs
// though its directory hangs, as long as a replica does, and goes on when the replicas are gone.
func TestAccounts_KnowsWhatTheReplicasKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, d, away := silent(t, time.Now().Add(-20*known.Day))
		if j, err := d.ByUID(t.Context(), 1000); err != nil || j.Name != "joe" || j.Home != "/home/joe" || j.Group != "users" {
			t.Errorf("an owner of jobs: %+v, %v", j, err)
		}
		if _, err := d.ByName(t.Context(), "ann"); pbs.CodeOf(err) != pbs.NoDirectory {
			t.Errorf("somebody who is not on record: %v", err)
		}
		away.Store(true)
		time.Sleep(5 * known.Day)
		if j, err := d.ByUID(t.Context(), 1000); err != nil || j.Name != "joe" {
			t.Errorf("after days without replicas: %+v, %v", j, err)
		}
		begun := time.Now()
		_, err := d.ByName(t.Context(), "bob")
		if took := time.Since(begun); pbs.CodeOf(err) != pbs.NoDirectory || took > 2*time.Second {
			t.Errorf("a stranger: %v after %v", err, took)
		}
		time.Sleep(6 * known.Day)
		if _, err := d.ByUID(t.Context(), 1000); pbs.CodeOf(err) != pbs.NoDirectory {
			t.Errorf("after a month: %v", err)
		}
	})
}

// TestAccounts_Forgets: who is forgotten is refused until the directory answers, however the
// clocks differ; what was told since then counts.
func TestAccounts_Forgets(t *testing.T) {
	for name, fast := range map[string]time.Duration{"same clocks": 0, "replicas behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, d, _ := silent(t, time.Now())
				if a.forget(nil); errors.Is(lookUp(t, d), errRefused) {
					t.Error("refused before")
				}
				time.Sleep(time.Minute)
				news := []*api.ForgottenAccount{{User: "joe", At: time.Now().Add(fast).UnixNano()}}
				a.forget(news)
				if !errors.Is(lookUp(t, d), errRefused) {
					t.Error("not refused")
				}
				a.forget(nil)
				if errors.Is(lookUp(t, d), errRefused) {
					t.Error("refused for good")
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		a, d, _ := silent(t, time.Now())
		a.forget([]*api.ForgottenAccount{{User: "joe", At: time.Now().Add(-time.Hour).UnixNano()}})
		if errors.Is(lookUp(t, d), errRefused) {
			t.Error("what the directory has told since he was forgotten does not count")
		}
	})
}

var errRefused = errors.New("refused")

func lookUp(t *testing.T, d *directory.Directory) error {
	t.Helper()
	_, err := d.ByUID(t.Context(), 1000)
	if pbs.CodeOf(err) == pbs.NoDirectory {
		return errRefused
	}
	if err != nil {
		t.Error(err)
	}
	return nil
}
