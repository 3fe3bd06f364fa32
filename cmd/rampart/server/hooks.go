package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rampart/cluster/service"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport"
	"rampart/transport/daylog"
)

// hooks runs the hooks of the leader, and keeps copies of all hooks where tools look.
type hooks struct {
	runtime *hook.Runtime
	dir     string
	log     *daylog.Log
	self    string // Server@HOST
	logger  *slog.Logger
	restart chan struct{} // a hook wants a scheduling cycle

	mu    sync.Mutex
	store *hook.Store
	index uint64 // of the newest change of a hook that the copies have
	seen  uint64 // index of the newest state that they were made of
}

var _ service.Hooks = (*hooks)(nil)

func newHooks(c Config, o Outside, log *daylog.Log, logger *slog.Logger) *hooks {
	dir := filepath.Join(c.Home.ServerPriv(), "hooks")
	return &hooks{
		runtime: hook.NewRuntime(hook.Options{
			Dir: dir, Host: pbs.ShortHost(c.Host), ConfFile: confFile(), Elsewhere: o.Elsewhere, Logger: logger,
			Conf: map[string]string{"PBS_HOME": string(c.Home), "PBS_SERVER": c.Server},
		}),
		dir: dir, log: log, self: "Server@" + c.Host, logger: logger, restart: make(chan struct{}, 1),
	}
}

// Compile implements service.Hooks.
func (h *hooks) Compile(ctx context.Context, name string, script []byte) error {
	return h.runtime.Compile(ctx, name, script)
}

// keep follows the state with the copies, until ctx ends.
func (h *hooks) keep(ctx context.Context, source interface {
	View() *state.View
	Changed() <-chan struct{}
},
) error {
	for {
		changed := source.Changed()
		if err := h.copyOf(source.View()); err != nil {
			h.logger.Error("hooks not copied", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		select { // a change waits for others
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// copyOf brings the copies to the state of a view. A request that began before a change of a
// hook does not take them back: others run with them.
func (h *hooks) copyOf(v *state.View) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.Index() < h.seen {
		return nil
	}
	h.seen = v.Index()
	var newest uint64
	count := uint64(0)
	for one := range v.Hooks() {
		if one.Seq != 0 {
			newest, count = max(newest, one.Modified), count+1
		}
	}
	if newest = newest<<16 | count; newest == h.index || newest == 0 && h.store == nil {
		return nil
	}
	if h.store == nil {
		store, err := hook.OpenStore(h.dir)
		if err != nil {
			return err
		}
		h.store = store
	}
	m, contents := &hook.Manifest{Server: v.Cluster().Name}, map[string][]byte{}
	for one := range v.Hooks() {
		if one.Seq == 0 {
			continue
		}
		m.Hooks = append(m.Hooks, hookOf(one))
		for _, kind := range []state.HookFileKind{state.HookScript, state.HookConfig} {
			if body, ok := v.HookFile(one.Name, kind); ok {
				contents[sumFor(one, kind)] = body
			}
		}
	}
	change, err := h.store.Set(m, contents)
	if err != nil {
		return err
	}
	if len(change.Missing) > 0 {
		return fmt.Errorf("contents of %v are missing in the state", change.Missing)
	}
	h.index = newest
	return nil
}

func sumFor(h *state.Hook, kind state.HookFileKind) string {
	if kind == state.HookConfig {
		return h.Config.Sum
	}
	return h.Script.Sum
}

func hookOf(h *state.Hook) hook.Hook {
	out := hook.Hook{Name: h.Name, Seq: h.Seq, Attrs: map[string]string{}, Script: h.Script.Sum, Config: h.Config.Sum}
	for _, def := range attr.All(attr.Hook) {
		out.Attrs[def.Name] = h.Get(def.Name)
	}
	return out
}

// Run implements service.Hooks.
func (h *hooks) Run(ctx context.Context, v *state.View, e *hook.Event) *hook.Outcome {
	return h.runSome(ctx, v, e, v.HooksAt(e.Event), false)
}

func (h *hooks) runSome(ctx context.Context, v *state.View, e *hook.Event, list []*state.Hook, regardless bool) *hook.Outcome {
	return h.sequence(ctx, h.runtime, h.runs(ctx, v, list), e, regardless)
}

// sequencer runs hooks at an event: each in a process of its own, or those of many events in one.
type sequencer interface {
	Sequence(ctx context.Context, runs []hook.Run, e *hook.Event, regardless bool) *hook.Outcome
}

var (
	_ sequencer = (*hook.Runtime)(nil)
	_ sequencer = (*hook.Session)(nil)
)

func (h *hooks) sequence(ctx context.Context, by sequencer, runs []hook.Run, e *hook.Event, regardless bool) *hook.Outcome {
	e.RequestorHost = orThis(e.RequestorHost, strings.TrimPrefix(h.self, "Server@"))
	out := by.Sequence(ctx, runs, e, regardless)
	for _, n := range out.Notes {
		h.note(ctx, e, n)
	}
	for _, one := range out.Restarts {
		h.write(pbs.LogSystem, "Hook", h.self, command.RestartsCycle(one))
		select {
		case h.restart <- struct{}{}:
		default: // one is on its way
		}
	}
	return out
}

// note writes a line about a hook.
func (h *hooks) note(ctx context.Context, e *hook.Event, n hook.Note) {
	switch n.Kind {
	case hook.NoteVerdict:
		h.say(ctx, pbs.LogDebug2, "Hook", n.Object, n.Text)
	case hook.NotePerf:
		h.say(ctx, pbs.LogDebug4|pbs.LogPerf, "Hook", n.Object, n.Text)
	case hook.NoteMessage:
		h.say(ctx, pbs.LogDebug3, "Hook", n.Object, n.Text)
	case hook.NoteFault:
		h.say(ctx, pbs.LogError|pbs.LogForce, "Svr", h.self, n.Text)
	case hook.NoteChange:
		if e.Job != nil && e.Event == "runjob" { // others have asked for a change, which says so
			h.say(ctx, pbs.LogJob, "Job", e.Job.Name, n.Text)
		}
	}
}

// runs returns what is to run of some hooks, at whatever event.
func (h *hooks) runs(ctx context.Context, v *state.View, list []*state.Hook) []hook.Run {
	if err := h.copyOf(v); err != nil {
		h.logger.Error("hooks not copied", "err", err)
	}
	resources := map[string]string{}
	for d := range v.CustomResources() {
		resources[d.Name] = d.Type.String()
	}
	var runs []hook.Run
	for _, one := range list {
		script, _ := v.HookFile(one.Name, state.HookScript)
		run := hook.Run{
			Hook: hookOf(one), Script: script, Path: filepath.Join(h.dir, one.Name+".PY"), Dir: h.dir, Resources: resources, Source: service.HookSource{View: v},
			Log:  func(l hook.Line) { h.line(ctx, l) },
			Mark: func(name, text string) { h.say(ctx, pbs.LogDebug3, "Hook", name, text) }, // it has started, or finished
		}
		if one.Config.Sum != "" {
			run.Config = filepath.Join(h.dir, one.Name+".CF")
		}
		if one.Get("debug") == "true" {
			run.Debug = filepath.Join(h.dir, "tmp")
		}
		runs = append(runs, run)
	}
	return runs
}

func orThis(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// line writes what a script logs.
func (h *hooks) line(ctx context.Context, l hook.Line) {
	if l.Job != "" {
		h.say(ctx, pbs.LogJob, "Job", l.Job, l.Text)
		return
	}
	event := pbs.LogSystem | pbs.LogAdmin
	if l.Level <= 3 {
		event |= pbs.LogError
	}
	h.say(ctx, event|pbs.LogForce, "Hook", h.self, l.Text)
}

// say is write of what belongs to a request, for the log of the replica that was asked as well.
func (h *hooks) say(ctx context.Context, event uint16, class, object, text string) {
	h.write(event, class, object, text)
	transport.Note(ctx, transport.LogLine{Event: event, Class: class, Object: object, Text: text})
}

func (h *hooks) write(event uint16, class, object, text string) {
	if err := h.log.Write(time.Now(), event, class, object, text); err != nil {
		h.logger.Error("write the server log", "error", err)
	}
}

// confFile returns the configuration file of the host, which hooks may read.
func confFile() string { return orThis(os.Getenv("PBS_CONF_FILE"), "/etc/pbs.conf") }
