package task

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"rampart/mom/proc"
)

// hanging is a host on which folders hang until they are let go.
type hanging struct {
	*proc.Fake
	released chan struct{}
}

func (h hanging) RemoveDir(*proc.Owner, string) error { <-h.released; return nil }

func (h hanging) MakeDir(*proc.Owner, string) error { <-h.released; return nil }

// The folder of an ended job that cannot be removed, for its file system hangs, holds up no order
// for the job, nor the end of the mom. Its next run waits, and leaves it be in the end.
func TestRunner_FolderThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, task := stageSite(t)
		with("exec_vnode", "(hosta:ncpus=1)")(&task)
		with("exec_host", "hosta/0")(&task)
		host := hanging{proc.NewFake(nil), make(chan struct{})}
		s.System = host
		task.Life.State, task.Reports = Ended, EndTold
		r := NewRunner(s, task)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.Run(ctx, Resume{BootID: "boot", Adopt: true})
		synctest.Wait()
		bounded, done := context.WithTimeout(ctx, time.Minute)
		defer done()
		if err := r.Tell(bounded, Forget{}); err != nil {
			t.Errorf("forget: %v", err)
		}
		select {
		case <-r.Done():
		case <-time.After(time.Minute):
			t.Error("the task is not over")
		}
		began := time.Now()
		if _, _, _, err := NewRunner(s, task).prepare(ctx, ctx, task); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > foldersFor {
			t.Errorf("the next run after %s: %v", time.Since(began), err)
		}
		close(host.released)
	})
}

// What the run before leaves is removed before the next one begins: its folders and its node file
// have the same names.
func TestRunner_NextRunKeepsItsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, task := stageSite(t)
		with("exec_vnode", "(hosta:ncpus=1)")(&task)
		with("exec_host", "hosta/0")(&task)
		host := hanging{proc.NewFake(nil), make(chan struct{})}
		s.System = host
		s.folders().clean(t.Context(), task)
		go func() {
			time.Sleep(5 * time.Second)
			close(host.released)
		}()
		if _, _, _, err := NewRunner(s, task).prepare(t.Context(), t.Context(), task); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := os.Stat(s.Spool.NodeFile(task.Key.Job)); err != nil {
			t.Errorf("the run before has taken the node file: %v", err)
		}
	})
}
