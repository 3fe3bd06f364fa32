package task

import (
	"cmp"
	"errors"
	"fmt"

	"rampart/fsm/pbs"
)

// ErrHook is the error of a start that a hook has refused; ErrHookRerun and ErrHookDelete are those
// of hooks that say what is to become of the job.
var (
	ErrHook       = errors.New("a hook has refused the start")
	ErrHookRerun  = fmt.Errorf("%w", ErrHook)
	ErrHookDelete = fmt.Errorf("%w", ErrHook)
)

// hookCode returns the failure of a start as the log calls it; 0: a hook says nothing of it.
func hookCode(err error) int {
	switch {
	case errors.Is(err, ErrHookRerun):
		return pbs.ExitHookRerun
	case errors.Is(err, ErrHookDelete):
		return pbs.ExitHookDelete
	}
	return 0
}

// notStarted returns what the log says of a start that has failed by itself; empty: it has not.
func notStarted(before, after Task, ev Event) string {
	if before.Sister() || before.Result != nil || after.Result == nil || before.Life.Kill.there() || before.Life.forced() {
		return ""
	}
	status, code := pbs.ExitRetry, 0
	switch ev := ev.(type) {
	case Failed:
		status, code = ev.Status, ev.Code
	case JoinFailed:
		status, code = cmp.Or(ev.Status, pbs.ExitRetry), ev.Code
		if status == pbs.ExitJoin {
			status = pbs.ExitRetry // the log has PBS's word for any failed start
		}
	default:
		return ""
	}
	if code != 0 {
		status = code
	}
	if status == pbs.ExitRetry {
		return fmt.Sprintf("job not started, Retry %d", status)
	}
	return fmt.Sprintf("job not started, Failure %d", status)
}
