package pbs

import (
	"strconv"
	"strings"
	"time"

	"rampart/cli"
)

// moment reads a date and time as PBS's commands take it, [[[[CC]YY]MM]DD]hhmm[.SS], in
// the zone of the user. What is left out is the next there is: 0830 is tomorrow's when it
// is past half past eight.
func moment(env *cli.Env, text string) (seconds int64, ok bool) {
	digits, fraction, dotted := strings.Cut(text, ".")
	second, legal := 0, true
	if dotted {
		second, legal = within(fraction, 0, 59)
		legal = legal && len(fraction) == 2
	}
	if n := len(digits); !legal || !isNumber(digits) || n%2 != 0 || n < 4 || n > 12 {
		return 0, false
	}
	now := env.Now().In(env.Zone)
	at, ok := assemble(digits, second, now)
	return at.Unix(), ok
}

func assemble(digits string, second int, now time.Time) (time.Time, bool) {
	n := len(digits)
	minute, ok1 := within(digits[n-2:], 0, 59)
	hour, ok2 := within(digits[n-4:n-2], 0, 23)
	day, ok3 := part(digits, 6, now.Day(), 1, 31)
	month, ok4 := part(digits, 8, int(now.Month()), 1, 12)
	year, ok5 := yearOf(digits, now)
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return time.Time{}, false
	}
	on := func(years, months, days int) time.Time {
		return time.Date(year+years, time.Month(month+months), day+days, hour, minute, second, 0, now.Location())
	}
	if n == 4 {
		at := on(0, 0, 0)
		if at.Before(now) {
			at = on(0, 0, 1)
		}
		return at, true
	}
	for step := range mostSteps(n) {
		years, months := step, 0
		if n == 6 {
			years, months = 0, step
		}
		at := on(years, months, 0)
		if at.Day() == day && (n > 8 || !at.Before(now)) {
			return at, true
		}
	}
	return time.Time{}, false
}

// mostSteps returns in how many months, or years, there is a day that is given without: a 31st within two months, and a
// 29th of February within eight years. A date with its year is one.
func mostSteps(digits int) int {
	switch digits {
	case 6:
		return 4
	case 8:
		return 10
	}
	return 1
}

// part returns the two digits that end n before the end of hhmm, or the present value.
func part(digits string, n, present, low, high int) (int, bool) {
	if len(digits) < n {
		return present, true
	}
	i := len(digits) - n
	return within(digits[i:i+2], low, high)
}

// yearOf reads CCYY or YY; 69 and more are of the last century, as in POSIX.
func yearOf(digits string, now time.Time) (int, bool) {
	switch len(digits) {
	case 12:
		return within(digits[:4], 1970, 9999)
	case 10:
		n, ok := within(digits[:2], 0, 99)
		if n >= 69 {
			return 1900 + n, ok
		}
		return 2000 + n, ok
	}
	return now.Year(), true
}

func within(text string, low, high int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && isNumber(text) && n >= low && n <= high
}
