package command

import (
	"iter"
	"slices"
	"strings"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// ReleaseNodes asks for vnodes of a running job to be given back: pbs_release_nodes. It takes
// effect when the mother superior has the smaller assignment on its disk (design section 6).
type ReleaseNodes struct {
	Job    pbs.JobID `cbor:"1,keyasint"`
	Vnodes []string  `cbor:"2,keyasint,omitempty"` // names; none, and nothing to keep: all that is not on the primary execution host
	Keep   string    `cbor:"3,keyasint,omitempty"` // select=SPEC, or a number of chunks
}

// Apply orders the mother superior to save the new assignment, or refuses in the order of
// the specification (ramp-down section 4). A wish that changes nothing is granted at once.
func (c *ReleaseNodes) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	j, ok := tx.Job(c.Job)
	if !ok {
		return pbs.Refuse(pbs.UnknownJob)
	}
	if j.State == pbs.Finished {
		return pbs.Refuse(pbs.HasFinished)
	}
	r, err := PlanRelease(tx, j, c)
	if err != nil || r == nil {
		return err
	}
	res.Job, res.Release = j.ID, askRelease(tx, m, j, r)
	return nil
}

// ReleaseTables is what PlanRelease reads of the state.
type ReleaseTables interface {
	resource.Table
	Vnode(name pbs.VnodeName) (*state.Vnode, bool)
	Orders(host pbs.HostName) iter.Seq[*state.Order]
	Cluster() *state.Cluster
	Pool(v *state.Vnode, res string) *state.Vnode
}

// PlanRelease returns what the command would ask for, nil if it changes nothing, or why it is
// refused. It changes nothing itself, so that whoever asks is told before anything is proposed.
func PlanRelease(t ReleaseTables, j *state.Job, c *ReleaseNodes) (*state.Release, error) {
	if err := mayRelease(t, j); err != nil {
		return nil, err
	}
	has := j.Grant()
	var s alloc.Split
	var err error
	switch {
	case c.Keep != "":
		w, wrong := alloc.ParseWish(c.Keep, t)
		if wrong != nil {
			return nil, wrong
		}
		s, err = alloc.Keep(has, w, nil, t)
	case len(c.Vnodes) > 0:
		s, err = releaseNamed(t, has, c.Vnodes)
	default:
		s, err = releaseSisters(t, has)
	}
	if err != nil || s.Whole() {
		return nil, err
	}
	if err := divisible(t, s.Released); err != nil {
		return nil, err
	}
	if s, err = carried(t, j, s); err != nil {
		return nil, err
	}
	return newRelease(s), nil
}

// mayRelease refuses jobs that cannot give vnodes back now.
func mayRelease(t ReleaseTables, j *state.Job) error {
	_, several := j.ID.Indices()
	switch {
	case j.Array != nil, several && j.ID.Sub() == 0:
		return pbs.Errorf(pbs.NotSupported, "not supported for Array Jobs or multiple sub-jobs")
	case j.State != pbs.Running || j.Substate != pbs.SubRunning:
		return pbs.Refuse(pbs.BadState)
	case j.Run.Release != nil:
		return pbs.Errorf(pbs.ResourceBusy, "another release of the job is under way")
	}
	for o := range t.Orders(j.Run.MS) {
		if o.Of(j) && suspends(o) {
			return pbs.Refuse(pbs.BadState)
		}
	}
	return nil
}

// releaseNamed releases the vnodes with the names, if each is the job's and none is on the
// primary execution host.
func releaseNamed(t ReleaseTables, a alloc.Grant, names []string) (alloc.Split, error) {
	named := make(map[pbs.VnodeName]bool, len(names))
	for _, n := range names {
		named[pbs.VnodeName(n)] = true
	}
	has := make(map[pbs.VnodeName]bool, len(names))
	for name, host := range a.Vnodes {
		if !named[name] {
			continue
		}
		has[name] = true
		if host == a.ExecHost[0].Host {
			return alloc.Split{}, pbs.Errorf(pbs.SystemError, "Can't free '%s' since it's on a primary execution host", name)
		}
		if err := mayDivide(t, name); err != nil {
			return alloc.Split{}, err
		}
	}
	var absent []string
	for _, n := range names {
		if !has[pbs.VnodeName(n)] {
			absent = append(absent, n)
		}
	}
	if len(absent) > 0 {
		return alloc.Split{}, pbs.Errorf(pbs.SystemError, "node(s) requested to be released not part of the job: %s", strings.Join(absent, " "))
	}
	return alloc.Release(a, func(v pbs.VnodeName) bool { return named[v] }, t)
}

func releaseSisters(t ReleaseTables, a alloc.Grant) (alloc.Split, error) {
	s, err := alloc.ReleaseSisters(a, t)
	if err == nil && s.Whole() {
		err = pbs.Errorf(pbs.SystemError, "Server returned error 15010 for job")
	}
	return s, err
}

// mayDivide refuses vnodes of kinds that cannot be taken out of a job.
func mayDivide(t ReleaseTables, name pbs.VnodeName) error {
	v, ok := t.Vnode(name)
	if !ok {
		return nil
	}
	offer := v.Available()
	types, _ := offer.Get("vntype")
	for one := range strings.SplitSeq(types, ",") {
		if strings.HasPrefix(strings.TrimSpace(one), "cray_") {
			return pbs.Errorf(pbs.SystemError, "not currently supported on Cray X* series nodes: %s", name)
		}
	}
	if arch, _ := offer.Get("arch"); arch == "linux_cpuset" {
		return pbs.Errorf(pbs.SystemError, "not currently supported on nodes whose resources are part of a cpuset: %s", name)
	}
	return nil
}

func divisible(t ReleaseTables, released []alloc.Placed) error {
	for _, c := range released {
		for _, p := range c.Parts {
			if err := mayDivide(t, p.Vnode); err != nil {
				return err
			}
		}
	}
	return nil
}

// newRelease writes a split down as the state keeps it.
func newRelease(s alloc.Split) *state.Release {
	r := &state.Release{To: s.Kept}
	hosts := s.Kept.Hosts()
	stays := make(map[string]bool, len(hosts))
	r.Hosts = make([]pbs.HostName, 0, len(hosts))
	for _, h := range hosts {
		stays[h] = true
		r.Hosts = append(r.Hosts, pbs.HostName(h))
	}
	at := make(map[string]int, len(s.Released))
	for _, c := range s.Released {
		i, met := at[c.Host]
		if !met {
			i = len(r.Released)
			at[c.Host] = i
			r.Released = append(r.Released, state.Holding{Host: pbs.HostName(c.Host), Left: !stays[c.Host]})
		}
		r.Released[i].Chunks = append(r.Released[i].Chunks, c.ExecChunk)
	}
	return r
}

// askRelease notes a release in its job and orders the mother superior to save it. It returns
// the number of the release.
func askRelease(tx *state.Tx, m Meta, j *state.Job, r *state.Release) uint64 {
	next := *j
	next.Releases++
	r.Number, r.By, r.At = next.Releases, m.Asker, m.At
	next.EditRun().Release = r
	tx.PutJob(&next)
	orderRelease(tx, &next, state.ReleaseAsked)
	return r.Number
}

func orderRelease(tx *state.Tx, j *state.Job, step state.ReleaseStep) {
	tx.Order(state.Order{Host: j.Run.MS, Kind: state.OrderRelease, Job: j.ID, RunCount: j.RunCount, Number: j.Releases, Step: step})
}

// maxRefused is how many releases that came to nothing a job remembers, for those who wait
// for the outcome.
const maxRefused = 16

// refuseRelease notes that the open release of a job came to nothing.
func refuseRelease(j *state.Job, code pbs.Code) { noRelease(j, state.Refused{Code: code}) }

func noRelease(j *state.Job, why state.Refused) {
	r := j.LastRun().Release
	if r == nil {
		return
	}
	why.Number = r.Number
	refused := append([]state.Refused{why}, j.Refused...)
	j.Refused = slices.Clip(refused[:min(len(refused), maxRefused)])
	j.EditRun().Release = nil
}

// WithdrawRelease takes back a release that the mother superior has not confirmed. What it
// may have on its disk is overtaken by an order with the old assignment.
type WithdrawRelease struct {
	Job      pbs.JobID    `cbor:"1,keyasint"`
	RunCount pbs.RunCount `cbor:"2,keyasint"`
	Number   uint64       `cbor:"3,keyasint"`
}

// Apply changes nothing if the release is done, or was dropped.
func (c *WithdrawRelease) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	j, ok := tx.Job(c.Job)
	if !ok || !j.Is(c.RunCount) || j.Run.Release == nil || j.Run.Release.Number != c.Number {
		return nil
	}
	dropReleaseOrder(tx, j.Run.MS, j.ID, j.RunCount, c.Number)
	next := *j
	refuseRelease(&next, pbs.NoMom)
	next.Releases++
	tx.PutJob(&next)
	orderRelease(tx, &next, state.ReleaseWithdrawn)
	tx.Emit(state.Event{Kind: state.JobRefused, Job: &next, Text: "release of vnodes withdrawn, " + string(j.Run.MS) + " does not answer"})
	return missed(tx, &next, j.Run.Release)
}

// missed ends a run whose release came to nothing when a host that it was to leave is lost
// (specification: reliable-startup section 11).
func missed(tx *state.Tx, j *state.Job, r *state.Release) error {
	if r.Lost == "" {
		return nil
	}
	return endWithout(tx, j, r.Lost)
}

// dropReleaseOrder removes an order about released vnodes that is void, by its number; 0 is the
// first that is open.
func dropReleaseOrder(tx *state.Tx, host pbs.HostName, job pbs.JobID, run pbs.RunCount, number uint64) {
	for o := range tx.Orders(host) {
		if o.Kind == state.OrderRelease && o.About(job, run) && (number == 0 || o.Number == number) {
			tx.DeleteOrder(o.Host, o.ID)
			return
		}
	}
}

// releaseOnStageOut releases what is not on the primary execution host when the stage-out of
// a job begins that asked for it (specification: ramp-down section 12).
func releaseOnStageOut(tx *state.Tx, m Meta, j *state.Job) error {
	if j.Run.Release != nil {
		return nil
	}
	r, err := releaseForStageOut(tx, j)
	if err == nil && r != nil {
		askRelease(tx, m, j, r)
	}
	return err
}

// releaseForStageOut returns what a job releases for its stage-out, nil for nothing.
func releaseForStageOut(tx *state.Tx, j *state.Job) (*state.Release, error) {
	wanted, _ := j.Attrs.Get("release_nodes_on_stageout", "")
	_, staged := j.Attrs.Get("stageout", "")
	if wanted != "True" || !staged {
		return nil, nil
	}
	s, err := alloc.ReleaseSisters(j.Grant(), tx)
	if err != nil || s.Whole() {
		return nil, err
	}
	if err := divisible(tx, s.Released); err != nil {
		tx.Emit(state.Event{Kind: state.JobRefused, Job: j, Text: err.Error()})
		return nil, nil
	}
	if s, err = carried(tx, j, s); err != nil {
		return nil, err
	}
	return newRelease(s), nil
}

// releaseAtEnd does what stage-out asked for when that was over before the mother superior
// could be asked: the records are the same. It returns the job as it is then.
func (c *JobEnded) releaseAtEnd(tx *state.Tx, m Meta, j *state.Job) (*state.Job, error) {
	if c.NeverStarted || c.StageoutStatus == 0 || j.Run.Session == 0 || j.Run.Ending == state.EndingRerun {
		return j, nil
	}
	r, err := releaseForStageOut(tx, j)
	if err != nil || r == nil {
		return j, err
	}
	if j.Run.Release == nil {
		j.Releases++
		r.Number, r.At = j.Releases, m.At
		j.EditRun().Release = r
	} else if !j.Run.Release.To.ExecVnode.Equal(r.To.ExecVnode) {
		return j, nil // another one, that came to nothing
	}
	if err := releaseDone(tx, j, c.Used, c.Present); err != nil {
		return nil, err
	}
	dropReleaseOrder(tx, j.Run.MS, j.ID, j.RunCount, 0)
	now, _ := tx.Job(j.ID)
	next := *now
	return &next, nil
}
