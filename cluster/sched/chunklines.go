package sched

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// logChunks tells who has asked for all messages which chunks of a job were looked at, in PBS's words: those of a job that has its vnodes to
// itself as one of many alike, and else how each kind of them fared, as far as that is known. It leaves room in the log for why jobs wait.
func (c *cycle) logChunks(j *state.Job, id pbs.JobID, fits bool) {
	if !c.planner.detailed || len(c.plan.Lines) >= c.lines/2 {
		return
	}
	sel, err := spec.ParseSelect(j.SchedSelect)
	if err != nil {
		return
	}
	alike := c.alike(j, sel)
	for k := range sel.Chunks {
		one := spec.Select{Chunks: sel.Chunks[k : k+1]}.String()
		if alike {
			c.log(pbs.LogDebug3, id, "Chunk: "+one)
			continue
		}
		c.logOf(pbs.LogDebug3, "Node", string(id), "Evaluating subchunk: "+one)
		switch {
		case fits:
			c.logOf(pbs.LogDebug3, "Node", string(id), "Allocated one subchunk: "+one)
		case len(sel.Chunks) == 1:
			c.logOf(pbs.LogDebug3, "Node", string(id), "Failed to satisfy subchunk: "+one)
		}
	}
}

// alike reports whether a PBS takes vnodes for the job that are all the same to it: it has asked for them alone, of any host, and there are no
// hosts of several vnodes.
func (c *cycle) alike(j *state.Job, sel spec.Select) bool {
	place := j.Placement()
	named := slices.ContainsFunc(sel.Chunks, func(ch spec.Chunk) bool {
		_, host := ch.Items.Get("host")
		_, vnode := ch.Items.Get("vnode")
		return host || vnode
	})
	return place.Sharing == spec.Exclusive && place.Arrangement != spec.Pack && !named && c.wish == nil && !j.Checkpointed() &&
		len(c.free.nodes) == len(c.free.hosts)
}
