package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// keptOf returns what is known of a checkpoint of the present run, whose mother superior is host;
// false if the job could not go on with the hosts that keep it.
func keptOf(tx *state.Tx, j *state.Job, host pbs.HostName) (*state.Checkpoint, bool) {
	if !placeable(j) {
		return nil, false
	}
	kept := state.Checkpoint{Host: host, Session: j.Run.Session, Select: j.SchedSelect}
	if j.Checkpointed() {
		kept.Select = j.Checkpoint.Select
	}
	if len(j.Run.Sisters) > 0 {
		kept.Places = placesOf(tx, j)
		return &kept, kept.Places != nil
	}
	return &kept, true
}

// placeable reports whether a running job has a host for each chunk of what it asks for. One that has
// released some would go on with all that it had asked for, and not with the parts that were kept,
// however few hosts it has now.
func placeable(j *state.Job) bool {
	return j.Run.Phases == nil && (len(j.Run.Sisters) == 0 || len(partsOf(j)) > 0)
}

func partsOf(j *state.Job) spec.ExecVnode {
	sel, err := spec.ParseSelect(j.SchedSelect)
	if err != nil {
		return nil
	}
	if len(j.Run.ExecVnode) != sel.Total() {
		return nil
	}
	return j.Run.ExecVnode
}

// placesOf returns the host of each chunk of what a running job asks for, nil if there is none of
// some.
func placesOf(tx *state.Tx, j *state.Job) []pbs.HostName {
	parts := partsOf(j)
	if parts == nil {
		return nil
	}
	places := make([]pbs.HostName, len(parts))
	for i, chunk := range parts {
		for _, p := range chunk.Parts {
			v, ok := tx.Vnode(p.Vnode)
			if !ok || places[i] != "" && places[i] != v.Host {
				return nil
			}
			places[i] = v.Host
		}
	}
	return places
}

// onHostOf returns the select that a checkpoint has bound the job to: each chunk is on the host
// that keeps its part.
func onHostOf(tx *state.Tx, j *state.Job, kept *state.Checkpoint) string {
	sel, err := spec.ParseSelect(kept.Select)
	if err != nil || len(kept.Places) > 0 && len(kept.Places) != sel.Total() {
		return kept.Select
	}
	if len(kept.Places) == 0 {
		word := hostWord(tx, kept.Host)
		for i, c := range sel.Chunks {
			sel.Chunks[i] = onHost(c, word)
		}
		return sel.String()
	}
	words := make(map[pbs.HostName]string)
	bound, next := spec.Select{}, 0
	for _, c := range sel.Chunks {
		for _, host := range kept.Places[next : next+c.Count] {
			if words[host] == "" {
				words[host] = hostWord(tx, host)
			}
			one := onHost(c, words[host])
			one.Count = 1
			bound.Chunks = append(bound.Chunks, one)
		}
		next += c.Count
	}
	return bound.Grouped().String()
}

// unbound returns the select that a checkpoint has bound to hosts as it was before; a select that it has not bound is left as it is.
func unbound(text string, kept *state.Checkpoint) string {
	if text != kept.Select && hostless(text) == hostless(kept.Select) {
		return kept.Select
	}
	return text
}

// hostless returns a select without the hosts that it names.
func hostless(text string) string {
	sel, err := spec.ParseSelect(text)
	if err != nil {
		return text
	}
	for i, c := range sel.Chunks {
		sel.Chunks[i].Items = slices.DeleteFunc(slices.Clone(c.Items), func(it resource.Item) bool { return it.Name == "host" })
	}
	return sel.Grouped().String()
}

// rebase has a job go on from its checkpoint with another select, to whose chunks the hosts that keep it are bound, if they are to be by now.
func rebase(tx *state.Tx, j *state.Job, asked string, bound bool) {
	kept := *j.Checkpoint
	kept.Select = asked
	j.Checkpoint, j.SchedSelect = &kept, asked
	if bound {
		j.SchedSelect = onHostOf(tx, j, &kept)
	}
}

// hasPlaces reports whether a checkpoint has a place for each chunk of a select.
func hasPlaces(kept *state.Checkpoint, asked string) bool {
	sel, err := spec.ParseSelect(asked)
	return err == nil && (len(kept.Places) == 0 || len(kept.Places) == sel.Total())
}

// onHost returns the chunk on a host, unless it names a host or vnode itself.
func onHost(c spec.Chunk, host string) spec.Chunk {
	_, byHost := c.Items.Get("host")
	_, byVnode := c.Items.Get("vnode")
	if !byHost && !byVnode {
		c.Items = append(slices.Clip(c.Items), resource.Item{Name: "host", Value: host})
	}
	return c
}

// hostWord returns what requests call a host.
func hostWord(tx *state.Tx, name pbs.HostName) string {
	for v := range tx.VnodesOf(name) {
		if called, ok := v.Available().Get("host"); ok {
			return called
		}
	}
	return pbs.ShortHost(name)
}

// dropFormer has the hosts that keep a part of the checkpoint before, and none of the newer one,
// drop it.
func dropFormer(tx *state.Tx, j *state.Job, kept *state.Checkpoint) {
	now := setOf(kept.Keepers())
	former := slices.DeleteFunc(j.Checkpoint.Keepers(), func(host pbs.HostName) bool { return now[host] })
	dropAt(tx, former, j.ID, j.RunCount)
}

// dropAt orders hosts to drop what they keep of a job's checkpoints.
func dropAt(tx *state.Tx, hosts []pbs.HostName, job pbs.JobID, run pbs.RunCount) {
	for _, host := range hosts {
		if _, ok := tx.Host(host); ok {
			tx.Order(state.Order{Host: host, Kind: state.OrderDiscard, Job: job, RunCount: run})
		}
	}
}

// boundElsewhere reports whether a start is not on the hosts that keep the job's checkpoint.
func boundElsewhere(j *state.Job) bool {
	if !j.Checkpointed() {
		return false
	}
	return j.Run.MS != j.Checkpoint.Host || len(j.Checkpoint.Places) > 0 && !slices.Equal(j.Hosts(), j.Checkpoint.Keepers())
}

// keeperLost reports whether a sister's host that keeps a part was given up.
func keeperLost(tx *state.Tx, kept *state.Checkpoint) bool {
	if len(kept.Places) == 0 {
		return false
	}
	for _, host := range kept.Keepers() {
		if h, ok := tx.Host(host); !ok || h.GivenUp {
			return true
		}
	}
	return false
}
