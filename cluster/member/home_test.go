package member

import (
	"errors"
	"testing"
	"time"
)

// The replica of the server's name leads again when it has been well for a while after it was away, not when it only follows.
func TestHome(t *testing.T) {
	for name, c := range map[string]struct {
		looks func(second int, a *Answer) // what the leader sees of s1
		due   int                         // second; -1: never
	}{
		"never away": {func(int, *Answer) {}, -1},
		"away at first": {func(s int, a *Answer) {
			if s < 5 {
				a.Err = errors.New("no answer")
			}
		}, 15},
		"handed over, then stopped": {func(s int, a *Answer) {
			if s == 3 || s == 4 {
				a.Err = errors.New("no answer")
			}
		}, 15},
		"started anew between two looks": {func(s int, a *Answer) {
			if a.Status.Self.Start = "one"; s >= 7 {
				a.Status.Self.Start = "two"
			}
		}, 17},
		"away, then behind for long": {func(s int, a *Answer) {
			switch {
			case s < 2:
				a.Err = errors.New("no answer")
			case s < 20:
				a.Status.Applied = 10
			}
		}, 30},
		"comes and goes": {func(s int, a *Answer) {
			if s%8 == 0 {
				a.Err = errors.New("no answer")
			}
		}, -1},
		"with an alarm": {func(s int, a *Answer) {
			if s == 0 {
				a.Err = errors.New("no answer")
			}
			a.Status.Alarms = []Alarm{{Kind: AlarmFull}}
		}, -1},
		"no voter": {func(s int, a *Answer) {
			if s == 0 {
				a.Err = errors.New("no answer")
			}
			a.Server.Suffrage = 1
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			var h Home
			began, due, again := time.Now(), -1, 0
			for s := range 60 {
				all := voters("ok ok ok")
				all[0].Status.Self.Start = "one"
				c.looks(s, &all[0])
				if !h.Due(all, "s2.disk", "s1", 1000, began.Add(time.Duration(s)*time.Second)) {
					continue
				}
				if again++; due < 0 {
					due = s
				}
			}
			if due != c.due || due >= 0 && again < 2 {
				t.Errorf("it leads again after %d s, want %d; where that fails it is tried %d times", due, c.due, again)
			}
		})
	}
}
