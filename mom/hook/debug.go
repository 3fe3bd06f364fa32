package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keep leaves what a hook with debug has seen and done where whoever debugs it looks: the event and the answer in PBS's lines
// (.in, .out), and the whole request (.data), which Replay reads.
func keep(run *Run, req *request, answer *Answer, began time.Time, logger *slog.Logger) {
	base := filepath.Join(run.Debug, fmt.Sprintf("hook_%s_%s_%d", run.Event.Event, run.Hook.Name, began.UnixNano()))
	data, err := json.MarshalIndent(req, "", " ")
	if err = errors.Join(err, os.MkdirAll(run.Debug, 0o700)); err == nil {
		err = errors.Join(
			os.WriteFile(base+".in", eventLines(&req.Data), 0o600),
			os.WriteFile(base+".data", data, 0o600),
			os.WriteFile(base+".out", answerLines(run.Event, answer), 0o600),
		)
	}
	if err != nil {
		logger.Warn("input and output of a hook not kept", "hook", run.Hook.Name, "err", err)
	}
}

// lines are assignments as a script would write them, but for the quotes of values.
type lines struct{ bytes.Buffer }

// newlines keep a value on its line.
var newlines = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`)

func (l *lines) set(what, value string) {
	fmt.Fprintf(l, "pbs.event().%s=%s\n", what, newlines.Replace(value))
}

func (l *lines) object(what, id string, o *Object) {
	if o == nil {
		return
	}
	if id != "" && o.Name != "" {
		l.set(what+"."+id, o.Name)
	}
	for _, a := range o.Attrs {
		if a[1] != "" {
			a[0] += "[" + a[1] + "]"
		}
		l.set(what+"."+a[0], a[2])
	}
}

func (l *lines) objects(what string, all []Object) {
	for i := range all {
		l.object(fmt.Sprintf("%s[%q]", what, all[i].Name), "", &all[i])
	}
}

func (l *lines) edits(what string, e *Edits) {
	if e == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.Set)) {
		attribute, res, listed := strings.Cut(name, ".")
		if listed {
			attribute += "[" + res + "]"
		}
		value := "None"
		if v := e.Set[name]; v != nil {
			value = *v
		}
		l.set(what+"."+attribute, value)
	}
	if e.Wish != "" {
		l.set(what+"._"+e.Wish, "True")
	}
}

func (l *lines) editsOf(what string, all map[string]*Edits) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		l.edits(fmt.Sprintf("%s[%q]", what, name), all[name])
	}
}

// program writes what an execjob_launch hook has, or wants, of the program; nothing at other events.
func (l *lines) program(name string, args []string, env map[string]string) {
	if name == "" {
		return
	}
	l.set("progname", name)
	for i, arg := range args {
		l.set(fmt.Sprintf("argv[%d]", i), arg)
	}
	for _, variable := range slices.Sorted(maps.Keys(env)) {
		l.set(fmt.Sprintf("env[%q]", variable), env[variable])
	}
}

func eventLines(d *data) []byte {
	var l lines
	e := d.Event
	l.set("type", e.Event)
	for _, name := range slices.Sorted(maps.Keys(d.Hook)) {
		if name == "name" || name == "type" {
			l.set("hook_"+name, d.Hook[name])
			continue
		}
		if name != "event" {
			l.set(name, d.Hook[name])
		}
	}
	l.set("requestor", e.Requestor)
	l.set("requestor_host", e.RequestorHost)
	l.object("job", "id", e.Job)
	l.object("job_o", "id", e.JobBefore)
	if e.SrcQueue != "" {
		l.set("src_queue", e.SrcQueue)
	}
	l.object("resv", "resvid", e.Resv)
	l.object("resv_o", "resvid", e.ResvBefore)
	l.object("vnode", "name", e.Vnode)
	l.object("vnode_o", "name", e.VnodeOld)
	l.objects("vnode_list", e.Vnodes)
	l.objects("vnode_list_fail", e.Failed)
	l.objects("job_list", e.Jobs)
	l.program(e.Program, e.Args, e.Env)
	if e.PID != 0 {
		l.set("pid", fmt.Sprint(e.PID))
	}
	if m := e.Management; m != nil {
		l.set("management.cmd", fmt.Sprint(m.Cmd))
		l.set("management.objtype", fmt.Sprint(m.ObjType))
		l.set("management.objname", m.ObjName)
		l.set("management.request_time", fmt.Sprint(m.RequestTime))
		l.set("management.reply_code", fmt.Sprint(m.ReplyCode))
	}
	return l.Bytes()
}

// answerLines returns the lines that tell the outcome of the hook; a hook that has failed is a refusal, with the cause.
func answerLines(e *Event, a *Answer) []byte {
	var l lines
	switch {
	case a == nil:
		l.set("reject", "True")
		return l.Bytes()
	case a.Failure == "" && a.Accept:
		l.set("accept", "True")
	default:
		l.set("accept", "False")
		l.set("reject", "True")
		if text := a.Message + a.Failure; text != "" {
			l.set("reject_msg", text)
		}
	}
	l.edits("job", a.Job)
	l.edits("resv", a.Resv)
	l.editsOf("job_list", a.Jobs)
	l.editsOf("vnode_list", a.Vnodes)
	if a.Program != nil && e.Program != "" {
		l.program(*a.Program, a.Args, a.Env)
	}
	return l.Bytes()
}
