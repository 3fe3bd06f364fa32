package sim

import (
	"fmt"
	"slices"
	"time"
)

// befalls are the words of what befalls hosts and replicas: they can be put off.
var befalls = []string{
	"down", "silent", "up", "slow", "load", "kill", "restart", "partition", "heal", "sever",
	"stepclock", "setclocks", "stall", "drag", "flow", "slander", "vouch", "upgrade", "downgrade", "wreck", "cut", "mute", "deafen", "losereplies", "freeze", "thaw", "tear", "sicken", "cure", "ambush",
}

// checkIn checks what is put off.
func checkIn(st step) error {
	if err := checkDuration(0)(st); err != nil {
		return err
	}
	return checkBefalls(st, st.words[1:], "be put off")
}

// checkBefalls checks one of these words, and what stands behind it, in a line that has it do something else than at once.
func checkBefalls(st step, words []word, what string) error {
	name, _ := words[0].plain()
	if !slices.Contains(befalls, name) {
		return fmt.Errorf("%q cannot %s", name, what)
	}
	v := verbs[name]
	if n := len(words) - 1; n < v.least || v.most >= 0 && n > v.most {
		return fmt.Errorf("usage: %s", v.usage)
	}
	if v.check == nil {
		return nil
	}
	st.words = words[1:]
	return v.check(st)
}

// in puts off what befalls somebody, for a command to be under way by then.
func (r *run) in(st step, words []string) error {
	wait, err := duration(words[0])
	if err != nil {
		return err
	}
	r.putOff.Go(func() {
		select {
		case <-r.over:
		case <-time.After(wait):
			if err := verbs[words[1]].do(r, st, words[2:]); err != nil {
				r.fail(err)
			}
		}
	})
	return nil
}

// lateFault returns what could not befall anybody that was put off.
func (r *run) lateFault() error {
	if err := r.late.Swap(nil); err != nil {
		return *err
	}
	return nil
}
