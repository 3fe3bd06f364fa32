package mom

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/transport/api"
)

// momHooks are the hooks of a host; the lock is held by changes.
type momHooks struct {
	sync.Mutex
	store   *hook.Store
	again   chan struct{} // the hooks of the host's start are to run again
	greeted atomic.Bool   // since the last registration the servers have sent what they have
}

// SetHooks takes what the servers say of hooks and custom resources. Its answer says that
// it is on disk and in use, or what has to come along.
func (m *Mom) SetHooks(ctx context.Context, r *connect.Request[api.SetHooksRequest]) (*connect.Response[api.SetHooksReply], error) {
	l := m.running()
	if l == nil || !l.known() {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("the mom has not registered yet"))
	}
	req := r.Msg
	m.delivery.Lock()
	err := l.spool.Orders(req.GetEpoch(), req.GetTerm(), 0)
	m.delivery.Unlock()
	if m.void(err) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	contents := make(map[string][]byte, len(req.GetFiles()))
	for _, f := range req.GetFiles() {
		contents[f.GetSum()] = f.GetContent()
	}
	l.hooks.Lock()
	defer l.hooks.Unlock()
	next := manifest(req)
	m.refuseScripts(ctx, l.hooks.store, next)
	change, err := l.hooks.store.Set(next, contents)
	if err != nil {
		m.lines.write(pbs.LogError, "Hook", "SetHooks", err.Error())
		return nil, connect.NewError(connect.CodeUnavailable, err)
	}
	if len(change.Missing) > 0 {
		return connect.NewResponse(&api.SetHooksReply{Missing: change.Missing}), nil
	}
	sent := m.noteHooks(l, change)
	m.resteer(l)
	return connect.NewResponse(&api.SetHooksReply{Sent: sent, Deleted: change.Deleted}), nil
}

const (
	copyHook     = "copy hook-related file request received"
	deleteHook   = "delete hook-related file request received"
	resourceFile = "resourcedef"
)

// noteHooks tells in the log what came, as tools look for it, and returns it. After a registration
// all that there is counts as new, as with PBS, whose server sends it again to a mom that connects
// (specification: drop-in section 3).
func (m *Mom) noteHooks(l *life, c hook.Change) (sent []string) {
	sent = c.Sent
	if l.hooks.greeted.CompareAndSwap(false, true) {
		sent = append(l.hooks.store.Names(), resourceFile)
	}
	for _, name := range sent {
		m.lines.write(pbs.LogDebug, "Hook", name, copyHook)
	}
	for _, name := range c.Deleted {
		m.lines.write(pbs.LogDebug, "Hook", name, deleteHook)
	}
	return sent
}

// refuseScripts keeps new scripts of hooks from a host that takes none ($reject_root_scripts): a hook that is there keeps its own, and one that is not does
// not run. The servers hear that the host has what it is to have.
func (m *Mom) refuseScripts(ctx context.Context, has *hook.Store, next *hook.Manifest) {
	if !m.settings.Load().NoRootJobs {
		return
	}
	for i := range next.Hooks {
		h, old := &next.Hooks[i], ""
		for _, before := range has.Manifest().Hooks {
			if before.Name == h.Name {
				old = before.Script
			}
		}
		if h.Script == "" || h.Script == old {
			continue
		}
		h.Script = old
		m.lines.write(pbs.LogDebug, "Req", "req_reject", fmt.Sprintf("Reject reply code=%d, aux=0, type=%d, from %s", rejectsRootScripts, copyHookFile, sender(ctx)))
		m.lines.write(pbs.LogError, "Hook", h.Name, "the script of the hook is not taken: $reject_root_scripts is true")
	}
}

// The texts that PBS has for the error of a mom that accepts no scripts of root, and for the request that brings a file of a hook.
const (
	rejectsRootScripts = 15168
	copyHookFile       = 85
)

func manifest(r *api.SetHooksRequest) *hook.Manifest {
	m := &hook.Manifest{Generation: r.GetGeneration(), Server: r.GetServer()}
	for _, h := range r.GetHooks() {
		one := hook.Hook{
			Name: h.GetName(), Seq: h.GetSeq(), Attrs: map[string]string{},
			Script: h.GetScript(), Config: h.GetConfig(),
		}
		for _, a := range h.GetAttributes() {
			one.Attrs[a.GetName()] = a.GetValue()
		}
		m.Hooks = append(m.Hooks, one)
	}
	for _, d := range r.GetResources() {
		m.Resources = append(m.Resources, hook.Resource{Name: d.GetName(), Type: d.GetType(), Flags: d.GetFlags()})
	}
	return m
}
