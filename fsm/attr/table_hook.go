package attr

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
)

// A HookEvent is something at which hooks run (specification: hooks section 4).
type HookEvent struct {
	Name string // as the attribute event has it
	Bit  uint64 // of the events of a cluster's hooks, one for each event; it is in every snapshot
	Mom  bool   // hooks of it run on moms, and are copied to them
}

// Constant returns the number in the module pbs, which is PBS's: one bit for each event, so that "&" can test.
func (e HookEvent) Constant() uint64 {
	if n, ok := hookConstants[e.Name]; ok {
		return n
	}
	return e.Bit
}

// hookConstants are the numbers of those that have another in the module pbs than in the state.
var hookConstants = map[string]uint64{
	"jobobit": 1 << 23, "resv_begin": 1 << 24, "resv_confirm": 1 << 25, "modifyresv": 1 << 26, "postqueuejob": 1 << 27,
}

// hookEvents in the order in which PBS names them.
var hookEvents = [...]HookEvent{
	{"queuejob", 1 << 0, false},
	{"modifyjob", 1 << 1, false},
	{"resvsub", 1 << 2, false},
	{"movejob", 1 << 3, false},
	{"runjob", 1 << 4, false},
	{"provision", 1 << 5, false},
	{"execjob_begin", 1 << 6, true},
	{"execjob_prologue", 1 << 7, true},
	{"execjob_epilogue", 1 << 8, true},
	{"execjob_end", 1 << 9, true},
	{"execjob_preterm", 1 << 10, true},
	{"execjob_launch", 1 << 11, true},
	{"exechost_periodic", 1 << 12, true},
	{"exechost_startup", 1 << 13, true},
	{"execjob_attach", 1 << 14, true},
	{"periodic", 1 << 15, false},
	{"resv_end", 1 << 16, false},
	{"execjob_resize", 1 << 17, true},
	{"execjob_abort", 1 << 18, true},
	{"execjob_postsuspend", 1 << 19, true},
	{"execjob_preresume", 1 << 20, true},
	{"management", 1 << 21, false},
	{"modifyvnode", 1 << 22, false},
	{"resv_begin", 1 << 23, false},
	{"resv_confirm", 1 << 24, false},
	{"modifyresv", 1 << 25, false},
	{"postqueuejob", 1 << 26, false},
	{"jobobit", 1 << 27, false},
}

// hookEventsLater are refused, so that nobody relies on a hook that never runs: no server runs them yet.
var hookEventsLater = []string{"provision"}

// HookEvents returns all events. The slice is the caller's own.
func HookEvents() []HookEvent { return slices.Clone(hookEvents[:]) }

// LookupHookEvent returns the event with the name.
func LookupHookEvent(name string) (HookEvent, bool) {
	i := slices.IndexFunc(hookEvents[:], func(e HookEvent) bool { return e.Name == name })
	if i < 0 {
		return HookEvent{}, false
	}
	return hookEvents[i], true
}

// The values of attributes of hooks that decide something.
const (
	HookSite  = "site"     // type: made by qmgr
	HookPBS   = "pbs"      // type: built in
	HookAdmin = "pbsadmin" // user: root on moms, the replica's user on replicas
	HookUser  = "pbsuser"  // user: the owner of the job

	FailOffline = "offline_vnodes"
	FailClear   = "clear_vnodes_upon_recovery"
	FailRestart = "scheduler_restart_cycle"
)

// hookRows returns the attributes of a hook in the order of list hook.
func hookRows() []row {
	return []row{
		managed("type", Text, nil).explained(hookType).or(HookSite),
		managed("enabled", Boolean, nil).explained(hookBoolean).or("true"),
		managed("event", Array, nil).explained(hookEvent),
		managed("user", Text, nil).explained(hookUser).or(HookAdmin),
		managed("alarm", Number, nil).explained(hookSeconds("alarm")).or("30"),
		managed("freq", Number, nil).explained(hookSeconds("freq")).implying("120"),
		managed("order", Number, nil).explained(hookOrder).or("1"),
		managed("debug", Boolean, nil).explained(hookBoolean).or("false"),
		managed("fail_action", Array, nil).explained(hookFailAction).or("none"),
	}
}

// explained gives an attribute a parser whose refusals have words of their own.
func (r row) explained(parse func(string) (string, error)) row { r.explain = parse; return r }

func hookRefusal(format string, args ...any) (string, error) {
	return "", pbs.Errorf(pbs.HookError, format, args...)
}

func hookType(text string) (string, error) {
	if text == HookSite || text == HookPBS {
		return text, nil
	}
	return hookRefusal(`invalid argument to type, must be "site" or "pbs"`)
}

func hookBoolean(text string) (string, error) {
	switch strings.ToLower(text) {
	case "true", "t", "y", "1":
		return "true", nil
	case "false", "f", "n", "0":
		return "false", nil
	}
	return hookRefusal("unexpected value '%s', must be (not case sensitive) true|t|y|1|false|f|n|0", text)
}

func hookEvent(text string) (string, error) {
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if _, ok := LookupHookEvent(name); !ok {
			var all []string
			for _, e := range hookEvents {
				all = append(all, e.Name)
			}
			return hookRefusal(`invalid argument (%s) to event. Should be one or more of: %s or "" for no event.`, text, strings.Join(all, ","))
		}
		if slices.Contains(hookEventsLater, name) {
			return hookRefusal("invalid argument (%s) to event: no hook runs at %s, for it comes with a feature that is not there yet", text, name)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, ","), nil
}

func hookUser(text string) (string, error) {
	if text == HookAdmin || text == HookUser {
		return text, nil
	}
	return hookRefusal("user value of a hook must be pbsadmin,pbsuser")
}

func hookSeconds(name string) func(string) (string, error) {
	return func(text string) (string, error) {
		if n, err := strconv.ParseInt(text, 10, 31); err == nil && n > 0 {
			return strconv.FormatInt(n, 10), nil
		}
		if name == "freq" {
			return hookRefusal("set_hook_freq: freq value '%s' of a hook must be > 0", text) // PBS names its function in this one alone
		}
		return hookRefusal("%s value '%s' of a hook must be > 0", name, text)
	}
}

// hookOrder takes the widest range there is: which one counts depends on the hook's type.
func hookOrder(text string) (string, error) {
	n, err := strconv.ParseInt(text, 10, 31)
	if err != nil {
		return hookRefusal("order given (%s) is outside the acceptable range of [1, 1000] for type 'site'.", text)
	}
	return strconv.FormatInt(n, 10), nil
}

func hookFailAction(text string) (string, error) {
	words := []string{FailOffline, FailClear, FailRestart}
	var out []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		switch {
		case word == "none" && !strings.Contains(text, ","):
			return word, nil
		case !slices.Contains(words, word):
			return hookRefusal(`fail_action value of a hook must be "none" or one or more of "%s"`, strings.Join(words, `","`))
		case !slices.Contains(out, word):
			out = append(out, word)
		}
	}
	return strings.Join(out, ","), nil
}
