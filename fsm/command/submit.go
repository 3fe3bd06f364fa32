package command

import (
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// SubmitJob queues a job. The attributes have passed the parsers of the attribute
// table; what depends on the state is checked here.
type SubmitJob struct {
	Owner      pbs.User      `cbor:"1,keyasint"`
	Queue      pbs.QueueName `cbor:"2,keyasint,omitempty"` // empty: the default queue
	Attributes attr.List     `cbor:"3,keyasint,omitempty"`
	Script     []byte        `cbor:"4,keyasint,omitempty"`
	// Blob is the script of LargeScript bytes and more, which a majority of the replicas has;
	// they began to get it At.
	Blob *pbs.Blob `cbor:"5,keyasint,omitempty"`
	At   pbs.Time  `cbor:"6,keyasint,omitempty"`
	// Voters are the members of whom a majority has stored the script, for the replica that proposes; the log has no need of them.
	Voters string `cbor:"-"`
	// Account is the owner, as the directory told it; nil: as before.
	Account *state.Account `cbor:"7,keyasint,omitempty"`
}

// Apply gives the job its id, merges the defaults of queue and server into it, and
// queues or holds it.
func (c *SubmitJob) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	script := state.Script{Body: c.Script, Blob: c.Blob}
	if script.Size() > pbs.MaxScript || !tx.Server().TakesScript(script.Size()) {
		return pbs.Refuse(pbs.ScriptOverLimit)
	}
	if c.Blob != nil && m.At > c.At+state.BlobFresh { // it may have been collected
		return pbs.Errorf(pbs.ResourceBusy, "it took too long to store the script: submit the job again")
	}
	queue, err := submitQueue(tx, c.Queue)
	if err != nil {
		return err
	}
	j := &state.Job{
		Name: "STDIN", Owner: c.Owner, Queue: queue.Name, State: pbs.Queued, Substate: pbs.SubQueued,
		Created: m.At, Queued: m.At, Eligible: m.At,
	}
	for _, e := range c.Attributes {
		if err := j.SetAttribute(e); err != nil {
			return err
		}
	}
	if err := completeArray(tx, j); err != nil {
		return err
	}
	if interactive(j) {
		if j.Array != nil {
			return pbs.Errorf(pbs.InvalidRequest, "an array of jobs cannot be interactive")
		}
		j.NotRerunnable = true // who works in it will not come back
	}
	wanted, err := takeDepend(tx, j)
	if err != nil {
		return err
	}
	if _, ok := j.Resources.Get("select"); ok {
		for _, it := range j.Resources {
			if err := refuseBesideSelect(tx, it.Name); err != nil {
				return err
			}
		}
	}
	if c.Account != nil { // before access lists of groups are asked
		tx.KnowAccount(c.Account)
	}
	if _, err := enter(tx, queue, j, submitted); err != nil {
		return err
	}
	j.Seq = tx.NextJob()
	j.ID = pbs.NewJobID(j.Seq, tx.Cluster().Name)
	if j.Array != nil {
		j.ID = pbs.NewArrayID(j.Seq, tx.Cluster().Name)
	}
	setPaths(tx, j)
	why, err := link(tx, j, wanted)
	if err != nil {
		return err
	}
	settle(j, m.At)
	if why != nil { // as PBS: it is queued, and at once deleted
		j.State, j.Substate, j.Eligible = pbs.Held, pbs.SubDependent, 0
	}
	tx.Intern(j)
	tx.PutJob(j)
	if script.Size() > 0 {
		script.Job = j.ID
		tx.PutScript(script)
	}
	tx.PassedThrough(queue.Name, j, c.Owner)
	tx.Emit(state.Event{Kind: state.JobQueued, Job: asQueued(tx, j, wanted, why), By: c.Owner})
	res.Job = j.ID
	if why != nil {
		concluded(tx, abort(tx, j, why.text))
	}
	return nil
}

// asQueued returns the job of its Q record, which says what it was to depend on.
func asQueued(tx *state.Tx, j *state.Job, wanted state.Dependencies, why *lost) *state.Job {
	if why == nil {
		return j
	}
	queued := *j
	queued.Depends = wanted
	return &queued
}

func interactive(j *state.Job) bool {
	v, _ := j.Attrs.Get("interactive", "")
	return v == "True"
}

func submitQueue(tx *state.Tx, name pbs.QueueName) (*state.Queue, error) {
	if name == "" {
		name = tx.Server().DefaultQueue()
		if name == "" {
			return nil, pbs.Refuse(pbs.NoDefaultQueue)
		}
	}
	q, ok := tx.Queue(name)
	if !ok {
		return nil, pbs.Refuse(pbs.UnknownQueue)
	}
	if !q.Enabled {
		return nil, pbs.Refuse(pbs.QueueDisabled)
	}
	return q, nil
}

// refuseBesideSelect refuses a resource of chunks that stands beside a select: nobody could tell
// which of the two counts.
func refuseBesideSelect(tx *state.Tx, res string) error {
	if def, ok := tx.Resource(res); ok && def.AtHost() {
		return pbs.Errorf(pbs.ResourceBesideSelect, "%s%s", pbs.ResourceBesideSelect.Text(), res)
	}
	return nil
}

// completeResources merges the defaults into Resource_List, makes the select whole,
// and sums it up (specification: cli-contract section 2).
func completeResources(tx *state.Tx, q *state.Queue, j *state.Job) error {
	if err := parseResources(tx, j); err != nil {
		return err
	}
	sel, err := wantedSelect(tx, q, j)
	if err != nil {
		return err
	}
	chunkDefaults := merged(q.Resources("default_chunk"), tx.Server().Resources("default_chunk"))
	complete, err := spec.Complete(sel, chunkDefaults, tx)
	if err != nil {
		return err
	}
	if complete, err = pad(tx, j, complete, chunkDefaults); err != nil {
		return err
	}
	j.SchedSelect = complete.String()
	sums, err := spec.Sum(complete, tx)
	if err != nil {
		return err
	}
	for _, it := range sums {
		if def, _ := tx.Resource(it.Name); def.Raises() && def.Measure(it.Value) > def.Measure(strconv.Itoa(resource.MostRaised)) {
			return pbs.Attribute(pbs.BadAttributeValue, "Resource_List."+it.Name)
		}
		j.Resources = j.Resources.Set(it.Name, it.Value)
	}
	for _, it := range jobDefaults(tx, q) {
		if _, ok := j.Resources.Get(it.Name); !ok && it.Name != paddedSelect && it.Name != requestedSelect {
			j.Resources = j.Resources.Set(it.Name, it.Value)
		}
	}
	return nil
}

// parseResources checks the names and values of Resource_List.
func parseResources(tx *state.Tx, j *state.Job) error {
	for _, it := range j.Resources {
		name := "Resource_List." + it.Name
		def, ok := tx.Resource(it.Name)
		if !ok {
			return pbs.Attribute(pbs.UnknownResource, name)
		}
		q, err := def.Parse(it.Value)
		if err != nil {
			return pbs.Attribute(pbs.BadAttributeValue, name)
		}
		j.Resources = j.Resources.Set(it.Name, q.String())
	}
	return nil
}

// wantedSelect returns the select of the job; without one, what was asked for
// at the job and by default becomes one chunk, which is packed. The select stays as it was
// written; schedselect is its complete form.
func wantedSelect(tx *state.Tx, q *state.Queue, j *state.Job) (spec.Select, error) {
	place, placed := j.Resources.Get("place")
	if !placed {
		place, placed = jobDefaults(tx, q).Get("place")
	}
	if placed {
		if _, err := spec.ParsePlace(place); err != nil {
			return spec.Select{}, err
		}
		j.Resources = j.Resources.Set("place", place)
	}
	text, ok := j.Resources.Get("select")
	if !ok {
		text, ok = jobDefaults(tx, q).Get("select")
	}
	if ok {
		sel, err := spec.ParseSelect(text)
		if err != nil {
			return spec.Select{}, err
		}
		j.Resources = j.Resources.Set("select", text)
		if !placed {
			j.Resources = j.Resources.Set("place", "free")
		}
		return sel, nil
	}
	asked := j.Resources
	for _, it := range jobDefaults(tx, q) {
		if _, ok := asked.Get(it.Name); !ok {
			asked = asked.Set(it.Name, it.Value)
		}
	}
	sel, pack := spec.FromList(asked, tx)
	if !placed {
		j.Resources = j.Resources.Set("place", pack.String())
	}
	j.Resources = j.Resources.Set("select", sel.String())
	return sel, nil
}

// jobDefaults returns resources_default of the queue, then of the server.
func jobDefaults(tx *state.Tx, q *state.Queue) resource.List {
	return merged(q.Resources("resources_default"), tx.Server().Resources("resources_default"))
}

func merged(first, then resource.List) resource.List {
	for _, it := range then {
		if _, ok := first.Get(it.Name); !ok {
			first = first.Set(it.Name, it.Value)
		}
	}
	return first
}

// setPaths fills in where stdout and stderr go when the user did not say:
// NAME.oSEQ in the directory from which the job was submitted, of an array with the
// index of each subjob behind. To a host alone they go by that name too, into the home there.
func setPaths(tx *state.Tx, j *state.Job) {
	vars, _ := j.Attrs.Get("Variable_List", "")
	host, _ := attr.Variable(vars, "PBS_O_HOST")
	dir, _ := attr.Variable(vars, "PBS_O_WORKDIR")
	if host == "" {
		host = string(j.Owner.Host)
	}
	if dir == "" {
		dir, _ = attr.Variable(vars, "PBS_O_HOME")
	}
	base := host + ":" + strings.TrimSuffix(dir, "/") + "/"
	for _, f := range []struct{ name, ext string }{{"Output_Path", ".o"}, {"Error_Path", ".e"}} {
		name := j.Name + f.ext + strconv.FormatUint(j.Seq, 10)
		if j.Array != nil {
			name += "." + state.ArrayIndex
		}
		switch path, ok := j.Attrs.Get(f.name, ""); {
		case !ok:
			j.Attrs = j.Attrs.Set(f.name, "", base+name)
		case strings.HasSuffix(path, ":") && !strings.Contains(path, "/"):
			j.Attrs = j.Attrs.Set(f.name, "", path+name)
		case strings.Contains(path, state.JobNumber):
			path = strings.ReplaceAll(path, state.JobName, j.Name)
			j.Attrs = j.Attrs.Set(f.name, "", strings.ReplaceAll(path, state.JobNumber, strconv.FormatUint(j.Seq, 10)))
		}
	}
}
