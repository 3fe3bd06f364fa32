package lsf

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
)

// LoadIndices are the indices that every host has, in the order in which commands show them (specification: reservation section 1.2).
var LoadIndices = [...]string{"r15s", "r1m", "r15m", "ut", "pg", "io", "ls", "it", "tmp", "swp", "mem"}

// ShownLoad returns the value of a load index as commands show it.
func ShownLoad(index string, value float64) string {
	switch index {
	case "ut":
		return fmt.Sprintf("%.0f%%", value)
	case "io", "ls", "it", "ndisks":
		return fmt.Sprintf("%.0f", value)
	case "tmp", "swp", "mem", "maxtmp", "maxswp", "maxmem":
		return fmt.Sprintf("%.0fM", math.Floor(value))
	}
	return fmt.Sprintf("%.1f", value)
}

// LSF's names of the states of a host by its load.
const (
	StatusOK          = "ok"
	StatusBusy        = "busy"    // a threshold keeps jobs from it
	StatusUnavailable = "unavail" // nobody hears it
)

// Where the free mem, swp and tmp of a host are known from: an attribute of its vnode (specification: reservation section 1.3).
const (
	LoadSource   = "load_source"
	SourceAgent  = "agent"  // its mom
	SourceConfig = "config" // resources_available
)

// ParseThresholds reads the thresholds of a queue as lsf_thresholds has them: mem=100/20 r1m=3.5/4.5. The error names what is not valid.
func ParseThresholds(text string, site resreq.Site) ([]Threshold, error) {
	var all []Threshold
	for word := range strings.FieldsSeq(text) {
		name, bounds, _ := strings.Cut(word, "=")
		r, known := site.Resource(name)
		start, stop, _ := strings.Cut(bounds, "/")
		t := Threshold{Index: r.Name}
		valid := known && r.Kind == resreq.Numeric && start+stop != ""
		for _, part := range []struct {
			text string
			to   **resreq.Amount
		}{{start, &t.Start}, {stop, &t.Stop}} {
			if part.text == "" {
				continue
			}
			a, ok := resreq.ParseAmount(name, part.text)
			valid = valid && ok
			*part.to = &a
		}
		if !valid {
			return nil, pbs.Errorf(pbs.BadAttributeValue, "%s: not valid: %s; expected index=loadSched/loadStop of load indices", QueueThresholds, word)
		}
		all = append(all, t)
	}
	return all, nil
}

// ThresholdsText writes thresholds as ParseThresholds reads them.
func ThresholdsText(all []Threshold) string {
	words := make([]string, len(all))
	for i, t := range all {
		words[i] = t.String()
	}
	return strings.Join(words, " ")
}

// Tightest returns of each index the bounds that hold where several lists of thresholds do, in the order in which the indices come.
func Tightest(site resreq.Site, lists ...[]Threshold) (all []Threshold) {
	for _, list := range lists {
		for _, t := range list {
			r, _ := site.Resource(t.Index)
			at := slices.IndexFunc(all, func(x Threshold) bool { return x.Index == t.Index })
			if at < 0 {
				all = append(all, t)
				continue
			}
			all[at].Start, all[at].Stop = tighter(all[at].Start, t.Start, r.Increasing), tighter(all[at].Stop, t.Stop, r.Increasing)
		}
	}
	return all
}

// tighter returns the one of two bounds beyond which a load is sooner.
func tighter(a, b *resreq.Amount, increasing bool) *resreq.Amount {
	if a == nil || b != nil && (*b < *a) == increasing && *a != *b {
		return b
	}
	return a
}

// Shuts reports whether a value is beyond what the threshold lets jobs start with.
func (t Threshold) Shuts(value resreq.Amount, increasing bool) bool {
	return beyond(t.Start, value, increasing)
}

// Stops reports whether a value is beyond what the threshold lets jobs run with.
func (t Threshold) Stops(value resreq.Amount, increasing bool) bool {
	return beyond(t.Stop, value, increasing)
}

// beyond reports whether a value is more load than a bound, if there is one.
func beyond(bound *resreq.Amount, value resreq.Amount, increasing bool) bool {
	switch {
	case bound == nil:
		return false
	case increasing:
		return value > *bound
	}
	return value < *bound
}

// ReasonRecent is why jobs that JOB_ACCEPT_INTERVAL keeps from a host wait.
const ReasonRecent = "Just started a job recently;"

// loadReasons are why jobs wait that the threshold of an index keeps from hosts.
var loadReasons = map[string]string{
	"r15s": "The 15 sec effective CPU queue length (r15s) is beyond threshold;",
	"r1m":  "The 1 min effective CPU queue length (r1m) is beyond threshold;",
	"r15m": "The 15 min effective CPU queue length (r15m) is beyond threshold;",
	"ut":   "The CPU utilization (ut) is beyond threshold;",
	"pg":   "The paging rate (pg) is beyond threshold;",
	"io":   "The disk IO rate (io) is beyond threshold;",
	"ls":   "There are too many login users (ls);",
	"it":   "The host is not idle long enough (it);",
	"tmp":  "The available /tmp space (tmp) is low;",
	"swp":  "The available swap space (swp) is low;",
	"mem":  "The available memory (mem) is low;",
}

const reasonExternal, reasonExternalEnd = "External load index (", ") is beyond threshold;"

// ReasonLoad returns why jobs wait that the threshold of an index keeps from hosts (specification: reservation section 9.2).
func ReasonLoad(index string) string {
	if reason, ok := loadReasons[index]; ok {
		return reason
	}
	return reasonExternal + index + reasonExternalEnd
}
