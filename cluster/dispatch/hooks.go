package dispatch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/pause"
)

const (
	// tellAtOnce is how many moms are told of hooks at a time.
	tellAtOnce = 32
	// tellFor bounds one call: it may carry files.
	tellFor = 30 * time.Second
	// tellRest is how long a change waits for others, and how often hosts are looked at.
	tellRest = 100 * time.Millisecond
	// filesAtOnce bounds the contents of one call in bytes, but for the first file.
	filesAtOnce = 8 << 20
)

// A Teller tells moms what they have to know of hooks and custom resources. What is still to
// be told follows from the state: each host has the generation that its mom has confirmed.
// A mom that does not answer is tried again by itself, and holds up nobody.
type Teller struct {
	opts Options

	mu      sync.Mutex
	busy    map[pbs.HostName]bool
	resting map[pbs.HostName]rest
	running sync.WaitGroup
	slots   chan struct{}
}

// rest is until when a mom that did not answer is left alone, unless its record changes.
type rest struct {
	until    time.Time
	backoff  time.Duration
	modified uint64
}

// NewTeller returns a teller for one term of leadership.
func NewTeller(o Options) *Teller {
	return &Teller{opts: o, busy: map[pbs.HostName]bool{}, resting: map[pbs.HostName]rest{}, slots: make(chan struct{}, tellAtOnce)}
}

// Run tells until ctx ends.
func (t *Teller) Run(ctx context.Context) error {
	defer t.running.Wait()
	for {
		changed := t.opts.Source.Changed()
		next := t.look(ctx, t.opts.Source.View())
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-changed:
			timer.Stop()
			if !pause.For(ctx, tellRest) {
				return nil
			}
		case <-timer.C:
		}
	}
}

// look begins to tell the moms that lack something, and returns when to look again.
func (t *Teller) look(ctx context.Context, v *state.View) time.Duration {
	next := time.Hour
	generation := v.Cluster().HookGeneration
	if generation == 0 {
		return next
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for h := range v.Hosts() {
		if h.Hooks >= generation || !h.Up || h.Address == "" || t.busy[h.Name] {
			continue
		}
		if r, ok := t.resting[h.Name]; ok && r.modified == h.Modified {
			if left := time.Until(r.until); left > 0 {
				next = min(next, left)
				continue
			}
		}
		t.busy[h.Name] = true
		t.running.Go(func() { t.tell(ctx, h) })
	}
	return next
}

func (t *Teller) tell(ctx context.Context, h *state.Host) {
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	err := t.tellOne(ctx, h)
	<-t.slots
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.busy, h.Name)
	if err == nil {
		delete(t.resting, h.Name)
		return
	}
	backoff := min(max(firstBackoff, 2*t.resting[h.Name].backoff), maxBackoff)
	t.resting[h.Name] = rest{until: time.Now().Add(backoff), backoff: backoff, modified: h.Modified}
	if ctx.Err() == nil {
		t.opts.Logger.Warn("tell of hooks", "host", h.Name, "error", err, "again_in", backoff)
	}
}

// tellOne brings a mom to the present generation and commits its word.
func (t *Teller) tellOne(ctx context.Context, h *state.Host) error {
	v := t.opts.Source.View()
	req := hookNews(v, t.opts.Term)
	before := -1
	for {
		bounded, cancel := context.WithTimeout(ctx, tellFor)
		reply, err := t.opts.Moms.Agent(h.Address).SetHooks(bounded, connect.NewRequest(req))
		cancel()
		if err != nil {
			return fmt.Errorf("call %s: %w", h.Address, err)
		}
		missing := reply.Msg.GetMissing()
		switch {
		case len(missing) == 0:
			return t.confirm(ctx, &command.HooksTold{
				Host: h.Name, Registered: h.Registered, Generation: req.GetGeneration(),
				Sent: reply.Msg.GetSent(), Deleted: reply.Msg.GetDeleted(),
			})
		case len(missing) == before:
			return fmt.Errorf("%s lacks the files that it was sent", h.Name)
		}
		before, req.Files = len(missing), contents(v, missing)
	}
}

func (t *Teller) confirm(ctx context.Context, c *command.HooksTold) error {
	out, err := t.opts.Proposer.Propose(ctx, command.Proposal{Commands: []command.Command{c}})
	if err == nil {
		err = out.Err()
	}
	if err != nil {
		return fmt.Errorf("confirm hooks: %w", err)
	}
	return nil
}

// hookNews writes all that moms have to know, without the contents of files.
func hookNews(v *state.View, term uint64) *api.SetHooksRequest {
	req := &api.SetHooksRequest{
		Epoch: v.Cluster().Epoch, Term: term, Generation: v.Cluster().HookGeneration, Server: v.Cluster().Name,
	}
	for h := range v.Hooks() {
		if !h.OnMoms() {
			continue
		}
		req.Hooks = append(req.Hooks, &api.Hook{
			Name: h.Name, Seq: h.Seq, Attributes: attributes(shownAttrs(h)), Script: h.Script.Sum, Config: h.Config.Sum,
		})
	}
	for d := range v.CustomResources() {
		req.Resources = append(req.Resources, &api.ResourceDefinition{Name: d.Name, Type: d.Type.String(), Flags: d.Flags.String()})
	}
	return req
}

// shownAttrs returns the attributes with their defaults, and freq whether it shows or not.
func shownAttrs(h *state.Hook) attr.List {
	var out attr.List
	for _, def := range attr.All(attr.Hook) {
		out = append(out, attr.Entry{Name: def.Name, Value: h.Get(def.Name)})
	}
	return out
}

// contents returns files with the checksums, as many as one call carries.
func contents(v *state.View, sums []string) []*api.HookFile {
	var out []*api.HookFile
	room := filesAtOnce
	for h := range v.Hooks() {
		for _, f := range []struct {
			kind state.HookFileKind
			sum  string
		}{{state.HookScript, h.Script.Sum}, {state.HookConfig, h.Config.Sum}} {
			body, ok := v.HookFile(h.Name, f.kind)
			if !ok || !slices.Contains(sums, f.sum) || len(out) > 0 && len(body) > room {
				continue
			}
			out, room = append(out, &api.HookFile{Sum: f.sum, Content: body}), room-len(body)
		}
	}
	return out
}
