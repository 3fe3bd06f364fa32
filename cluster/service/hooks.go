package service

import (
	"context"
	"path/filepath"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// hostRoot reports whether it is root on a replica's host.
func (p person) hostRoot() bool { return p.user.Name == "root" && p.home }

// mayHooks permits root on a replica's host, and nobody else (specification: hooks section 1).
func mayHooks(p person, name string) error {
	if p.hostRoot() {
		return nil
	}
	d := denial(p, "Req", "Hook", name, typeManage)
	d.words = noHooks(p.user, p.view)
	return d
}

// noHooks returns what those read who may not see or change hooks.
func noHooks(u pbs.User, v *state.View) *pbs.Error {
	return pbs.Errorf(pbs.Unauthorized, "%s is unauthorized to access hooks data from server %s", u, v.Cluster().Name)
}

func manageHooks(builtin bool) func(p person, d directive) ([]command.Command, error) {
	return func(p person, d directive) ([]command.Command, error) {
		if d.name != everyone && d.name != "" {
			return []command.Command{&command.ManageHook{Verb: d.verb, Name: d.name, Builtin: builtin, Changes: d.changes}}, nil
		}
		var all []command.Command
		for h := range p.view.Hooks() {
			if h.Builtin() == builtin {
				all = append(all, &command.ManageHook{Verb: d.verb, Name: h.Name, Builtin: builtin, Changes: d.changes})
			}
		}
		return all, nil
	}
}

var hookFiles = map[api.HookFileKind]state.HookFileKind{
	api.HookFileKind_HOOK_FILE_KIND_SCRIPT: state.HookScript,
	api.HookFileKind_HOOK_FILE_KIND_CONFIG: state.HookConfig,
}

// hookOf finds a hook by the name and the kind of object that it was addressed as. A site
// hook's configuration and that of a built-in one are imported by the same word.
func hookOf(v *state.View, name string, builtin bool) (*state.Hook, error) {
	h, ok := v.Hook(name)
	if !ok || builtin && !h.Builtin() {
		return nil, pbs.Errorf(pbs.HookError, "%s hook not found", name)
	}
	return h, nil
}

// ImportHook stores a hook's script or configuration, if an interpreter or parser can read it.
func (b *Batch) ImportHook(ctx context.Context, r *connect.Request[api.ImportHookRequest]) (*connect.Response[api.ImportHookReply], error) {
	began := time.Now()
	result, err := b.change(ctx, r, func(p person) ([]command.Command, error) {
		if err := mayHooks(p, r.Msg.GetHook()); err != nil {
			return nil, err
		}
		kind, ok := hookFiles[r.Msg.GetKind()]
		if !ok {
			return nil, pbs.Refuse(pbs.InvalidRequest)
		}
		h, err := hookOf(p.view, r.Msg.GetHook(), r.Msg.GetBuiltin())
		if err != nil {
			return nil, err
		}
		if err := b.readable(ctx, h, kind, r.Msg); err != nil {
			return nil, err
		}
		return []command.Command{&command.ImportHook{Name: h.Name, Kind: kind, Body: r.Msg.GetContent()}}, nil
	})
	if err == nil && r.Msg.GetKind() == api.HookFileKind_HOOK_FILE_KIND_SCRIPT { // as PBS tells of it
		text := "Compiling script file: <" + filepath.Join(b.Home, "server_priv", "hooks", r.Msg.GetHook()+".PY") + ">"
		b.say(ctx, pbs.LogDebug3, "Svr", "pbs_python_check_and_compile_script", text)
	}
	b.managed(ctx, began, importOf(r.Msg), err)
	return reply(&api.ImportHookReply{Overwritten: result.Overwritten}, err)
}

// ExportHook returns a hook's script or configuration.
func (b *Batch) ExportHook(ctx context.Context, r *connect.Request[api.ExportHookRequest]) (*connect.Response[api.ExportHookReply], error) {
	v, err := b.present(ctx)
	if err != nil {
		return nil, err
	}
	p, err := b.person(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := mayHooks(p, r.Msg.GetHook()); err != nil {
		return nil, b.told(ctx, err)
	}
	h, err := hookOf(v, r.Msg.GetHook(), r.Msg.GetBuiltin())
	if err != nil {
		return nil, err
	}
	body, _ := v.HookFile(h.Name, hookFiles[r.Msg.GetKind()])
	return connect.NewResponse(&api.ExportHookReply{Content: body}), nil
}

func (l *listing) hooks(builtin bool) error {
	return l.once(func(v *state.View, p *page) {
		if l.me.perm < attr.Manager || l.me.user.Name != "root" || !l.me.home {
			p.refuseWith(l.firstName(), noHooks(l.me.user, v))
			return
		}
		names := l.req.GetNames()
		if len(names) == 0 {
			for h := range v.Hooks() {
				if h.Builtin() == builtin {
					p.add(h.Name, p.fields.of(state.HookAttributes(h), v))
				}
			}
		}
		for _, name := range names {
			h, ok := v.Hook(name)
			if !ok || h.Builtin() != builtin {
				p.refuseWith(name, pbs.Errorf(pbs.HookError, "hook not found"))
				continue
			}
			p.add(name, p.fields.of(state.HookAttributes(h), v))
		}
	})
}

func (l *listing) firstName() string {
	if names := l.req.GetNames(); len(names) > 0 {
		return names[0]
	}
	return ""
}
