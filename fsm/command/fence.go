package command

import (
	"cmp"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// HostFenced says that a silent host has no live run any more: its deadlines have
// passed, by the leader's own clock and with a margin (L2). It is judged by what the
// leader knew: a mom that has registered since is not meant.
type HostFenced struct {
	Host       pbs.HostName `cbor:"1,keyasint"`
	Registered uint64       `cbor:"2,keyasint"` // Host.Registered when the leader looked
	Fence      int64        `cbor:"3,keyasint"` // Host.Fence that it waited for
}

// Apply requeues or ends the jobs of the host; a verdict that is out of date changes
// nothing.
func (c *HostFenced) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	h, ok := tx.Host(c.Host)
	if !ok {
		return pbs.Refuse(pbs.UnknownNode)
	}
	if h.Up || h.GivenUp || h.Registered != c.Registered || h.Fence != c.Fence || h.Fence == 0 {
		return nil
	}
	return giveUpHost(tx, m, h, "its fence has fallen", res)
}

// giveUpHost ends every run of a host that is down. The orders to kill them stay: if the
// host comes back it learns of them before anything else is done there (L9).
func giveUpHost(tx *state.Tx, m Meta, h *state.Host, why string, res *state.Result) error {
	next := *h
	next.GivenUp = true
	tx.PutHost(&next)
	tx.Emit(state.Event{Kind: state.HostGivenUp, Object: string(h.Name), By: m.Asker, Text: why})
	return giveUp(tx, m, loss{host: h.Name, why: "execution node " + string(h.Name) + " down", orders: true}, res)
}

// A loss is the end of runs of which no mom tells.
type loss struct {
	host   pbs.HostName
	why    string
	spared map[ReportedTask]bool
	orders bool // to kill what may still be there
}

// giveUp ends the runs of a host, the present ones and those that were waited for. It does not
// look at the jobs that wait: in a new epoch every mom that registers brings it about.
func giveUp(tx *state.Tx, m Meta, l loss, res *state.Result) error {
	var touched []*state.Job
	for j := range tx.Running() {
		if len(j.Unconfirmed) == 0 && (j.Run.MS == l.host || j.LastRun().Sister(l.host)) {
			touched = append(touched, j)
		}
	}
	touched = slices.AppendSeq(touched, tx.Awaiting())
	slices.SortFunc(touched, func(a, b *state.Job) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) })
	for _, t := range touched {
		j, ok := tx.Job(t.ID) // the end of another one may have changed it
		if !ok {
			continue
		}
		for _, r := range j.Unconfirmed {
			if r.Host == l.host && !l.spared[ReportedTask{j.ID, r.RunCount}] {
				confirmEnd(tx, j, r)
				j, _ = tx.Job(j.ID)
			}
		}
		if !partOf(j, l.host, j.RunCount) || l.spared[ReportedTask{j.ID, j.RunCount}] {
			continue
		}
		end := l.loseSister
		if j.Run.MS == l.host {
			end = func(tx *state.Tx, m Meta, j *state.Job) error { return l.end(tx, m, j, res) }
		}
		if err := end(tx, m, j); err != nil {
			return err
		}
	}
	return nil
}

// end requeues the job, or ends it if it is not rerunnable: whether it has run to its
// end nobody can tell.
func (l loss) end(tx *state.Tx, m Meta, j *state.Job, res *state.Result) error {
	next := *j
	run := next.EditRun()
	if l.orders {
		kill(tx, j, 0, !j.NotRerunnable)
	} else {
		dropOrders(tx, l.host, j.ID, j.RunCount)
	}
	switch {
	case run.Ending == state.EndingDelete:
		run.ExitStatus, run.HasExited = pbs.ExitTerminated, true
		res.Finished++
		return finish(tx, &next, "")
	case run.Ending == state.EndingRerun, !j.NotRerunnable:
		res.Requeued++
		if run.Session == 0 { // it may have run all the same, and be seen on its vnodes
			run.Used = overlaid(run.Used, cpusOf(j))
		}
		if run.Ending == state.EndingRerun {
			run.ExitStatus, run.HasExited = pbs.ExitRerun, true
		}
		discard(tx, &next) // it may start elsewhere
		return putBack(tx, m, &next, state.JobRequeued, "Job requeued, "+l.why)
	}
	run.ExitStatus, run.HasExited = pbs.ExitAborted, true
	res.Finished++
	return finish(tx, &next, "Job deleted, "+l.why)
}

// lengthenFences is called before a longer fence is answered to any mom: until a host
// has said that it holds a shorter one, the longer counts.
func lengthenFences(tx *state.Tx, fence int64) {
	var shorter []*state.Host
	for h := range tx.Hosts() {
		if state.LongerFence(h.Fence, fence) != h.Fence {
			shorter = append(shorter, h)
		}
	}
	for _, h := range shorter {
		next := *h
		next.Fence = state.LongerFence(h.Fence, fence)
		tx.PutHost(&next)
	}
}

// ShortenFence notes that a host holds a shorter fence than it may have held.
type ShortenFence struct {
	Host    pbs.HostName `cbor:"1,keyasint"`
	Held    int64        `cbor:"2,keyasint"` // seconds; what the mom said in its renewal
	Changed uint64       `cbor:"3,keyasint"` // Server.FenceChanged when that renewal came
}

// Apply is void if the fence has changed since: the mom may hold the newer one.
func (c *ShortenFence) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	h, ok := tx.Host(c.Host)
	if !ok {
		return pbs.Refuse(pbs.UnknownNode)
	}
	held := state.LongerFence(c.Held, tx.Server().Fence())
	if c.Changed != tx.Server().FenceChanged || held == h.Fence || state.LongerFence(held, h.Fence) != h.Fence {
		return nil
	}
	next := *h
	next.Fence = held
	tx.PutHost(&next)
	return nil
}
