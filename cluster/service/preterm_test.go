package service

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// pretermBench has a hook of execjob_preterm, and jobs that run.
func pretermBench(t *testing.T) *bench {
	b, _ := hookedBench(t, "execjob_preterm", nil)
	b.host("hosta", "hosta")
	return b
}

func (b *bench) starts(id string) {
	b.do(&command.StartJob{Job: pbs.JobID(id), ExecVnode: "(hosta:ncpus=1)"})
}

// keep is the word of the hooks on the mom that a run goes on.
func (b *bench) keep(seq uint64, why string, ids ...string) {
	c := &command.HookWishes{Source: command.Source{Host: "hosta", Spool: "s", Seq: seq}, Hook: "h1", Why: why}
	for _, id := range ids {
		c.Kept = append(c.Kept, command.ReportedTask{Job: pbs.JobID(id), RunCount: 1})
	}
	b.do(c)
}

func (b *bench) ended(seq uint64, id string) {
	b.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: "s", Seq: seq}, Job: pbs.JobID(id), RunCount: 1, ExitStatus: 271})
}

// deleteLater asks for a deletion; what it is answered comes by the channel.
func (b *bench) deleteLater(job string, id pbs.RequestID) <-chan error {
	out := make(chan error, 1)
	go func() {
		ctx, cancel := transport.WithBudget(b.as("ann@h"), 5*time.Second)
		defer cancel()
		_, err := b.Batch.Delete(ctx, request(&api.DeleteRequest{Job: job}, id))
		out <- err
	}()
	synctest.Wait()
	return out
}

func waits(t *testing.T, what string, answer <-chan error) {
	t.Helper()
	time.Sleep(20 * time.Second) // more than the budget, which stands still
	synctest.Wait()
	select {
	case err := <-answer:
		t.Fatalf("%s: answered %v before the hooks have", what, err)
	default:
	}
}

// A deletion is answered when the hooks on the mom have: with the end of the job, or their words.
func TestPreterm_DeletionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pretermBench(t)
		gone, stays := b.mustSubmit("ann@h"), b.mustSubmit("ann@h")
		b.starts(gone)
		b.starts(stays)
		id := transport.NewRequestID()
		one, two := b.deleteLater(gone, ""), b.deleteLater(stays, id)
		waits(t, "an end", one)
		waits(t, "a refusal", two)
		b.ended(1, gone)
		b.keep(2, "not now", stays)
		if err := <-one; err != nil {
			t.Errorf("it has ended: %v", err)
		}
		if err := <-two; pbs.CodeOf(err) != pbs.HookError || err.Error() != "not now" {
			t.Errorf("it is kept: %v", err)
		}
		if err := <-b.deleteLater(stays, id); pbs.CodeOf(err) != pbs.HookError {
			t.Errorf("the same request again, as at the next leader: %v", err)
		}
		late, began := b.deleteLater(stays, ""), time.Now()
		if err := <-late; err != nil || time.Since(began) != 45*time.Second {
			t.Errorf("a mom that does not answer: %v after %s", err, time.Since(began))
		}
	})
}

// The repeat of a deletion that is under way waits, too: its first leader may have died.
func TestPreterm_RepeatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pretermBench(t)
		id, job := transport.NewRequestID(), b.mustSubmit("ann@h")
		b.starts(job)
		b.do(&command.DeleteJob{Job: pbs.JobID(job)})
		again := b.deleteLater(job, id)
		waits(t, "a deletion again", again)
		b.keep(1, "no", job)
		if err := <-again; pbs.CodeOf(err) != pbs.HookError {
			t.Errorf("%v", err)
		}
	})
}

// An array, and a range of subjobs, are answered when the hooks have answered for all of them.
func TestPreterm_Subjobs(t *testing.T) {
	for _, c := range []struct {
		what, range_ string
		kept         []int
		want         string
	}{
		{"the array", "", nil, ""},
		{"the array, some kept", "", []int{1, 3}, "[1].srv: busy; [3].srv: busy"},
		{"a range", "2-3", []int{3}, "[3].srv: busy"},
		{"one", "2", []int{2}, "busy"},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := pretermBench(t)
				array := b.mustSubmit("ann@h", set("array_indices_submitted", "1-3"))
				number, server, _ := strings.Cut(array, "[].")
				sub := func(i int) string { return number + "[" + string(rune('0'+i)) + "]." + server }
				for i := range 3 {
					b.starts(sub(i + 1))
				}
				answer := b.deleteLater(number+"["+c.range_+"]."+server, "")
				waits(t, c.what, answer)
				seq := uint64(0)
				for i := 1; i <= 3; i++ {
					synctest.Wait()
					if len(answer) > 0 && i == 2 && c.range_ == "" {
						t.Error("answered before the hooks have for all")
					}
					if seq++; slices.Contains(c.kept, i) {
						b.keep(seq, "busy", sub(i))
					} else if c.range_ == "" || strings.Contains(c.range_, string(rune('0'+i))) {
						b.ended(seq, sub(i))
					} else {
						seq--
					}
				}
				err := <-answer
				if c.want == "" && err == nil {
					return
				}
				if err == nil || strings.ReplaceAll(err.Error(), number, "") != c.want {
					t.Errorf("answered %v, want %q", err, c.want)
				}
			})
		})
	}
}

// What a hook wants of vnodes that has run as the owner of a job counts if that is a Manager or an
// Operator (specification: hooks section 5).
func TestBoundOwners(t *testing.T) {
	b := newBench(t)
	mine, theirs := b.mustSubmit("ann@h"), b.mustSubmit("boss@h")
	for _, c := range []struct {
		what string
		run  *command.ReportedTask
		want bool
	}{
		{"a job of a user", &command.ReportedTask{Job: pbs.JobID(mine), RunCount: 1}, false},
		{"a job of a manager", &command.ReportedTask{Job: pbs.JobID(theirs), RunCount: 1}, true},
		{"a job that is gone", &command.ReportedTask{Job: "99.srv", RunCount: 1}, false},
		{"no job", nil, false},
	} {
		w := &command.HookWishes{Hook: "h1", Run: c.run, Vnodes: []command.HookVnode{{Name: "hosta", Set: attr.List{}.Set("comment", "", "x")}}}
		if err := b.Report.boundOwners(b.asMom("hosta"), w); err != nil || (len(w.Vnodes) > 0) != c.want {
			t.Errorf("%s: %v, %v", c.what, w.Vnodes, err)
		}
	}
}
