package sim

import (
	"errors"
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// ErrInterrupted ends a scenario that somebody has had enough of.
var ErrInterrupted = errors.New("interrupted")

// duration reads seconds, 0.4 too, or [[HH:]MM:]SS, or a number of days such as 3d.
func duration(text string) (time.Duration, error) {
	if whole, part, ok := strings.Cut(text, "."); ok && onlyDigits(whole) && onlyDigits(part) {
		return time.ParseDuration(text + "s")
	}
	unit := time.Second
	digits, days := strings.CutSuffix(text, "d")
	if days {
		unit = 24 * time.Hour
	}
	q, err := resource.Parse(resource.Time, digits)
	if err != nil || strings.HasPrefix(digits, "-") || q.Int() > int64(mostTime/unit) {
		return 0, fmt.Errorf("%q is no time: want seconds, [[HH:]MM:]SS, or a number of days such as 3d", text)
	}
	return time.Duration(q.Int()) * unit, nil
}

func onlyDigits(text string) bool {
	return text != "" && len(text) < 10 && strings.Trim(text, "0123456789") == ""
}

// mostTime bounds what is waited for.
const mostTime = 100 * 365 * 24 * time.Hour

// goal reads where time goes on to: +DURATION, hh:mm:ss of this day, or YYYY-MM-DDThh:mm:ss. Of a time that comes twice, for the
// clocks go back between, it is the next one.
func goal(text string, now time.Time) (time.Time, error) {
	if rest, ok := strings.CutPrefix(text, "+"); ok {
		d, err := duration(rest)
		return now.Add(d), err
	}
	if t, err := time.ParseInLocation(moment, text, now.Location()); err == nil {
		return again(t, now), nil
	}
	t, err := time.Parse("15:04:05", text)
	if err != nil {
		return t, fmt.Errorf("%q is no time: want +SECONDS, hh:mm:ss or YYYY-MM-DDThh:mm:ss", text)
	}
	return again(time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location()), now), nil
}

// again returns the next moment after now that the clock shows as t; t if there is one only.
func again(t, now time.Time) time.Time {
	last := t
	for _, shift := range []time.Duration{-time.Hour, -30 * time.Minute, 0, 30 * time.Minute, time.Hour} { // by which clocks are put back
		if one := t.Add(shift); one.Format(moment) == t.Format(moment) {
			if last = one; one.After(now) {
				return one
			}
		}
	}
	return last
}

// now returns the time of the cluster, in its zone.
func (r *run) now() time.Time { return time.Now().In(r.s.begin.Location()) }

// stride is how far time goes before somebody may interrupt.
const stride = time.Minute

// until lets virtual time go on to a moment, and everything be done that is due then.
func (r *run) until(t time.Time) error {
	for left := time.Until(t); left > 0; left = time.Until(t) {
		if r.o.Interrupted() {
			return ErrInterrupted
		}
		<-time.After(min(left, stride))
	}
	synctest.Wait()
	return nil
}

// at is at TIME.
func (r *run) at(_ step, words []string) error {
	now := r.now()
	t, err := goal(words[0], now)
	switch {
	case err != nil:
		return err
	case t.Before(now.Truncate(time.Second)):
		return fmt.Errorf("%s is past: it is %s", words[0], now.Format(moment))
	}
	r.since = now
	return r.until(t)
}

// quiet is how long nothing happens before a cluster has settled.
const quiet = 20 * time.Second

// settleFor is how long settle waits unless it is told.
const settleFor = 7 * 24 * time.Hour

// settle is settle [DURATION]: time goes on until nothing is due.
func (r *run) settle(_ step, words []string) error {
	limit := settleFor
	if len(words) > 0 {
		var err error
		if limit, err = duration(words[0]); err != nil {
			return err
		}
	}
	begun, calm := r.now(), r.now()
	r.since = begun
	last := ""
	for {
		due, seen := r.due()
		if seen != last || due != "" {
			last, calm = seen, r.now()
		}
		if time.Since(calm) >= quiet {
			synctest.Wait()
			return nil
		}
		if time.Since(begun) >= limit {
			if due == "" {
				due = "the states of jobs and vnodes go on changing"
			}
			return &failure{wanted: fmt.Sprintf("nothing to be due within %s", limit), got: due}
		}
		if err := r.until(time.Now().Add(time.Second)); err != nil {
			return err
		}
	}
}

// suspended reports whether a job goes on only when somebody, or the scheduler, lets it.
func suspended(s pbs.Substate) bool { return s == pbs.SubSuspended || s == pbs.SubSchedSuspended }

// hours reports whether a job waits for the end or the beginning of some hours.
func hours(w *state.Wait) bool {
	if w == nil {
		return false
	}
	switch w.Code {
	case state.WaitDedicated, state.WaitCrossDedicated, state.WaitPrime, state.WaitNonprime, state.WaitCrossPrime, state.WaitCrossNonprime:
		return true
	}
	return false
}

// due tells what will happen by itself, empty if nothing will, and what jobs and vnodes look like.
func (r *run) due() (due, seen string) {
	v := r.world.View()
	if v == nil {
		return "there is no leader", ""
	}
	var states strings.Builder
	for j := range v.Jobs() {
		fmt.Fprintln(&states, j.ID, j.State, j.Substate, j.RunCount, j.Holds)
		if due != "" || j.State == pbs.Finished || j.Array != nil {
			continue
		}
		switch j.State {
		case pbs.Running:
			_, limited := j.Resources.Get("walltime")
			if (limited || r.ends(string(j.ID))) && !suspended(j.Substate) {
				due = fmt.Sprintf("%s runs and will end", j.ID)
			}
		case pbs.Waiting:
			due = fmt.Sprintf("%s waits for its time", j.ID)
		case pbs.Exiting:
			due = fmt.Sprintf("%s is ending", j.ID)
		case pbs.Queued:
			if hours(j.Wait) {
				due = fmt.Sprintf("%s waits for other hours: %s", j.ID, j.CommentText())
			}
		}
	}
	for one := range v.Reservations() {
		fmt.Fprintln(&states, one.ID, one.State, one.Start)
		if due == "" {
			due = fmt.Sprintf("reservation %s is not over", one.ID)
		}
	}
	for h := range v.Hosts() {
		fmt.Fprintln(&states, h.Name, h.Up)
		for o := range v.Orders(h.Name) {
			if h.Up {
				due = fmt.Sprintf("%s is to hear of %s", h.Name, o.Job)
			}
		}
	}
	for vn := range v.Vnodes() {
		fmt.Fprintln(&states, vn.Name, vn.Flags, len(vn.Jobs))
	}
	return due, states.String()
}
