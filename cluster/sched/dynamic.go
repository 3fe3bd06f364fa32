package sched

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Dynamic runs a program of server_dyn_res and returns the first line that it prints.
type Dynamic func(ctx context.Context, command string) (string, error)

// dynamic asks all programs of server_dyn_res what there is of their resources, if a job waits that may start, and returns what jobs
// ask for: of nothing else the cycle has to know. Of what a program cannot say there is nothing.
func (l *Loop) dynamic(ctx context.Context, v *state.View) map[string]string {
	if l.opts.Dynamic == nil || !anyAwaits(v) {
		return nil
	}
	found := map[string]string{}
	for _, d := range attr.DynamicOf(v.Server().SchedGet("server_dyn_res")) {
		def, ok := v.Resource(d.Resource)
		if !ok {
			continue
		}
		text, err := l.probe(ctx, v, d.Command)
		if err == nil {
			if value, bad := def.Parse(unsigned(def, text)); bad != nil {
				l.log(pbs.LogDebug, "Svr", "server_dyn_res", "Script "+program(d)+" returned bad output")
				err = fmt.Errorf("it printed %q", text)
			} else if !def.Type.Numeric() {
				text = value.String()
			}
		}
		if err != nil {
			text = nothingOf(def)
			l.unanswered(d, err)
		} else {
			l.log(pbs.LogDebug2, "Svr", "server_dyn_res", d.Command+" = "+text)
		}
		if awaited(v, d.Resource) {
			found[d.Resource] = text
		}
	}
	return found
}

// unsigned returns what a program prints of an amount without its sign: more may be in use than there is.
func unsigned(def resource.Def, text string) string {
	if def.Type.Numeric() {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// nothingOf is the value of a resource of which a program could not say what there is: as in PBS, 0. Of one that is no number, only who
// asks for that gets it: for 0, or for False.
func nothingOf(def resource.Def) string {
	switch {
	case def.Type.Numeric():
		return def.Measured(0)
	case def.Type == resource.Boolean:
		return "False"
	}
	return "0"
}

// ErrForeign is the error of a program that somebody else could replace or change.
var ErrForeign = errors.New("file has a non-secure file access")

// program returns the path of a program of server_dyn_res, without its arguments.
func program(d attr.Dynamic) string {
	path, _, _ := strings.Cut(d.Command, " ")
	return path
}

// unanswered says in the log why there is nothing of a resource.
func (l *Loop) unanswered(d attr.Dynamic, err error) {
	say := func(event uint16, text string) { l.log(event, "Svr", "server_dyn_res", text) }
	if errors.Is(err, ErrForeign) {
		say(pbs.LogSecurity, fmt.Sprintf("error: %s %v, setting resource %s to 0, errno: %d: %v", program(d), ErrForeign, d.Resource, syscall.EPERM, err))
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		say(pbs.LogSched, fmt.Sprintf("Program %s timed out", d.Command))
	}
	say(pbs.LogError, fmt.Sprintf("Setting resource %s to 0: %s: %v", d.Resource, d.Command, err))
}

// probe runs a program of server_dyn_res, no longer than server_dyn_res_alarm says; 0: as long as it takes.
func (l *Loop) probe(ctx context.Context, v *state.View, command string) (string, error) {
	alarm, _ := strconv.Atoi(v.Server().SchedGet("server_dyn_res_alarm"))
	if alarm > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(alarm)*time.Second)
		defer cancel()
	}
	return l.opts.Dynamic(ctx, command)
}

// awaited reports whether a job that may start asks for a resource.
func awaited(v *state.View, name string) bool {
	for _, j := range v.Classes() { // the jobs of a class ask for the same
		if _, asks := j.Resources.Get(name); asks {
			return true
		}
	}
	return false
}

// anyAwaits reports whether a job waits that may start.
func anyAwaits(v *state.View) bool {
	for range v.Classes() {
		return true
	}
	return false
}

// overDynamic returns why one job more like j is too many for what there is of the resources of server_dyn_res, or asks for another
// value than there is, if it does.
func (c *cycle) overDynamic(j *state.Job) (state.Wait, bool) {
	for _, name := range slices.Sorted(maps.Keys(c.planner.dynamic)) {
		offered := c.planner.dynamic[name]
		text, asks := j.Resources.Get(name)
		def, known := c.view.Resource(name)
		if !asks || !known || !c.planner.considered.has(def) {
			continue
		}
		if !def.Type.Numeric() {
			if want, err := def.Parse(text); err == nil && !resource.Matches(def, want, offered, true) {
				return state.Short(state.WaitServerShort, resource.Unlike(def, want, offered)), true
			}
			continue
		}
		most, need := def.Measure(unsigned(def, offered)), def.Measure(text)
		if unsigned(def, offered) != offered {
			most = -most
		}
		if left := most - c.limiter.planned[limited{resource: name}]; need > 0 && need > left {
			return state.ShortOf(state.WaitServerShort, def, need, left, most), true
		}
	}
	return state.Wait{}, false
}

// plannedDynamic counts what a job that is about to start takes of the resources of server_dyn_res.
func (c *cycle) plannedDynamic(j *state.Job) {
	for name := range c.planner.dynamic {
		text, asks := j.Resources.Get(name)
		if def, known := c.view.Resource(name); asks && known && def.Type.Numeric() {
			c.limiter.planned[limited{resource: name}] += def.Measure(text)
		}
	}
}
