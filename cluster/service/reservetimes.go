package service

import (
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/recur"
	"rampart/fsm/resource"
	"rampart/transport/api"
)

// A moment is one of the times of a reservation, or its length, if it was given.
type moment struct {
	at    pbs.Time
	given bool
}

// times are what somebody says of a reservation's times. Two of them tell the third.
type times struct{ start, end, length moment }

// maxMoment is the last second that the times of a reservation can be, as of every attribute that is a moment.
const maxMoment = 1 << 33

// take reads an attribute that is about times, and refuses bounds of a walltime. It leaves others alone.
func (t *times) take(a *api.Attribute) (took bool, err error) {
	def, ok := attr.Find(attr.Reservation, a.GetName())
	if !ok {
		return false, nil
	}
	full := def.Full(a.GetResource())
	switch full {
	case "Resource_List.min_walltime", "Resource_List.max_walltime":
		return false, pbs.Refuse(pbs.ResvWalltimeRange)
	case "reserve_start", "reserve_end", "reserve_duration", "Resource_List.walltime":
	default:
		return false, nil
	}
	if a.GetOp() != api.Op_OP_SET {
		return false, pbs.Refuse(pbs.InvalidRequest)
	}
	if def.Type == attr.Epoch {
		value, err := def.Parse(a.GetValue())
		if err != nil {
			return false, err
		}
		m := moment{pbs.Time(number(value) * 1e9), true}
		if full == "reserve_start" {
			t.start = m
		} else {
			t.end = m
		}
		return true, nil
	}
	length, err := parseLength(a.GetValue())
	if err != nil {
		return false, err
	}
	if t.length.given && t.length.at != length { // -D and -l walltime
		return false, pbs.Refuse(pbs.BadTimes)
	}
	t.length = moment{length, true}
	return true, nil
}

// forget drops what was given under a name of a time; false: it is none.
func (t *times) forget(a *api.Attribute) bool {
	switch def, ok := attr.Find(attr.Reservation, a.GetName()); {
	case !ok:
		return false
	case def.Name == "reserve_start":
		t.start = moment{}
	case def.Name == "reserve_end":
		t.end = moment{}
	case isLength(a):
		t.length = moment{}
	default:
		return false
	}
	return true
}

// parseLength reads how long a reservation is to last, which is its walltime: seconds, or hours, minutes and seconds.
func parseLength(text string) (pbs.Time, error) {
	q, err := resource.Parse(resource.Time, text)
	switch {
	case err != nil || q.Int() < 0:
		return 0, pbs.Attribute(pbs.BadAttributeValue, "Resource_List.walltime")
	case q.Int() == 0 || q.Int() > maxMoment:
		return 0, pbs.Refuse(pbs.BadTimes)
	}
	return pbs.Time(q.Int() * 1e9), nil
}

// resolve returns when a new reservation begins and how long it lasts. Each time that was given is one of maxMoment at most,
// so that no difference of two is beyond what can be told; a sum may be.
func (t *times) resolve(now pbs.Time) (start, length pbs.Time, err error) {
	start, end, length := t.start.at, t.end.at, t.length.at
	told := true
	switch {
	case t.start.given && t.end.given && !t.length.given:
		length = end - start
	case t.start.given && !t.end.given && t.length.given:
		end, told = start.After(length)
	case !t.start.given && t.end.given && t.length.given:
		start = end - length
	case !t.start.given || !t.end.given || !t.length.given || end-start != length:
		return 0, 0, pbs.Refuse(pbs.BadTimes)
	}
	if !told || length <= 0 || start.Unix() < now.Unix() || end.Unix() > maxMoment {
		return 0, 0, pbs.Refuse(pbs.BadTimes)
	}
	return start, length, nil
}

// recurring makes a reservation begin when a rule says so. If that is only once it is none of a rule.
func (w *wish) recurring(c *command.Reserve, start, now pbs.Time) error {
	starts, err := recur.Starts(w.rule, w.zone, start, c.Length, now)
	if err != nil {
		return err
	}
	if c.Starts = starts; len(starts) > 1 {
		c.Rule, c.Zone = w.rule, w.zone
	}
	return nil
}
