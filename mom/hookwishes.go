package mom

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/mom/hook"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
)

func offlined(hook string) string { return "offlined by hook '" + hook + "' due to hook error" }

// actsAt are the events at which a fail_action counts (specification: hooks section 1). A hook may have others, too.
var actsAt = map[string][]string{
	"offline_vnodes":             {"execjob_begin", "execjob_prologue", "exechost_startup"},
	"clear_vnodes_upon_recovery": {"exechost_startup"},
	"scheduler_restart_cycle":    {"execjob_begin", "execjob_prologue"},
}

func acts(h *hook.Hook, action, event string) bool {
	return h.Fails(action) && slices.Contains(actsAt[action], event)
}

// failAction adds what follows when a hook has failed at an event.
func failAction(wishes *spool.Hook, event string, h *hook.Hook) {
	if acts(h, "offline_vnodes", event) {
		wishes.Offline = offlined(h.Name)
	}
	wishes.Restart = acts(h, "scheduler_restart_cycle", event)
}

// recovered adds what follows when a hook has come to its end that may have failed before.
func recovered(wishes *spool.Hook, event string, h *hook.Hook) {
	if acts(h, "clear_vnodes_upon_recovery", event) {
		wishes.Clear = offlined(h.Name)
	}
}

// usedOf returns what a hook has set of resources_used, with the types of the resources; what it has unset has no value.
func (r hookRunner) usedOf(edits *hook.Edits) []spool.Used {
	if edits == nil {
		return nil
	}
	var all []spool.Used
	for name, value := range edits.Set {
		base, res, _ := strings.Cut(name, ".")
		if base != "resources_used" || res == "" {
			continue
		}
		kind, ok := r.typeOf(res)
		if !ok {
			continue
		}
		if value == nil {
			all = append(all, spool.Used{Resource: res, Type: kind.String()})
			continue
		}
		text := *value
		if kind != resource.String && kind != resource.StringArray {
			q, err := resource.Parse(kind, text)
			if err != nil {
				continue
			}
			text = q.String()
		}
		all = append(all, spool.Used{Resource: res, Type: kind.String(), Value: text})
	}
	return all
}

// attrsOf returns what hooks have set of the other attributes of a job; what they have unset has no value.
func attrsOf(edits *hook.Edits) task.Attrs {
	if edits == nil {
		return nil
	}
	var all task.Attrs
	for _, name := range slices.Sorted(maps.Keys(edits.Set)) {
		base, res, _ := strings.Cut(name, ".")
		if base == "resources_used" {
			continue
		}
		a := task.Attr{Name: base, Resource: res}
		if value := edits.Set[name]; value != nil {
			a.Value = *value
		}
		all = append(all, a)
	}
	return all
}

// typeOf returns the type of a resource that this host knows.
func (r hookRunner) typeOf(name string) (resource.Type, bool) {
	if d, ok := resource.Lookup(name); ok {
		return d.Type, true
	}
	for _, d := range r.life.hooks.store.Manifest().Resources {
		if d.Name == name {
			kind, err := resource.ParseType(d.Type)
			return kind, err == nil
		}
	}
	return 0, false
}

// sendVnodes tells the servers what hooks want of vnodes and of the scheduler, those that have rejected included.
func (r hookRunner) sendVnodes(key spool.TaskKey, out outcome) {
	for _, name := range out.Restarts {
		r.append(key, &spool.Hook{Name: name, Restart: true})
	}
	for _, e := range out.Edits {
		r.append(key, &spool.Hook{Name: e.Hook, Own: e.Own, Vnodes: vnodesOf(e.Vnodes)})
	}
}

// send tells the servers what accepted hooks want of vnodes and jobs.
func (r hookRunner) send(t *task.Task, out outcome) {
	var key spool.TaskKey
	if t != nil {
		key = t.Key
	}
	r.sendVnodes(key, out)
	name := ""
	for _, h := range out.Done {
		name = h.Name
	}
	wishes := r.wishesFor(t, name, out)
	if len(wishes.Rerun)+len(wishes.Delete)+len(wishes.Jobs) > 0 {
		r.append(key, wishes)
	}
}

// wishesFor returns what hooks want of a job: its end, and attributes.
func (r hookRunner) wishesFor(t *task.Task, name string, out outcome) *spool.Hook {
	wishes := &spool.Hook{Name: name}
	if t != nil && out.Job != nil {
		wishOf(wishes, t.Key, out.Job)
	}
	return wishes
}

func (r hookRunner) append(key spool.TaskKey, h *spool.Hook) {
	if err := r.life.spool.Append(spool.Fact{Task: key, Hook: h}); err != nil {
		r.mom.config.Logger.Error("wishes of a hook not saved", "hook", h.Name, "err", err)
	}
}

func vnodesOf(all map[string]*hook.Edits) []spool.HookVnode {
	var out []spool.HookVnode
	for name, edits := range all {
		v := spool.HookVnode{Name: name}
		for attribute, value := range edits.Set {
			base, res, _ := strings.Cut(attribute, ".")
			if value == nil {
				v.Unset = append(v.Unset, attribute)
				continue
			}
			v.Set = append(v.Set, spool.HookAttr{Name: base, Resource: res, Value: *value})
		}
		for res, kind := range edits.Types {
			v.Types = append(v.Types, spool.HookAttr{Name: res, Value: kind})
		}
		out = append(out, v)
	}
	return out
}

// wishes writes a fact about a hook for the servers.
func wishes(h *spool.Hook) *api.HookWishes {
	out := &api.HookWishes{Hook: h.Name, Offline: h.Offline, Clear: h.Clear, Restart: h.Restart, Rerun: runsOf(h.Rerun), Delete: runsOf(h.Delete), Kept: runsOf(h.Kept), Stopped: runsOf(h.Stopped), Why: h.Why, Own: h.Own}
	for _, v := range h.Vnodes {
		out.Vnodes = append(out.Vnodes, &api.HookVnode{Name: v.Name, Set: hookAttrs(v.Set), Unset: v.Unset, Types: hookAttrs(v.Types)})
	}
	for _, j := range h.Jobs {
		out.Jobs = append(out.Jobs, &api.HookJob{
			Job: string(j.Task.Job), RunCount: uint32(j.Task.Run), Set: hookAttrs(j.Set), Unset: j.Unset,
		})
	}
	return out
}

func runsOf(keys []spool.TaskKey) []*api.TaskReport {
	var all []*api.TaskReport
	for _, k := range keys {
		all = append(all, &api.TaskReport{Job: string(k.Job), RunCount: uint32(k.Run)})
	}
	return all
}

func hookAttrs(list []spool.HookAttr) []*api.Attribute {
	var all []*api.Attribute
	for _, a := range list {
		all = append(all, &api.Attribute{Name: a.Name, Resource: a.Resource, Value: a.Value})
	}
	return all
}

// reboot restarts the host at the wish of a hook; without privileges it is only noted.
func (m *Mom) reboot(ctx context.Context, command string) {
	m.lines.write(pbs.LogSystem, "Hook", "reboot", "a hook restarts this host: "+command)
	if !m.config.SwitchUser {
		return
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.WaitDelay = time.Second // what it leaves behind holds nobody
	if out, err := cmd.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		m.lines.write(pbs.LogError, "Hook", "reboot", fmt.Sprintf("%s: %v %s", command, err, out))
	}
}

// wishOf adds what hooks want of one job.
func wishOf(h *spool.Hook, k spool.TaskKey, edits *hook.Edits) {
	switch edits.Wish {
	case "rerun":
		h.Rerun = append(h.Rerun, k)
	case "delete":
		h.Delete = append(h.Delete, k)
	}
	job := spool.HookJob{Task: k}
	for attribute, value := range edits.Set {
		base, res, _ := strings.Cut(attribute, ".")
		switch {
		case base == "resources_used":
		case value == nil:
			job.Unset = append(job.Unset, attribute)
		default:
			job.Set = append(job.Set, spool.HookAttr{Name: base, Resource: res, Value: *value})
		}
	}
	if len(job.Set)+len(job.Unset) > 0 {
		h.Jobs = append(h.Jobs, job)
	}
}
