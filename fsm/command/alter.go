package command

import (
	"slices"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// Op says how a change applies to the value that is there. The numbers are in
// every log: append only.
type Op uint8

// The operations of qmgr and qalter.
const (
	OpSet Op = iota
	OpUnset
	OpIncrease // +=
	OpDecrease // -=
)

// An AttrChange is one change of an attribute, parsed by the attribute table.
type AttrChange struct {
	Entry attr.Entry `cbor:"1,keyasint"`
	Op    Op         `cbor:"2,keyasint,omitempty"`
}

// name returns the attribute as messages name it: "Resource_List.walltime".
func (c AttrChange) name() string {
	if c.Entry.Resource == "" {
		return c.Entry.Name
	}
	return c.Entry.Name + "." + c.Entry.Resource
}

// AlterJob changes attributes of a job: qalter.
type AlterJob struct {
	Job     pbs.JobID    `cbor:"1,keyasint"`
	Changes []AttrChange `cbor:"2,keyasint,omitempty"`
	Hooked  bool         `cbor:"3,keyasint,omitempty"` // hooks of the server do it, and nobody asked
	Usage   bool         `cbor:"4,keyasint,omitempty"` // of a job that runs also what it reserves, as bmod -R asks
	LSF     bool         `cbor:"5,keyasint,omitempty"` // by LSF's rules: bmod
	Keep    pbs.Holds    `cbor:"6,keyasint,omitempty"` // what the asker may not take off, whatever Hold_Types says
}

// Apply makes all the changes or none. While a job runs only those are allowed
// that the attribute table says so for.
func (c *AlterJob) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if err := wholeOnly(c.Job); err != nil && !(c.Hooked && c.Job.Sub() > 0) {
		return err
	}
	j, err := c.toAlter(tx)
	if err != nil {
		return err
	}
	next := *j
	structural := false
	for _, ch := range c.Changes {
		if j.Live() && !alterableWhileRunning(c.LSF, ch.Entry) && !(c.Usage && ofUsage(tx, ch.Entry)) {
			return pbs.Attribute(pbs.RunningAttribute, ch.name())
		}
		if ch.Entry.Name == lsf.JobMessages && ch.Op != OpUnset && ch.Entry.Value != "" {
			before, _ := next.Attrs.Get(lsf.JobMessages, "")
			var ok bool
			if ch.Entry.Value, ok = lsf.Post(before, ch.Entry.Value, m.Asker.Name, int64(m.At/pbs.Time(time.Second))); !ok {
				return pbs.Errorf(pbs.BadAttributeValue, "a job has room for %d bytes of messages", lsf.MostMessages)
			}
		}
		if err := applyChange(&next, ch); err != nil {
			return err
		}
		if ch.Entry.Name == "eligible_time" {
			q, _ := resource.Parse(resource.Time, ch.Entry.Value) // a value that the attribute's parser took
			next.SetEligible(q.Int(), m.At)
		}
		if ch.Entry.Name == "Resource_List" {
			structural, next.Defaults = true, withoutName(next.Defaults, ch.Entry.Resource)
		}
	}
	next.Holds |= j.Holds & c.Keep
	again := repaced(&next, c.Changes, c.LSF)
	usage := c.Usage && j.Live()
	switch {
	case usage:
		if err := reserveAnew(tx, j, &next); err != nil {
			return err
		}
		next.Releases++
	case structural:
		if err := recomplete(tx, j, &next, c.Changes); err != nil {
			return err
		}
	}
	if again {
		pace(tx, &next)
	}
	if err := checkArray(j, &next); err != nil {
		return err
	}
	if altersDepend(c.Changes) {
		if err := relink(tx, &next, m.At); err != nil {
			return err
		}
	}
	setPaths(tx, &next)
	if next.Name != j.Name && next.Depends.Single() {
		single(tx, &next)
		unhold(&next, m.At)
	}
	if q, ok := tx.Queue(next.Queue); ok {
		spaced(q, &next)
	}
	if !usage { // a run goes on from its checkpoint with the new amounts
		rebind(tx, j, &next)
	}
	settle(&next, m.At)
	tx.PutJob(&next)
	if next.Name != j.Name {
		nameLeft(tx, j.Owner.Name, j.Name)
	}
	if j.State == pbs.Running {
		c.tellMom(tx, &next)
	}
	if usage { // its mother superior is told as of a release that is done, with all of Resource_List
		orderRelease(tx, &next, state.ReleaseDone)
	}
	followParent(tx, next.ID, false)
	tx.Emit(state.Event{Kind: state.JobAltered, Job: &next, By: m.Asker, Changes: accountedChanges(&next, c.Changes), Quiet: c.Hooked})
	return nil
}

// tellMom orders the mother superior to enforce the new limits of a running job.
func (c *AlterJob) tellMom(tx *state.Tx, j *state.Job) {
	var changes attr.List
	for _, ch := range c.Changes {
		switch ch.Entry.Name {
		case "Resource_List":
			if c.Usage {
				continue
			}
			value, _ := j.Resources.Get(ch.Entry.Resource)
			changes = changes.Set(ch.Entry.Name, ch.Entry.Resource, value)
		case tolerance, "release_nodes_on_stageout":
			changes = changes.Set(ch.Entry.Name, "", ch.Entry.Value)
		case "Checkpoint":
			value, _ := j.Attrs.Get("Checkpoint", "")
			changes = changes.Set(ch.Entry.Name, "", value)
			changes = changes.Set(PeriodicCheckpoints, "", "True")
		}
	}
	if len(changes) > 0 {
		tx.Order(state.Order{Host: j.Run.MS, Kind: state.OrderAlter, Job: j.ID, RunCount: j.RunCount, Changes: changes})
	}
}

// alterableWhileRunning tells what qalter may change of a running job: of
// resources the limits of time, else what the attribute table allows. By LSF's rules it may be the limit on the memory of each process, too,
// whatever the job came by (specification: reservation section 2.9).
func alterableWhileRunning(byLSF bool, e attr.Entry) bool {
	switch {
	case e.Name == lsf.JobReference, e.Name == "Resource_List" && e.Resource == lsf.MemoryLimit:
		return byLSF
	case e.Name == "Resource_List":
		return slices.Contains([]string{"walltime", "cput", "soft_walltime"}, e.Resource)
	}
	def, ok := attr.Lookup(attr.Job, e.Name)
	return ok && def.AlterRunning
}

// applyChange makes one change.
func applyChange(j *state.Job, ch AttrChange) error {
	if ch.Entry.Name == "run_count" {
		defer renumber(j, j.RunCount)
	}
	if ch.Op == OpUnset || ch.Entry.Value == "" {
		return j.UnsetAttribute(ch.Entry.Name, ch.Entry.Resource)
	}
	return j.SetAttribute(ch.Entry)
}

// renumber makes what was set as a job's run_count what is shown of it. The number by which its
// runs are told apart never goes back (L2).
func renumber(j *state.Job, run pbs.RunCount) {
	if run > 0 {
		j.RunBase, j.RunCount = int64(j.RunCount)-int64(run), run
	}
}

// recomplete makes the resources of an altered job whole again. A running job
// keeps its chunks, and what of it was not altered may be beyond bounds that are younger; of a queued one the sums
// follow the new select.
func recomplete(tx *state.Tx, old, j *state.Job, changes []AttrChange) error {
	q, ok := tx.Queue(j.Queue)
	if !ok {
		return pbs.Refuse(pbs.UnknownQueue)
	}
	if old.Live() {
		if err := parseResources(tx, j); err != nil {
			return err
		}
		if err := walltimes(j); err != nil {
			return err
		}
		return withinBounds(tx, q, j, func(res string) bool { return touches(changes, res) })
	}
	if err := mixed(tx, old, changes); err != nil {
		return err
	}
	unpad(tx, j, changes)
	anew := touches(changes, "select")
	if anew {
		dropSums(tx, j)
	} else if touchesChunks(tx, changes) {
		j.Resources, anew = j.Resources.Unset("select"), true // the one chunk follows -l ncpus= and the like
	}
	if anew && !touches(changes, "nodes") {
		j.Resources = j.Resources.Unset("nodes") // select is not made of them any more
	}
	if err := completeResources(tx, q, j); err != nil {
		return err
	}
	return stillAdmitted(tx, q, old, j)
}

// mixed refuses changes of chunk resources beside a select, the new one or one that says
// more than they do: it would be lost.
func mixed(tx *state.Tx, old *state.Job, changes []AttrChange) error {
	chosen := touches(changes, "select")
	if !chosen && derived(old) {
		return nil
	}
	for _, ch := range changes {
		unset := ch.Op == OpUnset || ch.Entry.Value == ""
		if ch.Entry.Name != "Resource_List" || chosen && unset {
			continue
		}
		if err := refuseBesideSelect(tx, ch.Entry.Resource); err != nil {
			return err
		}
	}
	return nil
}

// derived reports whether the job's select says no more than its other resources do: it
// was, or might have been, made of them.
func derived(j *state.Job) bool {
	text, _ := j.Resources.Get("select")
	sel, err := spec.ParseSelect(text)
	if padded(j) {
		return false
	}
	if err != nil || len(sel.Chunks) != 1 || sel.Chunks[0].Count != 1 {
		return false
	}
	for _, it := range sel.Chunks[0].Items {
		if value, ok := j.Resources.Get(it.Name); !ok || value != it.Value {
			return false
		}
	}
	return true
}

func altersDepend(changes []AttrChange) bool {
	return slices.ContainsFunc(changes, func(ch AttrChange) bool { return ch.Entry.Name == "depend" })
}

func touches(changes []AttrChange, res string) bool {
	for _, ch := range changes {
		if ch.Entry.Name == "Resource_List" && ch.Entry.Resource == res {
			return true
		}
	}
	return false
}

func touchesChunks(tx *state.Tx, changes []AttrChange) bool {
	for _, ch := range changes {
		if def, ok := tx.Resource(ch.Entry.Resource); ok && ch.Entry.Name == "Resource_List" && def.AtHost() {
			return true
		}
	}
	return false
}

// dropSums removes what followed from the old select.
func dropSums(tx *state.Tx, j *state.Job) {
	for _, it := range j.Resources {
		if def, ok := tx.Resource(it.Name); ok && def.Consumable() && def.AtHost() {
			j.Resources = j.Resources.Unset(it.Name)
		}
	}
}

// settle brings the state of a job that does not run into line with its holds and its
// time. An array that has begun does not wait for a time any more; one that is released while
// none of its subjobs is on a host is queued, as in a PBS, and begins anew with the next that starts.
func settle(j *state.Job, at pbs.Time) {
	holdBack(j)
	begun := j.Array != nil && j.Array.Begun
	want, substate, eligible := pbs.Queued, pbs.SubQueued, at
	switch {
	case j.State != pbs.Queued && j.State != pbs.Begun && j.State != pbs.Held && j.State != pbs.Waiting:
		return
	case j.Holds != 0:
		want, substate, eligible = pbs.Held, pbs.SubHeld, 0
		if j.Depends.Wait() {
			substate = pbs.SubDependent
		}
	case begun && (j.State == pbs.Begun || j.Array.Live > 0):
		want, substate = pbs.Begun, pbs.SubBegun
	case begun:
	case j.ExecAt > at:
		want, substate, eligible = pbs.Waiting, pbs.SubWaiting, 0
	}
	if j.State == want {
		if j.State == pbs.Held {
			j.Substate = substate
		}
		return
	}
	j.State, j.Substate = want, substate
	if !begun {
		j.Eligible = eligible
	}
}

func accountedChanges(j *state.Job, changes []AttrChange) []state.Change {
	out := make([]state.Change, 0, len(changes))
	for _, ch := range changes {
		value := ch.Entry.Value
		if ch.Op == OpUnset || value == "" {
			value = "UNSET"
		} else if ch.Entry.Name == "Resource_List" {
			value, _ = j.Resources.Get(ch.Entry.Resource)
		}
		out = append(out, state.Change{Name: ch.name(), Value: value})
	}
	return out
}

// liveJob returns a job that is not finished. A subjob that has ended is in a wrong state while
// its array goes on (specification: breadth section 4).
func liveJob(tx *state.Tx, id pbs.JobID) (*state.Job, error) {
	j, ok := tx.Job(id)
	if !ok {
		return nil, pbs.Refuse(pbs.UnknownJob)
	}
	switch {
	case tx.Expired(j):
		return nil, pbs.Refuse(pbs.BadState)
	case j.State == pbs.Finished:
		return nil, pbs.Refuse(pbs.HasFinished)
	}
	return j, nil
}

// move takes the job along the table of legal moves (L5).
func move(j *state.Job, ev pbs.Event) error {
	next, err := j.State.After(ev)
	if err != nil {
		return err
	}
	j.State = next
	return nil
}
