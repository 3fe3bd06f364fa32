package attr

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Hours say when it is prime time, as PBS's file holidays does: for each day of the week from
// when to when, in minutes of the day, and on which days of a year never.
type Hours struct {
	Days     [7]Span // Sunday first
	Year     int     // of the holidays; 0: of each year
	Holidays []int   // days of the year, from 1
}

// A Span is a part of a day: prime time from From to before Till, or, where Till is the earlier, all day but
// from Till to before From; empty: none.
type Span struct{ From, Till int }

const wholeDay = 24 * 60

// HoursOf reads a value that the attribute's parser took: entries YEAR Y, DAY START END and
// DAY-OF-YEAR MONTH DAY NAME. What follows is for people. Days that are not named are prime time, as in PBS.
func HoursOf(text string) Hours {
	h, _, _ := readHours(text)
	return h
}

var weekdays = map[string][]time.Weekday{
	"weekday": {time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday},
	"sunday":  {time.Sunday}, "monday": {time.Monday}, "tuesday": {time.Tuesday}, "wednesday": {time.Wednesday},
	"thursday": {time.Thursday}, "friday": {time.Friday}, "saturday": {time.Saturday},
}

func parseHours(text string) (string, bool) {
	_, canonical, ok := readHours(text)
	return canonical, ok && len(text) <= maxValue
}

func readHours(text string) (h Hours, canonical string, ok bool) {
	for d := range h.Days {
		h.Days[d] = Span{0, wholeDay}
	}
	var all []string
	for entry := range strings.SplitSeq(text, ",") {
		words := strings.Fields(entry)
		if len(words) == 0 {
			return h, "", false
		}
		days, isDay := weekdays[strings.ToLower(words[0])]
		first, err := strconv.Atoi(words[0])
		switch {
		case strings.EqualFold(words[0], "YEAR") && len(words) >= 2:
			words = words[:2]
			if h.Year, err = strconv.Atoi(words[1]); err != nil || h.Year < 0 || h.Year > 9999 {
				return h, "", false
			}
		case isDay && len(words) >= 3:
			words = words[:3]
			span, ok := spanOf(words[1], words[2])
			if !ok {
				return h, "", false
			}
			for _, d := range days {
				h.Days[d] = span
			}
		case err == nil && first >= 1 && first <= 366:
			h.Holidays = append(h.Holidays, first)
		default:
			return h, "", false
		}
		all = append(all, strings.Join(words, " "))
	}
	return h, strings.Join(all, ","), true
}

// spanOf reads when prime time begins and when it ends: HHMM, all or none.
func spanOf(begin, end string) (Span, bool) {
	from, ok := minuteOf(begin)
	till, ok2 := minuteOf(end)
	switch {
	case strings.EqualFold(begin, "all") || strings.EqualFold(end, "none"):
		return Span{0, wholeDay}, true
	case strings.EqualFold(begin, "none") || strings.EqualFold(end, "all"):
		return Span{}, true
	}
	return Span{from, till}, ok && ok2 && from != till
}

func minuteOf(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n/100*60 + n%100, err == nil && len(text) == 4 && n >= 0 && n <= 2400 && n%100 < 60
}

// Prime reports whether it is prime time.
func (h *Hours) Prime(at time.Time) bool {
	span := h.Days[at.Weekday()]
	if h.holiday(at) {
		return false
	}
	minute := at.Hour()*60 + at.Minute()
	if span.Till < span.From {
		return minute < span.Till || span.From <= minute
	}
	return span.From <= minute && minute < span.Till
}

func (h *Hours) holiday(at time.Time) bool {
	return (h.Year == 0 || h.Year == at.Year()) && slices.Contains(h.Holidays, at.YearDay())
}

// Turns returns when prime time ends that is, or begins; false: not within a year.
func (h *Hours) Turns(at time.Time) (time.Time, bool) {
	now := h.Prime(at)
	year, month, day := at.Date()
	for d := range 367 {
		for _, minute := range [...]int{0, h.Days[(int(at.Weekday())+d)%7].From, h.Days[(int(at.Weekday())+d)%7].Till} {
			then := time.Date(year, month, day+d, 0, minute, 0, 0, at.Location())
			if then.After(at) && h.Prime(then) != now {
				return then, true
			}
		}
	}
	return time.Time{}, false
}

// dedicatedLayout is how PBS's file dedicated_time writes a time.
const dedicatedLayout = "01/02/2006 15:04"

// Dedicated returns the times of a value that the attribute's parser took, in a zone: begin
// and end.
func Dedicated(text string, zone *time.Location) [][2]time.Time {
	var all [][2]time.Time
	for entry := range strings.SplitSeq(text, ",") {
		words := strings.Fields(entry)
		if len(words) != 4 {
			continue
		}
		from, err := time.ParseInLocation(dedicatedLayout, words[0]+" "+words[1], zone)
		till, err2 := time.ParseInLocation(dedicatedLayout, words[2]+" "+words[3], zone)
		if err == nil && err2 == nil {
			all = append(all, [2]time.Time{from, till})
		}
	}
	return all
}

// parseDedicated takes entries MM/DD/YYYY HH:MM MM/DD/YYYY HH:MM.
func parseDedicated(text string) (string, bool) {
	var all []string
	for entry := range strings.SplitSeq(text, ",") {
		times := Dedicated(entry, time.UTC)
		if len(times) != 1 || !times[0][0].Before(times[0][1]) {
			return "", false
		}
		all = append(all, strings.Join(strings.Fields(entry), " "))
	}
	return strings.Join(all, ","), len(text) <= maxValue
}
