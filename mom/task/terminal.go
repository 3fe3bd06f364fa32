package task

import (
	"errors"
	"net"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// interactive reports whether somebody works in the job at a terminal.
func (o Order) interactive() bool { return o.Attrs.Get("interactive") == "True" }

// Attach connects to the terminal of a running job; what goes both ways are frames
// (proc.Frame). BadState is the refusal of a job that has none, or has ended.
func (r *Runner) Attach() (net.Conn, error) {
	t := r.Task()
	if !t.interactive() {
		return nil, pbs.Errorf(pbs.BadState, "job %s has no terminal", t.Key.Job)
	}
	if t.State() > Ending {
		return nil, pbs.Errorf(pbs.BadState, "job %s has ended", t.Key.Job)
	}
	return r.site.System.Attach(r.site.Spool.TaskDir(t.Key))
}

// tell shows text at the job's terminal, besides its output.
func (o *output) tell(t Task, text string) error {
	c, err := o.system.Attach(o.spool.TaskDir(t.Key))
	if errors.Is(err, proc.ErrNoTerminal) {
		return nil // nobody looks any more
	}
	if err != nil {
		return err
	}
	err = proc.WriteFrame(c, proc.Frame{Kind: proc.FrameNotice, Data: []byte(text + "\r\n")})
	return errors.Join(err, c.Close())
}
