package render

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// ctime is how PBS prints a moment.
const ctime = "Mon Jan _2 15:04:05 2006"

// isMoment reports whether an attribute is seconds since the epoch on the wire and a
// date on paper.
func isMoment(name string) bool { return moments()[name] }

// moments is a table of few names: a listing asks for each of millions of attributes.
var moments = sync.OnceValue(func() map[string]bool {
	names := make(map[string]bool)
	for _, o := range []attr.Object{attr.Job, attr.Vnode, attr.Reservation} {
		for _, def := range attr.All(o) {
			if def.Type == attr.Epoch {
				names[def.Name] = true
			}
		}
	}
	return names
})

// moment returns the value as a date if the attribute is one.
func moment(a *api.Attribute, zone *time.Location) string {
	if !isMoment(a.Name) && (a.Name != "estimated" || a.Resource != "start_time") {
		return a.Value
	}
	seconds, err := strconv.ParseInt(a.Value, 10, 64)
	if err != nil {
		return a.Value
	}
	return time.Unix(seconds, 0).In(zone).Format(ctime)
}

// Printable writes control characters as PBS does, ^A for the byte 1 and ^? for 127: whoever submits a job chooses its
// values, and a terminal obeys some. Tabs and newlines stay.
func Printable(text string) string {
	i := strings.IndexFunc(text, isControl)
	if i < 0 { // of nearly all
		return text
	}
	b := []byte(text[:i])
	for ; i < len(text); i++ {
		if isControl(rune(text[i])) {
			b = append(b, '^', text[i]^0x40)
		} else {
			b = append(b, text[i])
		}
	}
	return string(b)
}

func isControl(r rune) bool { return pbs.IsControl(r) && r != '\t' && r != '\n' }

// label returns "name" or "name.resource".
func label(a *api.Attribute) string {
	if a.Resource == "" {
		return a.Name
	}
	return a.Name + "." + a.Resource
}

// Find returns the value of an attribute, "" if it is absent.
func Find(o *api.Object, name, resource string) string {
	for _, a := range o.Attributes {
		if a.Name == name && a.Resource == resource {
			return a.Value
		}
	}
	return ""
}

// short cuts s to n characters; a cut text ends in an asterisk.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-1] + "*"
}

// cut cuts s to n characters.
func cut(s string, n int) string { return s[:min(n, len(s))] }

// counts reads a state_count such as "Transit:0 Queued:1 ".
func counts(text string) map[string]string {
	m := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		if name, n, ok := strings.Cut(word, ":"); ok {
			m[name] = n
		}
	}
	return m
}
