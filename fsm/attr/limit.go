package attr

import (
	"slices"
	"strings"
)

// The names that stand for everybody in limits.
const (
	LimitAll     = "PBS_ALL"     // o:PBS_ALL: all jobs together
	LimitGeneric = "PBS_GENERIC" // u:, g:, p: each one who is not named
)

// A Limit is one entry of an attribute of type Limits.
type Limit struct {
	Kind  byte   // 'o' overall, 'u' user, 'g' group, 'p' project
	Name  string // of the user, group or project; LimitAll, LimitGeneric
	Value string
}

// String returns the entry as qmgr shows it: [u:ann=5].
func (l Limit) String() string { return "[" + string(l.Kind) + ":" + l.Name + "=" + l.Value + "]" }

// LimitsOf returns the entries of a value that the attribute's parser took.
func LimitsOf(text string) []Limit {
	if text == "" {
		return nil
	}
	var all []Limit
	for entry := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), "],[") {
		at := strings.LastIndexByte(entry, '=')
		if at < 2 || entry[1] != ':' {
			continue
		}
		all = append(all, Limit{entry[0], entry[2:at], entry[at+1:]})
	}
	return all
}

// WithLimits returns a value in which the entries of change stand in place of those of
// the same kind and name, or behind the others: +=.
func WithLimits(text, change string) string {
	all := LimitsOf(text)
	for _, l := range LimitsOf(change) {
		if i := limitOf(all, l); i >= 0 {
			all[i] = l
			continue
		}
		all = append(all, l)
	}
	return printLimits(all)
}

// WithoutLimits returns a value without those entries that change names, whatever their
// limits are: -=.
func WithoutLimits(text, change string) string {
	all := LimitsOf(text)
	for _, l := range LimitsOf(change) {
		if i := limitOf(all, l); i >= 0 {
			all = slices.Delete(all, i, i+1)
		}
	}
	return printLimits(all)
}

// NamesOfLimits returns a text for -= as the attribute's parser takes it: entries that
// name no limit, as in [u:ann], have one that does not count.
func NamesOfLimits(text string) string {
	var out strings.Builder
	for rest := text; ; {
		entry, after, more := strings.Cut(rest, "]")
		out.WriteString(entry)
		if !more {
			return out.String()
		}
		if !strings.Contains(entry, "=") {
			out.WriteString("=0")
		}
		out.WriteByte(']')
		rest = after
	}
}

func limitOf(all []Limit, l Limit) int {
	return slices.IndexFunc(all, func(o Limit) bool { return o.Kind == l.Kind && o.Name == l.Name })
}

func printLimits(all []Limit) string {
	words := make([]string, len(all))
	for i, l := range all {
		words[i] = l.String()
	}
	return strings.Join(words, ",")
}
