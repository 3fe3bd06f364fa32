package service

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// checkpointable returns a bench with a job that runs, and its id.
func checkpointable(t *testing.T) (*bench, pbs.JobID) {
	b := newBench(t)
	b.host("hosta", "hosta")
	id := pbs.JobID(b.mustSubmit("ann@h"))
	b.do(&command.StartJob{Job: id, ExecVnode: "(hosta:ncpus=1)"})
	b.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: id, RunCount: 1, Session: 7})
	return b, id
}

func (b *bench) notCheckpointed(id pbs.JobID) {
	b.do(&command.CheckpointFailed{Source: command.Source{Host: "hosta", Spool: "s", Seq: 2}, Job: id, RunCount: 1, Reason: "no"})
}

// holdLater asks a leader for a hold, under the id of a request; what it is answered comes by the channel.
func (b *bench) holdLater(at *Batch, job pbs.JobID, types string, id pbs.RequestID) <-chan error {
	out := make(chan error, 1)
	go func() {
		ctx, cancel := transport.WithBudget(b.as("ann@h"), 30*time.Second)
		defer cancel()
		_, err := at.Hold(ctx, request(&api.HoldRequest{Job: string(job), Holds: types}, id))
		out <- err
	}()
	synctest.Wait()
	return out
}

// next returns the services of a leader that comes after.
func (b *bench) next() Services {
	return New(Config{
		Replica: b, Accounts: accounts{}, Logins: b, Ledger: b, Leases: func() Leases { return b },
		Log: b, Logger: slog.New(slog.DiscardHandler),
	})
}

func unanswered(t *testing.T, what string, answer <-chan error) {
	t.Helper()
	select {
	case err := <-answer:
		t.Fatalf("%s: answered %v", what, err)
	default:
	}
}

// A hold of a job that is being checkpointed is taken back only where nobody was told that it is set (L1): though
// the checkpoint takes long, the leader is another one, or somebody else has asked for it.
func TestHold_OfWhatIsBeingCheckpointed(t *testing.T) {
	for name, c := range map[string]struct {
		ask func(t *testing.T, b *bench, id pbs.JobID) // and whether it was acknowledged
		end func(b *bench, id pbs.JobID)
		set bool
	}{
		"it fails while qhold waits": {
			func(t *testing.T, b *bench, id pbs.JobID) {
				answer := b.holdLater(b.Batch, id, "u", "")
				b.notCheckpointed(id)
				if err := <-answer; pbs.CodeOf(err) != pbs.SystemError {
					t.Errorf("answered %v", err)
				}
			}, nil, false,
		},
		"it takes longer than qhold waits": {
			func(t *testing.T, b *bench, id pbs.JobID) {
				answer := b.holdLater(b.Batch, id, "u", "")
				time.Sleep(checkpointWithin - time.Second)
				synctest.Wait()
				unanswered(t, "before it has waited", answer)
				if err := <-answer; err != nil {
					t.Error(err)
				}
			}, (*bench).notCheckpointed, true,
		},
		"somebody else has asked": {
			func(t *testing.T, b *bench, id pbs.JobID) {
				first := b.holdLater(b.Batch, id, "u", "")
				if err := <-b.holdLater(b.Batch, id, "u", ""); err != nil {
					t.Error(err)
				}
				b.notCheckpointed(id)
				if err := <-first; err != nil {
					t.Errorf("it is set: %v", err)
				}
			}, nil, true,
		},
		"the next leader is asked again": {
			func(t *testing.T, b *bench, id pbs.JobID) {
				same := transport.NewRequestID()
				ctx, dies := context.WithCancel(b.as("ann@h"))
				lost := make(chan error, 1)
				go func() {
					_, err := b.Batch.Hold(ctx, request(&api.HoldRequest{Job: string(id), Holds: "u"}, same))
					lost <- err
				}()
				synctest.Wait()
				dies()
				if err := <-lost; !errors.Is(err, cluster.ErrOutcomeUnknown) {
					t.Errorf("the leader that dies says %v", err)
				}
				again := b.holdLater(b.next().Batch, id, "u", same)
				unanswered(t, "while it is made", again)
				b.notCheckpointed(id)
				if err := <-again; pbs.CodeOf(err) != pbs.SystemError {
					t.Errorf("answered %v", err)
				}
			}, nil, false,
		},
		"the next leader's qhold waits too long": {
			func(t *testing.T, b *bench, id pbs.JobID) {
				same := transport.NewRequestID()
				_ = b.holdLater(b.Batch, id, "u", same)
				if err := <-b.holdLater(b.next().Batch, id, "u", same); err != nil {
					t.Error(err)
				}
			}, (*bench).notCheckpointed, true,
		},
		"it was set before": {
			func(t *testing.T, b *bench, id pbs.JobID) {
				b.do(&command.HoldJob{Job: id, Holds: pbs.HoldUser})
				answer := b.holdLater(b.Batch, id, "u", "")
				unanswered(t, "while it is made", answer)
				b.notCheckpointed(id)
				if err := <-answer; err != nil {
					t.Error(err)
				}
			}, nil, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, id := checkpointable(t)
				c.ask(t, b, id)
				if c.end != nil {
					c.end(b, id)
				}
				if j := b.job(string(id)); j.LastRun().Checkpointing() || (j.Holds == pbs.HoldUser) != c.set {
					t.Errorf("held %s, %+v", j.Holds, j.Checkpoint)
				}
			})
		})
	}
}

// Each hold of qalter -h is for those who may set it by qhold, and one that they may not release stays.
func TestAlter_HoldTypes(t *testing.T) {
	b := newBench(t)
	id := b.mustSubmit("ann@hosta")
	alter := func(who, value string, want pbs.Code, left string) {
		t.Helper()
		_, err := b.Batch.Alter(b.as(who), request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{set("Hold_Types", value)}}, ""))
		if pbs.CodeOf(err) != want {
			t.Errorf("%s sets %q: %v", who, value, err)
		}
		if got := b.job(id).Holds.String(); got != left {
			t.Errorf("after %q by %s the job is held by %s, want %s", value, who, got, left)
		}
	}
	alter("ann@hosta", "s", pbs.Unauthorized, "n")
	alter("ann@hosta", "uo", pbs.Unauthorized, "n")
	alter("ann@hosta", "u", 0, "u")
	alter("op@hosta", "s", pbs.Unauthorized, "u")
	alter("op@hosta", "o", 0, "o")
	alter("ann@hosta", "n", 0, "o")
	alter("boss@hosta", "os", 0, "os")
	alter("ann@hosta", "u", 0, "uos")
	alter("ann@hosta", "", 0, "os")
	alter("op@hosta", "n", 0, "s")
	alter("boss@hosta", "n", 0, "n")
}
