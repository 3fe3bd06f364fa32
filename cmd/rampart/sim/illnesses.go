package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/chaos/fault"
)

// illVerbs are words for the faults of chaos/fault that leave processes and links half well, by the names that they have there.
func illVerbs() map[string]verb {
	return map[string]verb{
		"stepclock":   {usage: "stepclock leader|follower|NAME [+|-]DURATION", least: 2, most: 2, do: befall(faults.stepClock), check: checkShift},
		"setclocks":   {usage: "setclocks", do: all(faults.SetClocks)},
		"stall":       {usage: "stall leader|follower|NAME [append|stable|delete|snapshot|ledger]", least: 1, most: 2, do: befall(faults.stall)},
		"drag":        {usage: "drag leader|follower|NAME SECONDS [append|stable|delete|snapshot|ledger]", least: 2, most: 3, do: befall(faults.drag), check: checkDuration(1)},
		"flow":        {usage: "flow", do: all(faults.Flow)},
		"slander":     {usage: "slander HOST", least: 1, most: 1, do: each(func(f faults, name string) error { return f.Lie(name, false) })},
		"vouch":       {usage: "vouch HOST", least: 1, most: 1, do: each(func(f faults, name string) error { return f.Lie(name, true) })},
		"upgrade":     {usage: "upgrade leader|follower|NAME...", least: 1, most: -1, do: each(func(f faults, name string) error { return f.Rebuild(name, false) })},
		"downgrade":   {usage: "downgrade leader|follower|NAME...", least: 1, most: -1, do: each(func(f faults, name string) error { return f.Rebuild(name, true) })},
		"wreck":       {usage: "wreck leader|follower|NAME...", least: 1, most: -1, do: each(faults.Wreck)},
		"cut":         {usage: "cut leader|follower|NAME leader|follower|NAME...", least: 2, most: -1, do: befall(faults.cut)},
		"mute":        {usage: "mute leader|follower|NAME", least: 1, most: 1, do: each(func(f faults, name string) error { return f.Mute(name, false) })},
		"deafen":      {usage: "deafen leader|follower|NAME", least: 1, most: 1, do: each(func(f faults, name string) error { return f.Mute(name, true) })},
		"losereplies": {usage: "losereplies leader|follower|NAME", least: 1, most: 1, do: each(faults.LoseReplies)},
		"freeze":      {usage: "freeze HOST", least: 1, most: 1, do: each(faults.Freeze)},
		"thaw":        {usage: "thaw HOST", least: 1, most: 1, do: each(faults.Thaw)},
		"tear":        {usage: "tear leader|follower|NAME [BYTES]", least: 1, most: 2, do: befall(faults.tear), check: checkBytes},
		"sicken":      {usage: "sicken HOST ILLNESS", least: 2, most: 2, do: befall(faults.sicken), check: checkIllness},
		"cure":        {usage: "cure", do: all(faults.Cure)},
		"at-command":  {usage: "at-command COMMAND [of HOST] [proposed] WORD...", least: 2, most: -1, do: (*run).atCommand, check: checkAtCommand},
		"ambush":      {usage: "ambush COMMAND", least: 1, most: 1, do: (*run).ambush, check: checkKind},
	}
}

// all does something to everything there is.
func all(do func(f faults)) func(*run, step, []string) error {
	return befall(func(f faults, _ []string) error {
		do(f)
		return nil
	})
}

// shift reads by how much a clock is set.
func shift(text string) (time.Duration, error) {
	if back, ok := strings.CutPrefix(text, "-"); ok {
		by, err := duration(back)
		return -by, err
	}
	return duration(strings.TrimPrefix(text, "+"))
}

func checkShift(st step) error {
	text, ok := st.words[1].plain()
	if !ok {
		return nil
	}
	_, err := shift(text)
	return err
}

// stepClock sets the clock of a replica's host.
func (f faults) stepClock(words []string) error {
	by, err := shift(words[1])
	if err != nil {
		return err
	}
	name, err := f.named(words[0])
	if err != nil {
		return err
	}
	return f.StepClock(name, by)
}

// stall has the disk of a replica answer nothing, or no writes of a kind.
func (f faults) stall(words []string) error {
	name, err := f.named(words[0])
	if err != nil {
		return err
	}
	return f.Stall(name, strings.Join(words[1:], ""))
}

// drag has the disk of a replica take its time for each write, or each of a kind.
func (f faults) drag(words []string) error {
	delay, err := duration(words[1])
	if err != nil {
		return err
	}
	name, err := f.named(words[0])
	if err != nil {
		return err
	}
	return f.Drag(name, delay, strings.Join(words[2:], ""))
}

// cut lets nothing pass between one and some others.
func (f faults) cut(words []string) error {
	var names []string
	for _, w := range words {
		name, err := f.named(w)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	return f.Cut(names[0], names[1:]...)
}

// tornBytes is how much of a ledger is lost where nobody says it: a record, or a part of one.
const tornBytes = 100

func torn(words []string) (int64, error) {
	if len(words) < 2 {
		return tornBytes, nil
	}
	n, err := strconv.ParseInt(words[1], 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no number of bytes", words[1])
	}
	return n, nil
}

func checkBytes(st step) error {
	if len(st.words) < 2 {
		return nil
	}
	text, ok := st.words[1].plain()
	if !ok {
		return nil
	}
	_, err := torn([]string{"", text})
	return err
}

// tear kills a replica, and the end of its accounting file is lost.
func (f faults) tear(words []string) error {
	bytes, err := torn(words)
	if err != nil {
		return err
	}
	name, err := f.named(words[0])
	if err != nil {
		return err
	}
	return f.Tear(name, bytes)
}

func checkIllness(st step) error {
	if text, ok := st.words[1].plain(); ok && !slices.Contains(fault.Illnesses, text) {
		return fmt.Errorf("%q is no illness: want one of '%s'", text, strings.Join(fault.Illnesses, "', '"))
	}
	return nil
}

// sicken makes a host ill.
func (f faults) sicken(words []string) error { return f.Sicken(words[0], words[1]) }

// ambush has the leader die at a command of the log.
func (r *run) ambush(st step, words []string) error {
	r.lurks = st
	return r.faults().Ambush(words[0])
}

// unsprung is the failure of a scenario whose ambush has not seen its command.
func (r *run) unsprung() error {
	kind := r.faults().Awaited()
	if kind == "" {
		return nil
	}
	return r.explain(r.lurks, &failure{kind + " before the end of the scenario", "none"})
}
