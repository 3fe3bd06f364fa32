package task

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/mom/spool"
)

// An Order is what the order to run a job, or to take part in a run, has said, and what was made of it
// when it came.
type Order struct {
	Key    spool.TaskKey `json:"key"`
	BootID string        `json:"boot_id"` // of the host when the order came
	Attrs  Attrs         `json:"attrs"`
	Script bool          `json:"script"`          // else it runs executable and argument_list
	Known  *Account      `json:"known,omitempty"` // the owner, as the servers know him
	Cookie string        `json:"cookie"`
	Lapse  uint64        `json:"lapse"` // of the host's deadline when the order came
	// Hosts are those of a run over several, the mother superior first; Host is this one.
	Hosts []Host `json:"hosts,omitempty"`
	// OutputAt is the host that has what earlier runs have written; empty: none, or this one.
	OutputAt string       `json:"output_at,omitempty"`
	Host     pbs.HostName `json:"host,omitempty"`
}

// A Host is one of those that a run is on.
type Host struct {
	Name    pbs.HostName `json:"name"`
	Address string       `json:"address"` // HOST:PORT of its mom
}

// An Attr is one attribute of the job, or one resource of a list.
type Attr struct {
	Name     string `json:"name"`
	Resource string `json:"resource,omitempty"`
	Value    string `json:"value"`
}

// Attrs are the job's attributes as they came with the order.
type Attrs []Attr

// Get returns the value of an attribute, "" if it is not set.
func (a Attrs) Get(name string) string { return a.Resource(name, "") }

// Resource returns one value of a resource list, "" if it is not set.
func (a Attrs) Resource(name, resource string) string {
	for _, attr := range a {
		if attr.Name == name && attr.Resource == resource {
			return attr.Value
		}
	}
	return ""
}

// limit returns a limit of the job in the unit of resource.Quantity.Int; ok is false
// when it has none.
func (o Order) limit(name string) (n int64, ok bool) {
	text := o.Attrs.Resource("Resource_List", name)
	def, known := resource.Lookup(name)
	if text == "" || !known {
		return 0, false
	}
	q, err := resource.Parse(def.Type, text)
	return q.Int(), err == nil
}

func (o Order) rerunnable() bool { return o.Attrs.Get("Rerunable") != "False" }
