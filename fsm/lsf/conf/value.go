package conf

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/resreq"
)

func (r *reader) unknown(s section, key string) { r.warn(s, "unknown keyword %s; ignored", key) }

// invalid tells that a value is none of those that a keyword takes.
func (r *reader) invalid(s section, key, value, expected string) {
	r.warn(s, "%s is %s, expected %s; ignored", key, value, expected)
}

// yes reads Y or N; what is neither says nothing, and the default holds.
func (r *reader) yes(s section, key, value string, standard bool) bool {
	switch strings.ToUpper(value) {
	case "Y", "YES":
		return true
	case "N", "NO":
		return false
	}
	r.invalid(s, key, value, "Y or N")
	return standard
}

// maxNumber bounds whole numbers.
const maxNumber = 1<<31 - 1

// whole reads a number that is not negative.
func whole(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > maxNumber {
		return 0, false
	}
	return n, true
}

func positive(text string) (int64, bool) {
	n, ok := whole(text)
	return n, ok && n > 0
}

// count reads a number that bounds something. One that is none is nil: there is no bound then, as 0 would be one.
func (r *reader) count(s section, x setting) *int64 {
	n, ok := whole(x.value)
	if !ok {
		r.invalid(s, x.key, x.value, "a number from 0 on")
		return nil
	}
	return &n
}

func (r *reader) positive(s section, x setting) int64 {
	n, ok := positive(x.value)
	if !ok {
		r.invalid(s, x.key, x.value, "a positive number")
	}
	return n
}

// decimal reads a number with up to three decimals.
func decimal(text string) (lsf.Thousandths, bool) {
	a, ok := resreq.ParseAmount("", text)
	return lsf.Thousandths(a), ok
}

// minutes reads minutes, or hours:minutes, as seconds.
func (r *reader) minutes(s section, key, text string) int64 {
	hours, minutes, both := strings.Cut(text, ":")
	h, ok := int64(0), true
	if both {
		h, ok = whole(hours)
	} else {
		minutes = text
	}
	m, fine := whole(minutes)
	if !ok || !fine || h*60+m > maxNumber/60 || both && m > 59 {
		r.invalid(s, key, text, "minutes, or hours:minutes")
		return 0
	}
	return (h*60 + m) * 60
}

// limits reads a maximum, or a default and a maximum.
func (r *reader) limits(s section, x setting) (standard, most int64) {
	words := strings.Fields(x.value)
	if len(words) == 0 || len(words) > 2 {
		r.invalid(s, x.key, x.value, "a maximum, or a default and a maximum")
		return 0, 0
	}
	most = r.minutes(s, x.key, words[len(words)-1])
	if len(words) == 2 {
		if standard = r.minutes(s, x.key, words[0]); most > 0 && standard > most {
			r.invalid(s, x.key, x.value, "a default that is not above the maximum")
			return 0, 0
		}
	}
	return standard, most
}

// index returns the load index that a keyword names: one that every host has, also by its other name, or a numeric resource of the site.
func (r *reader) index(key string) (name string, ok bool) {
	known, ok := r.site.Resource(key)
	return known.Name, ok && (slices.Contains(lsf.LoadIndices[:], known.Name) || !known.Builtin && known.Kind == resreq.Numeric)
}

// threshold reads loadSched/loadStop.
func (r *reader) threshold(s section, x setting) (lsf.Threshold, bool) {
	index, _ := r.site.Resource(x.key)
	t := lsf.Threshold{Index: index.Name}
	start, stop, two := strings.Cut(x.value, "/")
	for _, part := range []struct {
		text string
		to   **resreq.Amount
	}{{start, &t.Start}, {stop, &t.Stop}} {
		text := strings.TrimSpace(part.text)
		if text == "" || text == "-" || text == "()" {
			continue
		}
		a, ok := resreq.ParseAmount(index.Name, text)
		if !ok {
			r.invalid(s, x.key, x.value, "loadSched/loadStop")
			return lsf.Threshold{}, false
		}
		*part.to = &a
	}
	if two && t.Start != nil && t.Stop != nil {
		if index.Increasing && *t.Stop < *t.Start || !index.Increasing && *t.Stop > *t.Start {
			r.invalid(s, x.key, x.value, "a loadStop that is more load than loadSched")
			return lsf.Threshold{}, false
		}
	}
	return t, t.Start != nil || t.Stop != nil
}
