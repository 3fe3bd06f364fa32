// Package recur owns recurrence rules of standing reservations (RFC 5545, section 3.3.10): which times a rule gives from a
// start on, in a time zone. It does not own reservations, nor the permission to have them.
package recur

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"

	"rampart/fsm/acct"
	"rampart/fsm/pbs"
)

const (
	// MaxOccurrences is how often a standing reservation may occur.
	MaxOccurrences = 5000
	// MaxRule is how many characters a rule may have.
	MaxRule = 66
)

const (
	// maxInterval is beyond every interval that gives two times which can be told.
	maxInterval = 1_000_000_000
	// maxSteps bounds the hours, minutes or seconds that are looked at one by one: there are rules that never occur, such as
	// those of every second second that want an odd one.
	maxSteps = 2_000_000
	// lastYear is the last one of which all times can be told as pbs.Time.
	lastYear = 2261
)

// Starts returns the times at which a reservation begins that is asked for from start on, for length, by a rule that counts in
// a time zone; those that are over by now are left out. The start is one of them only if it fits the rule. Local time stays
// as it is over changes of the clock: a time that the clock leaves out is told by the offset before the change, and
// one that comes twice is the first.
func Starts(text, zone string, start, length, now pbs.Time) ([]pbs.Time, error) {
	r, err := parse(text)
	if err != nil {
		return nil, err
	}
	if !acct.IsZone(zone) {
		return nil, pbs.Refuse(pbs.UnknownZone)
	}
	if limit := lengths[r.Freq]; time.Duration(length) > limit.most {
		return nil, pbs.Refuse(limit.code)
	}
	c := clock{acct.Zone(zone)}
	first := time.Unix(start.Unix(), 0)
	if first.In(c.zone).Year() > lastYear {
		return nil, pbs.Refuse(pbs.BadTimes)
	}
	starts, err := r.from(c, first)
	if err != nil {
		return nil, err
	}
	return future(starts, length, now)
}

// future leaves out what is over, and refuses what runs into the next occurrence.
func future(starts []time.Time, length, now pbs.Time) ([]pbs.Time, error) {
	var out []pbs.Time
	for _, t := range starts {
		if t.Unix() >= now.Unix() {
			out = append(out, pbs.Time(t.UnixNano()))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 {
		return nil, pbs.Refuse(pbs.BadTimes)
	}
	for i, t := range out[1:] {
		if out[i]+length > t {
			return nil, pbs.Refuse(pbs.ResvInterferes)
		}
	}
	return out, nil
}

// lengths are how long an occurrence may last by the rule's frequency.
var lengths = map[rrule.Frequency]struct {
	most time.Duration
	code pbs.Code
}{
	rrule.YEARLY: {365 * 24 * time.Hour, pbs.YearlyTooLong}, rrule.MONTHLY: {30 * 24 * time.Hour, pbs.MonthlyTooLong},
	rrule.WEEKLY: {7 * 24 * time.Hour, pbs.WeeklyTooLong}, rrule.DAILY: {24 * time.Hour, pbs.DailyTooLong},
	rrule.HOURLY: {time.Hour, pbs.HourlyTooLong}, rrule.MINUTELY: {time.Minute, pbs.MinutelyTooLong},
	rrule.SECONDLY: {time.Second, pbs.SecondlyTooLong},
}

// A rule is one that has been parsed. Its Until has no meaning without the zone: see until.
type rule struct {
	rrule.ROption
	until string
}

// parse reads a rule. What RFC 5545 forbids is refused, and what the library would index its tables with beyond their ends.
func parse(text string) (*rule, error) {
	bad := pbs.Refuse(pbs.BadRule)
	if len(text) > MaxRule || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, bad
	}
	text = strings.ToUpper(text)
	given := map[string]string{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(part, "=")
		if _, twice := given[name]; twice || !parts[name] {
			return nil, bad
		}
		given[name] = value
	}
	o, err := rrule.StrToROption(text)
	if err != nil {
		return nil, bad
	}
	r := &rule{*o, given["UNTIL"]}
	for _, list := range []*[]int{&r.Byhour, &r.Byminute, &r.Bysecond} { // one that is named twice is one
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	if _, ok := given["INTERVAL"]; ok && (r.Interval < 1 || r.Interval > maxInterval) {
		return nil, bad
	}
	if err := r.combined(given); err != nil {
		return nil, err
	}
	_, counted := given["COUNT"]
	switch {
	case counted && r.until != "":
		return nil, bad
	case counted && r.Count < 1, !counted && r.until == "":
		return nil, pbs.Refuse(pbs.UnboundRule)
	}
	return r, nil
}

// parts are what a rule may consist of.
var parts = map[string]bool{
	"FREQ": true, "INTERVAL": true, "COUNT": true, "UNTIL": true, "WKST": true,
	"BYSECOND": true, "BYMINUTE": true, "BYHOUR": true, "BYDAY": true, "BYMONTHDAY": true, "BYYEARDAY": true,
	"BYWEEKNO": true, "BYMONTH": true, "BYSETPOS": true,
}

// combined refuses parts that do not go with the frequency.
func (r *rule) combined(given map[string]string) error {
	bad := pbs.Refuse(pbs.BadRule)
	has := func(name string) bool { _, ok := given[name]; return ok }
	yearly, monthly, weekly := r.Freq == rrule.YEARLY, r.Freq == rrule.MONTHLY, r.Freq == rrule.WEEKLY
	if has("BYWEEKNO") && !yearly || has("BYMONTHDAY") && weekly || has("BYYEARDAY") && (monthly || weekly || r.Freq == rrule.DAILY) {
		return bad
	}
	others := func(name string) bool { return strings.HasPrefix(name, "BY") && name != "BYSETPOS" }
	if has("BYSETPOS") && !slices.ContainsFunc(slices.Collect(maps.Keys(given)), others) { // there is nothing to choose from
		return bad
	}
	most := 0 // the greatest number that a weekday may have
	switch {
	case monthly, yearly && has("BYMONTH"):
		most = 5
	case yearly && !has("BYWEEKNO"):
		most = 53
	}
	for _, d := range r.Byweekday {
		if d.N() > most || -d.N() > most {
			return bad
		}
	}
	if r.Wkst.N() != 0 {
		return bad
	}
	o := r.ROption
	o.Dtstart = time.Unix(0, 0)
	if _, err := rrule.NewRRule(o); err != nil { // numbers out of their bounds
		return bad
	}
	return nil
}

// bound returns the last instant at which the rule may begin. A day without a time counts to its end.
func (r *rule) bound(c clock) (time.Time, error) {
	end := time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC)
	if r.until == "" {
		return end, nil
	}
	until := r.Until
	switch len(r.until) {
	case len(rrule.DateFormat):
		until = c.instant(until.AddDate(0, 0, 1)).Add(-time.Second)
	case len(rrule.LocalDateTimeFormat):
		until = c.instant(until)
	}
	if until.After(end) {
		return until, pbs.Refuse(pbs.BadTimes)
	}
	return until, nil
}

// from returns what the rule gives from the start on. It counts with times that clocks of the zone show, held as times of UTC,
// for which there are no changes of the clock.
func (r *rule) from(c clock, start time.Time) ([]time.Time, error) {
	until, err := r.bound(c)
	if err != nil {
		return nil, err
	}
	if r.Count > MaxOccurrences {
		return nil, pbs.Refuse(pbs.BadTimes)
	}
	o := r.ROption
	o.Dtstart, o.Until, o.Count = c.shown(start), c.shown(until).AddDate(0, 0, 1), 0
	var out []time.Time
	over := false
	err = each(o, func(shown time.Time) bool {
		t := start
		if !shown.Equal(o.Dtstart) {
			t = c.instant(shown)
		}
		if over = t.After(until); over {
			return false
		}
		out = append(out, t)
		return r.Count == 0 && len(out) <= MaxOccurrences || len(out) < r.Count
	})
	if err != nil {
		return nil, err
	}
	if len(out) > MaxOccurrences || len(out) < r.Count { // more than there may be, or more than can be told
		return nil, pbs.Refuse(pbs.BadTimes)
	}
	return out, nil
}

// each yields the times of a rule from its start on, until the consumer has enough or its end is reached.
func each(o rrule.ROption, yield func(time.Time) bool) error {
	if o.Freq > rrule.DAILY {
		return withinDays(o, yield)
	}
	r, err := rrule.NewRRule(o)
	if err != nil {
		return pbs.Refuse(pbs.BadRule)
	}
	next := r.Iterator()
	for t, ok := next(); ok && yield(t); t, ok = next() {
	}
	return nil
}

// withinDays does for frequencies below a day what the library does not end: it looks for the next time of a rule that gives
// none for ever. The days come from the library, and their hours, minutes and seconds are gone through here.
func withinDays(o rrule.ROption, yield func(time.Time) bool) error {
	unit := map[rrule.Frequency]time.Duration{rrule.HOURLY: time.Hour, rrule.MINUTELY: time.Minute, rrule.SECONDLY: time.Second}[o.Freq]
	most := int(math.MaxInt64 / unit) // of centuries: beyond the last year
	s := stepper{
		ROption: o, base: o.Dtstart.Truncate(unit), step: time.Duration(min(max(o.Interval, 1), most)) * unit,
		minutes: o.Byminute, seconds: o.Bysecond,
	}
	if o.Freq == rrule.HOURLY && len(s.minutes) == 0 {
		s.minutes = []int{o.Dtstart.Minute()}
	}
	if o.Freq != rrule.SECONDLY && len(s.seconds) == 0 {
		s.seconds = []int{o.Dtstart.Second()}
	}
	days := o
	days.Freq, days.Interval, days.Bysetpos, days.Dtstart = rrule.DAILY, 1, nil, o.Dtstart.Truncate(24*time.Hour)
	days.Byhour, days.Byminute, days.Bysecond = nil, nil, nil
	more := true
	err := each(days, func(day time.Time) bool {
		more = more && s.day(day, yield)
		return more
	})
	if s.steps > maxSteps {
		return pbs.Refuse(pbs.BadTimes)
	}
	return err
}

// A stepper goes through the periods of a rule whose frequency is below a day.
type stepper struct {
	rrule.ROption
	base             time.Time // of the first period
	step             time.Duration
	minutes, seconds []int // none: any
	steps            int
}

// at returns the first period at or after a time.
func (s *stepper) at(t time.Time) time.Time {
	if !t.After(s.base) {
		return s.base
	}
	ahead := t.Sub(s.base) // of centuries it is less than a Duration can be
	if rest := ahead % s.step; rest != 0 {
		ahead += s.step - rest
	}
	return s.base.Add(ahead)
}

// day yields the times of a day; false: it is enough.
func (s *stepper) day(day time.Time, yield func(time.Time) bool) bool {
	end := day.AddDate(0, 0, 1)
	for t := s.at(day); t.Before(end); {
		if s.steps++; s.steps > maxSteps {
			return false
		}
		switch {
		case len(s.Byhour) > 0 && !slices.Contains(s.Byhour, t.Hour()):
			t = s.at(t.Truncate(time.Hour).Add(time.Hour))
		case s.Freq >= rrule.MINUTELY && len(s.minutes) > 0 && !slices.Contains(s.minutes, t.Minute()):
			t = s.at(t.Truncate(time.Minute).Add(time.Minute))
		default:
			for _, at := range s.period(t) {
				if !at.Before(s.Dtstart) && !yield(at) {
					return false
				}
			}
			t = t.Add(s.step)
		}
	}
	return true
}

// period returns the times of one hour, minute or second, of which BYSETPOS chooses some.
func (s *stepper) period(t time.Time) []time.Time {
	var all []time.Time
	switch s.Freq {
	case rrule.HOURLY:
		for _, minute := range s.minutes {
			for _, second := range s.seconds {
				all = append(all, t.Add(time.Duration(minute)*time.Minute+time.Duration(second)*time.Second))
			}
		}
	case rrule.MINUTELY:
		for _, second := range s.seconds {
			all = append(all, t.Add(time.Duration(second)*time.Second))
		}
	default:
		if len(s.seconds) == 0 || slices.Contains(s.seconds, t.Second()) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	all = slices.CompactFunc(all, time.Time.Equal)
	if len(s.Bysetpos) == 0 {
		return all
	}
	var chosen []time.Time
	for i, at := range all {
		if slices.Contains(s.Bysetpos, i+1) || slices.Contains(s.Bysetpos, i-len(all)) {
			chosen = append(chosen, at)
		}
	}
	return chosen
}

// A clock tells instants from what clocks of a zone show.
type clock struct{ zone *time.Location }

// shown returns what clocks show, as a time of UTC.
func (c clock) shown(t time.Time) time.Time {
	t = t.In(c.zone)
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// instant returns when clocks show a time: the first time if twice, and if never what it is by the offset before the change.
func (c clock) instant(shown time.Time) time.Time {
	by := func(near time.Time) time.Time {
		_, offset := near.In(c.zone).Zone()
		return shown.Add(-time.Duration(offset) * time.Second)
	}
	before, after := by(shown.AddDate(0, 0, -1)), by(shown.AddDate(0, 0, 1))
	if !c.shown(before).Equal(shown) && c.shown(after).Equal(shown) {
		return after
	}
	return before
}
