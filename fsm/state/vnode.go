package state

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// Available returns resources_available of the vnode: what the mom reports, with
// what qmgr set on top. One that no mom has reported has the words by which requests name it.
func (v *Vnode) Available() resource.List {
	out := v.Reported
	if len(out) == 0 {
		out = out.Set("host", pbs.ShortHost(v.Host)).Set("vnode", string(v.Name))
	}
	for _, it := range v.Configured {
		out = out.Set(it.Name, it.Value)
	}
	return out
}

// HostWord returns what requests call the host of the vnode: resources_available.host. Vnodes of one mom with different
// words are on different hosts for whoever places jobs.
func (v *Vnode) HostWord() string {
	for _, list := range []resource.List{v.Configured, v.Reported} {
		if word, ok := list.Get("host"); ok && word != "" {
			return word
		}
	}
	return pbs.ShortHost(v.Host)
}

// sharesHost reports whether another vnode is on the host of the vnode.
func (t *tables) sharesHost(v *Vnode) bool {
	word := v.HostWord()
	for other := range t.VnodesOf(v.Host) {
		if other.Name != v.Name && other.HostWord() == word {
			return true
		}
	}
	return false
}

// Exclusive reports whether a run that is not suspended holds the whole vnode.
func (v *Vnode) Exclusive() bool {
	return slices.ContainsFunc(v.Jobs, func(j VnodeJob) bool { return j.Exclusive && !j.Suspended })
}

// Lost reports whether the vnode is away, or was taken out of service. One that is busy is neither: nothing starts there now.
func (v *Vnode) Lost() bool { return v.Flags&^VnodeBusy != 0 }

// Usable reports whether new runs may be placed on the vnode that belong to no reservation.
func (v *Vnode) Usable() bool { return v.UsableFor("") }

// UsableFor reports whether new runs of a reservation, or of none, may be placed on the vnode.
func (v *Vnode) UsableFor(id pbs.ReservationID) bool {
	return v.Flags == 0 && !v.Exclusive() && !v.InMaintenance() &&
		!slices.ContainsFunc(v.Reserved, func(r alloc.Reserved) bool { return r.Exclusive && r.Reservation != id })
}

// State returns the vnode's state as pbsnodes prints it, its words in PBS's order.
func (v *Vnode) State() string { return v.state(v.Exclusive()) }

// state is State of a vnode that a run has alone or not.
func (v *Vnode) state(alone bool) string {
	var words []string
	for _, w := range []struct {
		holds bool
		word  string
	}{
		{v.Flags&VnodeUnknown != 0, "state-unknown"},
		{v.Flags&(VnodeDown|VnodeTroubled|VnodeSetDown) != 0, "down"},
		{v.Flags&VnodeStale != 0, "Stale"},
		{v.Flags&VnodeOffline != 0, "offline"},
		{!alone && v.full(), "job-busy"},
		{alone, "job-exclusive"},
		{v.Flags&VnodeBusy != 0, "busy"},
		{v.ReservedAlone(), "resv-exclusive"},
		{v.Flags&VnodeAsleep != 0, "sleep"},
		{v.InMaintenance(), "maintenance"},
	} {
		if w.holds {
			words = append(words, w.word)
		}
	}
	if len(words) == 0 {
		return "free"
	}
	return strings.Join(words, ",")
}

// stateBits are PBS's numbers of the states of vnodes; hooks know them as ND_STATE_OFFLINE and the like.
var stateBits = map[string]uint64{
	"offline": 0x1, "down": 0x2, "job-busy": 0x10, "Stale": 0x20, "job-exclusive": 0x40, "busy": 0x80, "state-unknown": 0x100, "resv-exclusive": 0x2000,
	"maintenance": 0x20000, "sleep": 0x40000,
}

// StateBits returns the state of the vnode as PBS's number.
func (v *Vnode) StateBits() (bits uint64) {
	for word := range strings.SplitSeq(v.State(), ",") {
		bits |= stateBits[word]
	}
	return bits
}

// changedState tells of a change of the state of a vnode in PBS's words: with the bits that were set, or left by a mask, or both.
func changedState(old, v *Vnode) string {
	was, is := old.StateBits(), v.StateBits()
	set, left := is&^was, ^(was &^ is)
	bits, op, number := is, "Nd_State_Set", 0
	switch {
	case was&^is == 0:
		bits, op, number = set, "Nd_State_Or", 1
	case set == 0:
		bits, op, number = left, "Nd_State_And", 2
	}
	return fmt.Sprintf("set_vnode_state;vnode.state=0x%x vnode_o.state=0x%x vnode.last_state_change_time=%d vnode_o.last_state_change_time=%d "+
		"state_bits=0x%x state_bit_op_type_str=%s state_bit_op_type_enum=%d",
		is, was, v.LastStateChange.Unix(), old.LastStateChange.Unix(), bits, op, number)
}

func (v *Vnode) full() bool {
	if v.Active() == 0 {
		return false
	}
	have, _ := v.Available().Get("ncpus")
	total, err := strconv.ParseInt(have, 10, 64)
	busy := int64(0)
	for _, held := range v.Jobs { // what is reserved and not used makes nobody busy
		used, _ := held.Items.Get("ncpus")
		n, _ := strconv.ParseInt(used, 10, 64)
		busy += n
	}
	return err == nil && busy > 0 && busy >= total
}

// JobsText returns the jobs of the vnode with their cpu indexes, as pbsnodes
// prints them: "12.srv/0, 12.srv/1".
func (v *Vnode) JobsText() string {
	var words []string
	for _, j := range v.Jobs {
		for _, cpu := range j.CPUs {
			words = append(words, string(j.Job)+"/"+strconv.FormatUint(uint64(cpu), 10))
		}
	}
	return strings.Join(words, ", ")
}

// FreeCPUs returns the n lowest cpu indexes that no run on the vnode has; one
// index stands for a share without cpus.
func (v *Vnode) FreeCPUs(n int) []uint32 {
	taken := map[uint32]bool{}
	for _, j := range v.Jobs {
		for _, cpu := range j.CPUs {
			taken[cpu] = true
		}
	}
	free := make([]uint32, 0, max(n, 1))
	for cpu := uint32(0); len(free) < max(n, 1); cpu++ {
		if !taken[cpu] {
			free = append(free, cpu)
		}
	}
	return free
}

// multivnode returns the value of in_multivnode_host, which only vnodes have that share a host.
func multivnode(shares bool) string {
	if shares {
		return "1"
	}
	return ""
}

// VnodeAttributes returns every attribute of a vnode, in the order of the
// attribute table.
func (t *tables) VnodeAttributes(v *Vnode) attr.List {
	host, ok := t.Host(v.Host)
	if !ok {
		host = &Host{Name: v.Host}
	}
	_, port := pbs.SplitAddress(host.Address)
	state, jobs := v.State(), v.JobsText()
	if taker, taken := t.takerOfHost(v); taken {
		state, jobs = v.state(true), cmp.Or(jobs, string(taker)+"/0")
	}
	hot := map[string]string{
		"Mom":                    string(v.Host),
		"Port":                   port,
		"pbs_version":            host.Version,
		"ntype":                  "PBS",
		"state":                  state,
		"pcpus":                  v.pcpus(host),
		"jobs":                   jobs,
		"maintenance_jobs":       v.maintenanceJobs(),
		"comment":                cmp.Or(v.Comment, host.Ailment(), v.absence()),
		"resv":                   t.reservedText(v),
		"resv_enable":            boolText(!v.Unreserved),
		"sharing":                v.SharingText(),
		"in_multivnode_host":     multivnode(t.sharesHost(v)),
		"license":                "l",
		"last_state_change_time": seconds(v.LastStateChange),
		"last_used_time":         seconds(v.LastUsed),
	}
	out := make(attr.List, 0, 32)
	for _, def := range attr.All(attr.Vnode) {
		switch value, computed := hot[def.Name]; {
		case def.Name == "resources_available":
			out = appendItems(out, def.Name, v.Available())
		case def.Name == "resources_assigned":
			out = appendItems(out, def.Name, t.shownAssigned(v))
		case def.Name == "resources_reserved":
			out = appendItems(out, def.Name, t.reservedItems(v))
		case computed:
			out = appendValue(out, def.Name, value)
		default:
			out = appendCold(out, def, v.cold(def.Name))
		}
	}
	return out
}

// pcpus returns what a hook has set, else what the mom reports.
func (v *Vnode) pcpus(host *Host) string {
	if n, ok := v.Attrs.Get("pcpus", ""); ok {
		return n
	}
	return positive(int64(host.PCPUs))
}

// cold returns the list that has an attribute: what qmgr set, else what the mom reports.
func (v *Vnode) cold(name string) attr.List {
	if len(v.Attrs.Of(name)) > 0 {
		return v.Attrs
	}
	return v.ReportedAttrs
}

// Get returns an attribute of the vnode that is kept as it was set, its default if it is
// not set.
func (v *Vnode) Get(name string) string { return attrValue(attr.Vnode, v.cold(name), name) }

func (t *tables) shownAssigned(v *Vnode) resource.List {
	out := t.InUse(v)
	for _, it := range resource.AssignedToVnodes() {
		if _, ok := out.Get(it.Name); !ok {
			out = out.Set(it.Name, it.Value)
		}
	}
	return v.showIndirect(out)
}

// SharingText returns the sharing attribute, PBS's default if it is not set.
func (v *Vnode) SharingText() string {
	if v.Sharing == "" {
		return "default_shared"
	}
	return v.Sharing
}

// Ailment tells why the host takes no jobs though it is up: what its mom says, or what came of the
// starts there; empty: it takes jobs.
func (h *Host) Ailment() string { return cmp.Or(h.Trouble, h.Sick) }

// ConnectionClosed is why a mom is down, in PBS's words.
const ConnectionClosed = "communication closed"

// absence returns the comment of a vnode whose mom was there and is down, in PBS's words.
func (v *Vnode) absence() string {
	if v.Flags&(VnodeDown|VnodeUnknown) != VnodeDown {
		return ""
	}
	return "node down: " + ConnectionClosed
}

// NaturalVnode returns the name of the vnode that stands for a host as a whole.
func (t *tables) NaturalVnode(host pbs.HostName) pbs.VnodeName {
	if h, ok := t.Host(host); ok && h.Natural != "" {
		return h.Natural
	}
	return pbs.VnodeName(host)
}

// namedHosts returns an exec_host as users see it: a host goes by the name of its natural vnode.
func (t *tables) namedHosts(has spec.ExecHost) spec.ExecHost {
	shown, copied := has, false
	for i, slot := range has {
		name := string(t.NaturalVnode(pbs.HostName(slot.Host)))
		if name == slot.Host {
			continue
		}
		if !copied {
			shown, copied = slices.Clone(has), true
		}
		shown[i].Host = name
	}
	return shown
}

// recorded returns a job as its accounting records name its hosts.
func (t *tables) recorded(j *Job) *Job {
	if j.Run == nil || len(j.Run.ExecHost) == 0 {
		return j
	}
	named := t.namedHosts(j.Run.ExecHost)
	if &named[0] == &j.Run.ExecHost[0] {
		return j
	}
	next := *j
	next.EditRun().ExecHost = named
	return &next
}
