package hook

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// asked answers in virtual time.
type asked struct{}

func (asked) Objects(_ context.Context, _, name string, yield func(Object) error) error {
	<-time.After(time.Minute)
	return yield(Object{Name: name})
}

// In a bubble scripts run, ask and log without holding up its clock afterwards, and while they run it stands.
func TestElsewhere_InABubble(t *testing.T) {
	if _, err := FindPython(""); err != nil {
		t.Skip(err)
	}
	dir, e := t.TempDir(), NewElsewhere(nil)
	defer e.Close()
	synctest.Test(t, func(t *testing.T) {
		r := NewRuntime(Options{Dir: dir, Logger: slog.New(slog.DiscardHandler), Elsewhere: e})
		if err := r.Compile(t.Context(), "h", []byte("import pbs\n(")); err == nil {
			t.Error("a script that cannot be read was compiled")
		}
		var logged []time.Time
		run := Run{
			Hook: Hook{Name: "h"}, Event: queue(),
			Script: []byte("import pbs, time\ntime.sleep(0.1)\npbs.logmsg(pbs.LOG_DEBUG, pbs.server().job('7.srv').id or '')\n"),
			Dir:    dir, Source: asked{}, Log: func(Line) { logged = append(logged, time.Now()) },
		}
		begun := time.Now()
		for range 2 {
			answer, err := r.Do(t.Context(), run)
			if err != nil || !answer.Accept {
				t.Fatalf("%+v, %v", answer, err)
			}
		}
		if took := time.Since(begun); took != 2*(time.Minute+run.turn()) || len(logged) != 2 || !logged[1].Equal(time.Now()) {
			t.Errorf("%s of virtual time, logged at %v", took, logged)
		}
		<-time.After(time.Hour)
		s := r.Session()
		if answer, err := s.Do(t.Context(), run); err != nil || !answer.Accept {
			t.Errorf("session: %+v, %v", answer, err)
		}
		<-time.After(time.Hour)
		s.Close()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}
