package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"sync"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

const (
	// foldersFor bounds making the folders of a job, and the wait for those of an earlier run
	// of it to be removed: they may be on a file system that hangs.
	foldersFor = time.Minute
	// sweepFor bounds the removal of files that were staged in for nothing.
	sweepFor = 10 * time.Second
)

// cleaning is what is being removed, by job: the folders of its next run have the same names.
type cleaning struct {
	mu   sync.Mutex
	jobs map[pbs.JobID]chan struct{} // closed when all of it is gone
}

// begin notes one more removal; done ends it.
func (c *cleaning) begin(job pbs.JobID) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, own := c.jobs[job], make(chan struct{})
	if c.jobs == nil {
		c.jobs = make(map[pbs.JobID]chan struct{})
	}
	c.jobs[job] = own
	return func() {
		if before != nil {
			<-before
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		close(own)
		if c.jobs[job] == own {
			delete(c.jobs, job)
		}
	}
}

// wait returns when nothing of the job is being removed.
func (c *cleaning) wait(ctx context.Context, job pbs.JobID) error {
	c.mu.Lock()
	own := c.jobs[job]
	c.mu.Unlock()
	if own == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, foldersFor)
	defer cancel()
	select {
	case <-own:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the folders of an earlier run are still being removed: %w", ctx.Err())
	}
}

// folders makes what the job's program begins in.
func (s *Site) folders(ctx context.Context, t Task, a Account) error {
	if err := s.makeTmpDir(ctx, t, a); err != nil {
		return err
	}
	return soon(ctx, func() error { return s.makeJobDir(t, a) })
}

func (s *Site) makeTmpDir(ctx context.Context, t Task, a Account) error {
	err := s.cleaning.wait(ctx, t.Key.Job)
	if err == nil {
		err = soon(ctx, func() error { return s.ownTmpDir(t, a) })
	}
	if err != nil {
		return fmt.Errorf("make TMPDIR: %w", err)
	}
	return nil
}

// ownTmpDir makes the folder with the rights of the job's owner, as a file server sees them. What
// somebody else has put there beforehand must not keep the job from starting.
func (s *Site) ownTmpDir(t Task, a Account) error {
	err := s.System.MakeDir(s.owner(a), s.tmpDir(t))
	if _, occupied := errors.AsType[*proc.Occupied](err); !occupied {
		return err
	}
	return s.takePlace(t, a, s.tmpDir(t))
}

// takePlace makes a folder of the owner's where the mom may put aside what stands there, and
// tells whose that was.
func (s *Site) takePlace(t Task, a Account, dir string) error {
	aside, err := proc.MakeDirFor(s.owner(a), dir)
	if err != nil || aside == "" {
		return err
	}
	s.Lines.Job(pbs.LogError|pbs.LogSecurity, t.Key.Job, fmt.Sprintf("%s was taken by %s before the job started; what stood there is %s now", dir, whose(aside), aside))
	return nil
}

// whose names the owner of a file as far as this host knows him without asking anybody.
func whose(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "somebody who has removed it since"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "an unknown user"
	}
	uid := strconv.FormatUint(uint64(st.Uid), 10)
	if u, err := user.LookupId(uid); err == nil {
		return fmt.Sprintf("user %s (uid %s)", u.Username, uid)
	}
	return "uid " + uid
}

// clean removes what only a running job needs, and closes what it returns then. Nobody waits for
// that without a bound: a file system that hangs leaves a goroutine behind, and not a mom that obeys
// no order.
func (s *Site) clean(ctx context.Context, t Task) <-chan struct{} {
	gone := make(chan struct{})
	switch t.leftBehind() {
	case PartGoesOn:
		close(gone)
		return gone
	case PartNone: // the job was deleted, or lost, all the same
		if err := s.Spool.DropCheckpoint(t.Key.Job); err != nil {
			s.Logger.Warn("checkpoint not removed", "job", t.Key.Job, "err", err)
		}
	}
	done := s.cleaning.begin(t.Key.Job)
	go func() {
		defer close(gone)
		defer done()
		s.remove(context.WithoutCancel(ctx), t)
	}()
	return gone
}

func (s *Site) remove(ctx context.Context, t Task) {
	a, err := s.account(ctx, t)
	if err == nil {
		err = errors.Join(s.System.RemoveDir(s.owner(a), s.tmpDir(t)), s.removeJobDir(t, a))
	}
	if err != nil && !errors.Is(err, ErrNoAccount) {
		s.Logger.Warn("folders of the job not removed", "job", t.Key.Job, "err", err)
	}
	if err := os.Remove(s.Spool.NodeFile(t.Key.Job)); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Logger.Warn("node file not removed", "job", t.Key.Job, "err", err)
	}
}

// soon calls what may hang with a file system, and does not wait for it for ever.
func soon(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, foldersFor)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
