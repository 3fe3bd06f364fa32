package task

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/mom/proc"
)

// What a task does not take any more is
// not offered to it again and again: nobody waits for an answer, and it never will be taken.
func TestRunner_ForgetsWhatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := stageSite(t)
		var log bytes.Buffer
		s.Lines, s.Logger = new(notes), slog.New(slog.NewTextHandler(&log, nil))
		r := NewRunner(s, in(Ended, told))
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx, Told{})
		r.mail <- letter{event: Signal{Name: "TERM"}}
		time.Sleep(time.Hour)
		cancel()
		<-r.Done()
		if n := strings.Count(log.String(), "signal of a task that is ended"); n != 1 {
			t.Errorf("the log has it %d times", n)
		}
	})
}

// A task whose folder somebody has removed still comes to its end, and the servers hear of it.
func TestRunner_EndsWithoutItsFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, task := stageSite(t)
		s.Lines = new(notes)
		task.Life.State, task.Reports, task.Life.Barred = Running, StartTold, true
		r := NewRunner(s, task)
		if err := os.RemoveAll(s.Spool.TaskDir(task.Key)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx, Exited{Exit: proc.Exit{Status: 3}})
		bounded, end := context.WithTimeout(ctx, time.Hour)
		defer end()
		if last, err := r.Await(bounded, func(t Task) bool { return t.Reports.Told() }); err != nil {
			t.Errorf("it is %s, %v", last.State(), err)
		}
		if err := r.Tell(ctx, Forget{}); err != nil {
			t.Error(err)
		}
		<-r.Done()
		cancel()
		if exists(s.Spool.TaskDir(task.Key)) {
			t.Error("the folder of a task that was dropped is there")
		}
	})
}
