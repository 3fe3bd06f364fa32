package service

import (
	"context"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/transport/api"
)

// The numbers of PBS for what is done, to what, how, and what kind of answer there was.
var (
	mgrCommands = map[api.Verb]int{api.Verb_VERB_CREATE: 0, api.Verb_VERB_DELETE: 1, api.Verb_VERB_SET: 2, api.Verb_VERB_UNSET: 3}
	mgrObjects  = map[api.ObjectKind]int{
		api.ObjectKind_OBJECT_KIND_SERVER: 0, api.ObjectKind_OBJECT_KIND_QUEUE: 1, api.ObjectKind_OBJECT_KIND_VNODE: 3,
		api.ObjectKind_OBJECT_KIND_HOST: 3, api.ObjectKind_OBJECT_KIND_RESOURCE: 5, api.ObjectKind_OBJECT_KIND_SCHED: 6,
		api.ObjectKind_OBJECT_KIND_HOOK: 8, api.ObjectKind_OBJECT_KIND_PBSHOOK: 9,
	}
	mgrOps = map[api.Op]int{api.Op_OP_SET: 0, api.Op_OP_UNSET: 1, api.Op_OP_INCREASE: 2, api.Op_OP_DECREASE: 3}
)

const (
	mgrImport   = 7
	replyNull   = 1
	replyText   = 7
	contentType = "application/x-python"
	configType  = "application/x-config"
)

// managementOf returns a directive as hooks see it.
func managementOf(r *api.ManageRequest) *hook.Management {
	m := &hook.Management{Cmd: mgrCommands[r.GetVerb()], ObjType: mgrObjects[r.GetKind()], ObjName: r.GetName()}
	for _, a := range r.GetChanges() {
		op := mgrOps[a.GetOp()]
		if r.GetVerb() == api.Verb_VERB_UNSET {
			op = mgrOps[api.Op_OP_UNSET]
		}
		m.Attribs = append(m.Attribs, hook.Attributed{Name: a.GetName(), Resource: a.GetResource(), Value: a.GetValue(), Op: op})
	}
	return m
}

// importOf returns the import of a hook's file as hooks see it.
func importOf(r *api.ImportHookRequest) *hook.Management {
	kind, what := api.ObjectKind_OBJECT_KIND_HOOK, contentType
	if r.GetBuiltin() {
		kind = api.ObjectKind_OBJECT_KIND_PBSHOOK
	}
	if r.GetKind() == api.HookFileKind_HOOK_FILE_KIND_CONFIG {
		what = configType
	}
	return &hook.Management{Cmd: mgrImport, ObjType: mgrObjects[kind], ObjName: r.GetHook(), Attribs: []hook.Attributed{
		{Name: "content-type", Value: what}, {Name: "content-encoding", Value: "default"}, {Name: "input-file", Value: r.GetFile()},
	}}
}

// managed tells the hooks of management what became of a directive. They cannot change that, and
// what becomes of them is in the log.
func (b *Batch) managed(ctx context.Context, began time.Time, m *hook.Management, refusal error) {
	v, err := b.present(ctx)
	if err != nil || !v.HasHooksAt("management") || b.Hooks == nil {
		return
	}
	p, err := b.person(ctx, v)
	if err != nil {
		return
	}
	m.RequestTime, m.ReplyChoice = began.Unix(), replyNull
	if refusal != nil {
		text := refusal.Error()
		m.ReplyCode, m.ReplyChoice, m.ReplyText = int(pbs.CodeOf(refusal)), replyText, &text
	}
	_, _ = b.runHooks(ctx, p, &hook.Event{Event: "management", Management: m})
}
