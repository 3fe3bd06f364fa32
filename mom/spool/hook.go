package spool

// Hook is what a hook that ran on this host wants of vnodes and jobs.
type Hook struct {
	Name    string      `json:"name"`
	Vnodes  []HookVnode `json:"vnodes,omitempty"`
	Offline string      `json:"offline,omitempty"` // comment with which the host's vnodes go offline; empty: they do not
	Clear   string      `json:"clear,omitempty"`   // comment of those that come back
	Restart bool        `json:"restart,omitempty"` // a scheduling cycle is wanted
	Rerun   []TaskKey   `json:"rerun,omitempty"`
	Delete  []TaskKey   `json:"delete,omitempty"`
	Jobs    []HookJob   `json:"jobs,omitempty"`
	Own     bool        `json:"own,omitempty"`     // it has run as the owner of the job
	Kept    []TaskKey   `json:"kept,omitempty"`    // runs whose deletion hooks have refused
	Stopped []TaskKey   `json:"stopped,omitempty"` // runs that hooks do not let go on after a suspension
	Why     string      `json:"why,omitempty"`     // they have, or do not, in their words
}

// A HookJob is a run of a job as a hook wants it.
type HookJob struct {
	Task  TaskKey    `json:"task"`
	Set   []HookAttr `json:"set,omitempty"`
	Unset []string   `json:"unset,omitempty"` // NAME or NAME.RESOURCE
}

// A HookVnode is a vnode as a hook wants it.
type HookVnode struct {
	Name  string     `json:"name"`
	Set   []HookAttr `json:"set,omitempty"`
	Unset []string   `json:"unset,omitempty"` // NAME or NAME.RESOURCE
	Types []HookAttr `json:"types,omitempty"` // of resources, by name, that may not be known yet
}

// A HookAttr is one value of an attribute.
type HookAttr struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"`
	Value    string `json:"value"`
}
