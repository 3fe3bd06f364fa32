package hook

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
)

// An Attr is one value of an object: name, resource ("" unless the attribute is a list of
// resources) and text.
type Attr [3]string

// Checkpointed stands beside the attributes of a job of which there is a checkpoint: for
// is_checkpointed() of hooks.md section 6.
var Checkpointed = Attr{"_checkpointed", "", "True"}

// An Object is a job, vnode, queue, reservation or server as a hook sees it.
type Object struct {
	Name  string `json:"name"`
	Attrs []Attr `json:"attrs"`
	MS    bool   `json:"ms,omitempty"` // of jobs on a host: it is the mother superior
}

// MarshalJSON writes an empty list for an object without attributes: the pbs module goes through it.
func (o Object) MarshalJSON() ([]byte, error) {
	type plain Object
	if o.Attrs == nil {
		o.Attrs = []Attr{}
	}
	return json.Marshal(plain(o))
}

// Get returns a value, "" if it is not set.
func (o *Object) Get(name, resource string) string {
	for _, a := range o.Attrs {
		if a[0] == name && a[1] == resource {
			return a[2]
		}
	}
	return ""
}

// set gives an attribute a value, or with nil takes it away.
func (o *Object) set(name, resource string, value *string) {
	var kept []Attr
	done := value == nil
	for _, a := range o.Attrs {
		switch {
		case a[0] != name || a[1] != resource && (resource != "" || value != nil):
			kept = append(kept, a)
		case value != nil:
			kept, done = append(kept, Attr{name, resource, *value}), true
		}
	}
	if !done {
		kept = append(kept, Attr{name, resource, *value})
	}
	o.Attrs = kept
}

// A Management is a directive of qmgr that was carried out, or refused, in the numbers of PBS.
type Management struct {
	Cmd         int          `json:"cmd"`
	ObjType     int          `json:"objtype"`
	ObjName     string       `json:"objname"`
	RequestTime int64        `json:"request_time"`
	ReplyCode   int          `json:"reply_code"`
	ReplyAux    int          `json:"reply_auxcode"`
	ReplyChoice int          `json:"reply_choice"`
	ReplyText   *string      `json:"reply_text"`
	Attribs     []Attributed `json:"attribs"`
}

// Attributed is one change of a directive.
type Attributed struct {
	Name     string       `json:"name"`
	Resource string       `json:"resource"`
	Value    string       `json:"value"`
	Op       int          `json:"op"`
	Flags    int          `json:"flags"`
	Sisters  []Attributed `json:"sisters"`
}

// An Event is something that happened, or is about to, with all that hooks may see of it.
// What an event does not have is left empty.
type Event struct {
	Event         string `json:"event"` // "queuejob"
	Requestor     string `json:"requestor"`
	RequestorHost string `json:"requestor_host"`
	Mom           bool   `json:"mom,omitempty"` // it happens on a mom
	MS            bool   `json:"ms,omitempty"`  // which is the job's mother superior

	Job        *Object           `json:"job,omitempty"`
	JobBefore  *Object           `json:"job_o,omitempty"`
	SrcQueue   string            `json:"src_queue,omitempty"`
	Resv       *Object           `json:"resv,omitempty"`
	ResvBefore *Object           `json:"resv_o,omitempty"`
	Vnode      *Object           `json:"vnode,omitempty"`
	VnodeOld   *Object           `json:"vnode_o,omitempty"`
	Vnodes     []Object          `json:"vnode_list,omitempty"`
	Failed     []Object          `json:"vnode_list_fail,omitempty"`
	Jobs       []Object          `json:"job_list,omitempty"`
	Program    string            `json:"progname,omitempty"`
	Args       []string          `json:"argv,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	PID        int               `json:"pid,omitempty"`
	Management *Management       `json:"management,omitempty"`

	// Releases are what hooks at this event have given back of the job so far.
	Releases []Release `json:"releases,omitempty"`

	// Settable are the attributes of jobs, and of the reservation, that hooks may change.
	Settable []string `json:"settable,omitempty"`
	// VnodesSettable reports whether hooks may change vnodes.
	VnodesSettable bool `json:"vnodes_settable,omitempty"`
}

// Edits are changes of one object: NAME or NAME.RESOURCE, with nil for what is unset.
type Edits struct {
	Set   map[string]*string `json:"set"`
	Types map[string]string  `json:"types"` // of resources that are not known yet
	Wish  string             `json:"wish"`  // of jobs: "rerun" or "delete"
	// Release is what a job is to give back before its program begins, one after the other, and
	// Assignment what it has then.
	Release    []Release `json:"release"`
	Assignment []Attr    `json:"assignment"`
}

// A Release says what a job is to give back: vnodes by their names, or all that a select does not
// need.
type Release struct {
	Vnodes []string `json:"vnodes,omitempty"`
	Keep   string   `json:"keep,omitempty"`
	Gone   []string `json:"gone,omitempty"` // vnodes of which nothing stays
}

// An Answer is what came of one hook.
type Answer struct {
	Accept  bool   `json:"accept"`
	Message string `json:"message"` // of a rejection
	Code    int    `json:"code"`    // of a rejection
	// Failure says why the hook did not come to its end; empty: it did. Then it counts as
	// a rejection, and nothing that it has changed takes effect.
	Failure   string `json:"failed"`
	TimedOut  bool   `json:"-"` // Failure is due to the alarm
	Traceback string `json:"traceback"`

	Job     *Edits            `json:"job"`
	Resv    *Edits            `json:"resv"`
	Jobs    map[string]*Edits `json:"jobs"`
	Vnodes  map[string]*Edits `json:"vnodes"`
	Program *string           `json:"progname"`
	Args    []string          `json:"argv"`
	Env     map[string]string `json:"env"`
	Restart bool              `json:"restart"` // a scheduling cycle is wanted
	Reboot  string            `json:"reboot"`  // the host is to be restarted, by this command

	Output string `json:"-"` // what the script printed, bounded

	Took Took `json:"took"` // by the script itself
}

// Took is what something took of time and of processor time, in seconds.
type Took struct {
	Wall float64 `json:"walltime"`
	CPU  float64 `json:"cputime"`
}

// apply makes the changes of a hook what the next one sees.
func (e *Event) apply(a *Answer) {
	if a.Job != nil && e.Job != nil {
		next := *e.Job
		next.edit(a.Job)
		next.reassign(a.Job.Assignment)
		e.Job, e.Releases = &next, append(slices.Clip(e.Releases), a.Job.Release...)
	}
	if a.Resv != nil && e.Resv != nil {
		next := *e.Resv
		next.edit(a.Resv)
		e.Resv = &next
	}
	e.Jobs, e.Vnodes, e.Failed = editedOf(e.Jobs, a.Jobs), editedOf(e.Vnodes, a.Vnodes), editedOf(e.Failed, a.Vnodes)
	for _, name := range slices.Sorted(maps.Keys(a.Vnodes)) {
		known := func(o Object) bool { return o.Name == name }
		if edits := a.Vnodes[name]; edits != nil && !slices.ContainsFunc(e.Vnodes, known) && !slices.ContainsFunc(e.Failed, known) {
			made := Object{Name: name}
			made.edit(edits)
			e.Vnodes = append(e.Vnodes, made)
		}
	}
	if a.Program != nil {
		e.Program = *a.Program
	}
	if a.Args != nil {
		e.Args = a.Args
	}
	if a.Env != nil {
		e.Env = a.Env
	}
}

// editedOf returns copies of objects with their changes.
func editedOf(all []Object, edits map[string]*Edits) []Object {
	out := slices.Clone(all)
	for i := range out {
		if own := edits[out[i].Name]; own != nil {
			out[i].edit(own)
		}
	}
	return out
}

// reassign gives a job another assignment, with all of its Resource_List.
func (o *Object) reassign(to []Attr) {
	if len(to) == 0 {
		return
	}
	o.Attrs = slices.DeleteFunc(slices.Clone(o.Attrs), func(a Attr) bool {
		return slices.ContainsFunc(to, func(n Attr) bool { return n[0] == a[0] })
	})
	o.Attrs = append(o.Attrs, to...)
}

func (o *Object) edit(edits *Edits) {
	for name, value := range edits.Set {
		base, resource := splitName(name)
		o.set(base, resource, value)
	}
}

// A Line is what a hook writes into the log.
type Line struct {
	Level int    // 7 debug, 4 warning, 3 error
	Job   string // a line about a job; empty: about nothing
	Text  string
}

// A Source answers what hooks ask about the cluster: kind is "server", "queue", "vnode", "resv" or
// "job", and name one object, or "" for all of the kind.
type Source interface {
	Objects(ctx context.Context, kind, name string, yield func(Object) error) error
}

// jsonText returns a value as one line of JSON.
func jsonText(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(text, '\n'), err
}
