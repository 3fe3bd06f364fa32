package task

import (
	"errors"
	"syscall"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// errHost is in the chain of errors for which the host is at fault: it would fail any other job, too.
var errHost = errors.New("the host is at fault")

// A hostError is an error whose words say nothing of whose fault it is.
type hostError struct{ error }

// Unwrap returns the error, and whose fault it is.
func (e hostError) Unwrap() []error { return []error{e.error, errHost} }

// ofHost marks an error as the host's; nil stays nil.
func ofHost(err error) error {
	if err == nil {
		return nil
	}
	return hostError{err}
}

// hostAtFault reports whether a start that failed so fails any other job of this host, too: what the mom
// itself keeps cannot be written, or the host has no processes, memory or open files left. A folder of
// the owner's that is full is the owner's fault.
func hostAtFault(err error) bool {
	return errors.Is(err, errHost) || proc.Wanting(err) && !errors.Is(err, syscall.ENOSPC)
}

// fault names this host if it is at fault.
func (s *Site) fault(err error) pbs.HostName {
	if !hostAtFault(err) {
		return ""
	}
	return s.Host
}

// startFailed tells whose fault it is that System.Start has failed: the job's or the host's.
func startFailed(err error) error {
	_, own := errors.AsType[*proc.StartError](err)
	if own || errors.Is(err, proc.ErrFenced) {
		return err
	}
	return ofHost(err)
}

// hindered is called when the disk does not take what became of ev, or of a fact. A run whose program
// did not start, and will not, is then given back to the servers by word of mouth, for a sick disk must not
// hold it: it returns the event that ends the task when the disk is well. After a crash of the mom the
// servers are asked before such a run is begun, so the word holds (L2).
func (r *Runner) hindered(ev Event, why error) Event {
	if r.task.Sister() || !r.fresh {
		return ev
	}
	instead, back := mother{r.task}.givenBack(ev, Failed{Status: pbs.ExitRetry, Reason: why.Error(), Fault: r.site.Host})
	if !back {
		return ev
	}
	words := why.Error()
	if r.unstarted.CompareAndSwap(nil, &words) && r.site.GiveBack != nil {
		r.site.GiveBack()
	}
	return instead
}

// givenBack reports whether no program of the run has started, nor will, though ev cannot be saved, and the event
// to try again then: what has not failed yet fails.
func (t mother) givenBack(ev Event, failure Failed) (instead Event, back bool) {
	failed, over := ev.(Failed)
	_, staged := ev.(StagedIn)
	switch {
	case t.Life.Causes.has(Aborted):
		return nil, false
	case (t.State() == Accepted || t.State() == Joining) && (!t.Staging.underWay() || staged):
		switch ev.(type) {
		case Failed:
			return ev, true
		case Accept, Fetched, Joined, JoinFailed, StagedIn:
			return failure, true
		}
		return nil, false // what is under way may still go on to the program
	case t.State() == Starting && over && failed.Barred:
		return ev, true
	case t.State() == Delivering && t.Result.NeverStarted:
		_, barred := ev.(Delivered) // it comes when no shim can start any more
		return ev, barred || t.Life.Barred && !t.Reports.Told()
	}
	return ev, t.Result != nil && t.Result.NeverStarted && t.Life.Barred && !t.Reports.Told()
}

// Unstarted tells why the run is given back to the servers though no fact says so yet; empty: it is not.
func (r *Runner) Unstarted() string {
	if words := r.unstarted.Load(); words != nil {
		return *words
	}
	return ""
}
