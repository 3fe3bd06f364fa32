package service

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// A spreadJob is one that runs on two hosts, whose moms answer when they are told to.
type spreadJob struct {
	*bench
	id string
}

func newSpreadJob(t *testing.T) *spreadJob {
	w := newStartingJob(t)
	w.started()
	return w
}

// newStartingJob is one of which nobody knows yet that its program runs.
func newStartingJob(t *testing.T) *spreadJob {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.host("hostb", "hostb")
	w := &spreadJob{b, b.mustSubmit("ann@hosta", set("Resource_List.select", "2:ncpus=2"), set("Resource_List.place", "scatter"))}
	b.do(&command.StartJob{Job: pbs.JobID(w.id), ExecVnode: "(hosta:ncpus=2)+(hostb:ncpus=2)"})
	w.confirm()
	return w
}

func (w *spreadJob) started() {
	w.do(&command.JobStarted{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: pbs.JobID(w.id), RunCount: 1, Session: 7})
}

// open returns the kinds of the open orders of the mother superior.
func (w *spreadJob) open() (kinds []state.OrderKind) {
	for o := range w.store.View().Orders("hosta") {
		kinds = append(kinds, o.Kind)
	}
	return kinds
}

// confirm has her answer those that are open now.
func (w *spreadJob) confirm() {
	w.t.Helper()
	var ids []pbs.OrderID
	for o := range w.store.View().Orders("hosta") {
		ids = append(ids, o.ID)
	}
	for _, id := range ids {
		w.do(&command.OrderConfirmed{Host: "hosta", Order: id})
	}
}

// release and suspend ask as users do; the answer comes when it does.
func (w *spreadJob) release() <-chan error {
	return asked(func() error {
		_, err := w.Batch.ReleaseNodes(w.as("ann@hosta"), request(&api.ReleaseNodesRequest{Job: w.id, Vnodes: "hostb"}, ""))
		return err
	})
}

func (w *spreadJob) signal(name string) <-chan error {
	return asked(func() error {
		_, err := w.Batch.Signal(w.as("op@hosta"), request(&api.SignalRequest{Job: w.id, Signal: name}, ""))
		return err
	})
}

func asked(ask func() error) <-chan error {
	answer := make(chan error, 1)
	go func() { answer <- ask() }()
	synctest.Wait()
	return answer
}

// answered expects the code of an answer that is there, waits that there is none yet.
func (w *spreadJob) answered(answer <-chan error, want pbs.Code) {
	w.t.Helper()
	synctest.Wait()
	select {
	case err := <-answer:
		if pbs.CodeOf(err) != want {
			w.t.Errorf("answer %v, want code %d", err, want)
		}
	default:
		w.t.Error("no answer")
	}
}

func (w *spreadJob) waits(answer <-chan error) {
	w.t.Helper()
	synctest.Wait()
	select {
	case err := <-answer:
		w.t.Errorf("answered too early: %v", err)
	default:
	}
}

// looks expects what the job has, and whether it is suspended.
func (w *spreadJob) looks(execVnode string, suspended bool) {
	w.t.Helper()
	if j := w.job(w.id); j.LastRun().ExecVnode.String() != execVnode || j.Suspended() != suspended {
		w.t.Errorf("the job has %s, suspended %v; want %s, %v", j.LastRun().ExecVnode.String(), j.Suspended(), execVnode, suspended)
	}
}

// A suspension waits for the release that is under way, and then is of what is left.
func TestSuspend_WaitsForARelease(t *testing.T) {
	const both, one = "(hosta:ncpus=2)+(hostb:ncpus=2)", "(hosta:ncpus=2)"
	synctest.Test(t, func(t *testing.T) {
		w := newSpreadJob(t)
		release := w.release()
		suspension := w.signal(command.Suspend)
		w.waits(release)
		w.waits(suspension)
		if kinds := w.open(); len(kinds) != 1 || kinds[0] != state.OrderRelease {
			t.Fatalf("open orders of kinds %v", kinds)
		}
		w.confirm()
		w.answered(release, 0)
		w.waits(suspension)
		w.looks(one, false)
		w.confirm()
		w.answered(suspension, 0)
		w.looks(one, true)
	})
	synctest.Test(t, func(t *testing.T) { // the release comes to nothing
		w := newSpreadJob(t)
		release := w.release()
		suspension := w.signal(command.Suspend)
		w.do(&command.WithdrawRelease{Job: pbs.JobID(w.id), RunCount: 1, Number: 1})
		w.answered(release, pbs.NoMom)
		w.confirm()
		w.answered(suspension, 0)
		w.looks(both, true)
	})
	synctest.Test(t, func(t *testing.T) { // the job ends
		w := newSpreadJob(t)
		release := w.release()
		suspension := w.signal(command.Suspend)
		w.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: "s", Seq: 2}, Job: pbs.JobID(w.id), RunCount: 1})
		w.answered(release, pbs.BadState)
		synctest.Wait()
		if err := <-suspension; err == nil {
			t.Error("a job was suspended that has ended")
		}
	})
}

// bstop asks as LSF's command does.
func (w *spreadJob) bstop(who string) <-chan error {
	return asked(func() error {
		_, err := w.Batch.Signal(w.as(who), request(&api.SignalRequest{Job: w.id, Signal: command.Suspend, Lsf: true}, ""))
		return err
	})
}

// bstop of a job that is being started waits for its program; qsig -s suspend does not (specification: reservation section 10.5).
func TestSuspend_WaitsForTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newStartingJob(t)
		w.answered(w.bstop("ben@hosta"), pbs.Unauthorized)
		w.answered(w.signal(command.Suspend), pbs.BadState)
		stop := w.bstop("ann@hosta")
		w.waits(stop)
		w.started()
		w.waits(stop)
		w.confirm()
		w.answered(stop, 0)
		w.looks("(hosta:ncpus=2)+(hostb:ncpus=2)", true)
	})
	synctest.Test(t, func(t *testing.T) { // the start takes too long
		w := newStartingJob(t)
		stop := w.bstop("ann@hosta")
		time.Sleep(runsWithin - time.Second)
		w.waits(stop)
		time.Sleep(2 * time.Second)
		w.answered(stop, pbs.BadState)
	})
	synctest.Test(t, func(t *testing.T) { // it comes to nothing
		w := newStartingJob(t)
		stop := w.bstop("ann@hosta")
		w.do(&command.JobEnded{Source: command.Source{Host: "hosta", Spool: "s", Seq: 1}, Job: pbs.JobID(w.id), RunCount: 1})
		synctest.Wait()
		if err := <-stop; err == nil {
			t.Error("a job was suspended that has ended")
		}
	})
}

// Nothing is released of a job that is suspended, or about to be (specification: ramp-down section 4, row
// 13); when it was resumed it is as before.
func TestRelease_OfASuspendedJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const both, one = "(hosta:ncpus=2)+(hostb:ncpus=2)", "(hosta:ncpus=2)"
		w := newSpreadJob(t)
		suspension := w.signal(command.Suspend)
		w.answered(w.release(), pbs.BadState)
		w.confirm()
		w.answered(suspension, 0)
		w.looks(both, true)
		w.answered(w.release(), pbs.BadState)
		w.answered(w.signal(command.Resume), 0) // it waits for the scheduler
		w.do(&command.SignalJob{Job: pbs.JobID(w.id), Signal: command.Resume, Scheduled: true})
		w.confirm()
		w.looks(both, false)
		release := w.release()
		w.confirm()
		w.answered(release, 0)
		w.looks(one, false)
	})
}

// What is asked for in one moment is judged one after the other: the second waits for the first.
func TestRelease_InTheSameMoment(t *testing.T) {
	for _, second := range []struct {
		ask       func(w *spreadJob) <-chan error
		want      pbs.Code
		suspended bool
	}{
		{(*spreadJob).release, pbs.SystemError, false}, // it is not the job's any more
		{func(w *spreadJob) <-chan error { return w.signal(command.Suspend) }, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newSpreadJob(t)
			w.slow = time.Millisecond
			first, next := w.release(), second.ask(w)
			time.Sleep(time.Second)
			w.waits(first)
			w.waits(next)
			w.confirm()
			time.Sleep(time.Second)
			w.answered(first, 0)
			w.confirm()
			w.answered(next, second.want)
			w.looks("(hosta:ncpus=2)", second.suspended)
		})
	}
}
