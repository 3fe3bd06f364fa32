package service

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// schedName is the scheduler that is always there.
const schedName = state.DefaultScheduler

// manageSched changes one scheduler, or all of them; only those beside the default one come and go.
func manageSched(p person, d directive) ([]command.Command, error) {
	var names []string
	switch d.name {
	case everyone:
		if names = schedulers(p.view); d.verb == command.VerbDelete {
			names = names[1:]
		}
	default:
		names = []string{d.name}
	}
	var all []command.Command
	for _, name := range names {
		c, err := manageOneSched(p, d, name)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func manageOneSched(p person, d directive, name string) (*command.ManageSched, error) {
	set := d.verb == command.VerbSet || d.verb == command.VerbCreate
	for _, c := range d.changes {
		if def, ok := attr.Lookup(attr.Sched, c.Entry.Name); ok && def.Fixed && c.Op != command.OpUnset && (name == "" || name == schedName) && set {
			return nil, pbs.Refuse(pbs.DefaultSched)
		}
		if c.Entry.Name == "server_dyn_res" && c.Op != command.OpUnset && set && !p.hostRoot() { // programs that run as root there
			return nil, pbs.Errorf(pbs.Unauthorized, "%s: server_dyn_res is set by root on a replica's host", pbs.Unauthorized.Text())
		}
	}
	if name == schedName {
		name = ""
	}
	return &command.ManageSched{Verb: d.verb, Changes: d.changes, Name: name}, nil
}

// schedulers returns the names of all, the default one first.
func schedulers(v *state.View) []string {
	names := []string{schedName}
	for i := range v.Server().Scheds {
		names = append(names, v.Server().Scheds[i].Name)
	}
	return names
}

// schedFolders are the folders of the default scheduler in PBS_HOME; the names of those of the others begin with the same.
var schedFolders = map[string]string{"sched_priv": "sched_priv", "sched_log": "sched_logs"}

// ownFolders refuses a scheduler's folder that it may not have.
func (b *Batch) ownFolders(p person, commands []command.Command) error {
	for _, c := range commands {
		m, ok := c.(*command.ManageSched)
		if !ok {
			continue
		}
		for _, ch := range m.Changes {
			if schedFolders[ch.Entry.Name] == "" || ch.Op == command.OpUnset {
				continue
			}
			if err := b.ownFolder(p, m.Name, ch); err != nil {
				return err
			}
		}
	}
	return nil
}

// daemonFolder matches what lies in folders of PBS_HOME that daemons have for themselves.
var daemonFolder = regexp.MustCompile(`^((server|mom|comm)_|sched_(priv|logs)|(run|spool|undelivered|checkpoint|aux|pbs_environment|datastore|backups)/|$)`)

// ownFolder refuses a folder that is another scheduler's, which that has without its having been set, and one in PBS_HOME that is a
// daemon's: logs are written there, and old ones removed. Managers have the folders of PBS_HOME that begin with sched; others are named by root on
// a replica's host.
func (b *Batch) ownFolder(p person, sched string, ch command.AttrChange) error {
	name, folder := ch.Entry.Name, filepath.Clean(ch.Entry.Value)
	taken := func(other string) bool {
		return other != sched && SchedFolder(p.view.Server(), b.Home, other, name) == folder
	}
	within, inHome := strings.CutPrefix(folder+"/", filepath.Clean(b.Home)+"/")
	switch {
	case ch.Op != command.OpSet, inHome && !strings.HasPrefix(within, schedFolders[name]) && daemonFolder.MatchString(within):
		return pbs.Attribute(pbs.BadAttributeValue, name)
	case !(inHome && strings.HasPrefix(within, "sched")) && !p.hostRoot():
		return pbs.Errorf(pbs.Unauthorized, "%s: %s outside of PBS_HOME, or in a folder there whose name does not begin with sched, is set by root on a replica's host", pbs.Unauthorized.Text(), name)
	case slices.ContainsFunc(schedulers(p.view), taken):
		return pbs.Refuse(map[string]pbs.Code{"sched_priv": pbs.SchedPrivExists, "sched_log": pbs.SchedLogExists}[name])
	}
	return nil
}

// SchedFolder returns sched_priv or sched_log of a scheduler at a PBS_HOME; of one that is there no more, the one that it has if none is set.
func SchedFolder(s *state.Server, home, sched, name string) string {
	folder := filepath.Join(home, schedFolders[name])
	if sched == schedName {
		return folder
	}
	if own, ok := s.Scheduler(sched); ok && own.Get(name) != "" {
		return filepath.Clean(own.Get(name))
	}
	return folder + "_" + sched
}

// endScheduling has each scheduler that commands switch off have a cycle before: what was queued before that has its cycle first, as in
// a PBS, which begins one as soon as a job is queued.
func (b *Batch) endScheduling(ctx context.Context, v *state.View, commands []command.Command) {
	for _, c := range commands {
		var changes []command.AttrChange
		name := ""
		switch c := c.(type) {
		case *command.ManageServer:
			changes = c.Changes
		case *command.ManageSched:
			changes, name = c.Changes, c.Name
		}
		off := func(ch command.AttrChange) bool {
			return ch.Entry.Name == "scheduling" && ch.Op == command.OpSet && ch.Entry.Value == "False"
		}
		if slices.ContainsFunc(changes, off) && plans(v, name) {
			b.AwaitCycle(ctx, name, v.Index())
		}
	}
}

// plans reports whether a scheduler starts jobs.
func plans(v *state.View, sched string) bool {
	own, ok := v.For(sched)
	if sched == "" {
		own, ok = v.For(schedName)
	}
	return ok && own.Server().Scheduling()
}

// schedAttributes returns the attributes of a scheduler, with the PBS_HOME in which tools look for its files. Its state is as
// in PBS: scheduling in a cycle, which this replica knows of its own; down before there was a leader, and where it was not
// started; else idle.
func schedAttributes(v *state.View, b *Batch, sched string) attr.List {
	s, word := v.Server(), "idle"
	own, further := s.Scheduler(sched)
	switch {
	case v.Cluster().LeaderHost == "", further && !own.Started:
		word = "down"
	case b.InCycle != nil && b.InCycle(sched):
		word = "scheduling"
	}
	hot := map[string]string{
		"sched_host": string(v.Cluster().LeaderHost),
		"sched_priv": SchedFolder(s, b.Home, sched, "sched_priv"), "sched_log": SchedFolder(s, b.Home, sched, "sched_log"),
		"state": word, "pbs_version": pbs.Version,
	}
	if further && own.Get("sched_host") != "" {
		delete(hot, "sched_host")
	}
	var list attr.List
	for _, def := range attr.All(attr.Sched) {
		value, ok := hot[def.Name]
		switch {
		case ok:
		case further:
			value = own.Get(def.Name)
		case command.SharedWithServer(def.Name):
			value = s.Get(def.Name)
		default:
			value = s.SchedGet(def.Name)
		}
		if value != "" {
			list = append(list, attr.Entry{Name: def.Name, Value: value})
		}
	}
	return list
}

// scheds lists the named schedulers, or all, the default one first.
func (l *listing) scheds() error {
	return l.once(func(v *state.View, p *page) {
		all := schedulers(v)
		names := l.req.GetNames()
		if len(names) == 0 {
			names = all
		}
		for _, name := range names {
			if !slices.Contains(all, name) {
				p.refuse(name, pbs.Refuse(pbs.UnknownScheduler))
				continue
			}
			p.add(name, p.fields.of(schedAttributes(v, l.batch, name), v))
		}
	})
}
