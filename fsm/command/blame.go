package command

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

const (
	// sickAfter is how many starts in a row fail through a host before it takes no new jobs.
	sickAfter = 3
	// maxAvoided is how many hosts a job remembers that have failed it.
	maxAvoided = 16
	// maxBlamed is how many hosts a job may blame before it is at fault itself: what fails everywhere
	// must not take one host after the other out of service. An array is one job in that.
	maxBlamed = 3
	// maxSickWords bounds what is shown of the reason, in bytes.
	maxSickWords = 200
)

// notStarted counts a start of the job that has come to nothing: against the host whose fault it
// was, else against the job. What one subjob has met its whole array avoids.
func notStarted(tx *state.Tx, m Meta, j *state.Job, fault pbs.HostName, why string) {
	if fault == "" {
		j.FailedRuns++
		return
	}
	known := j.Avoid
	parent, subjob := tx.Parent(j)
	if subjob {
		known = parent.Avoid
	}
	if slices.Contains(j.Avoid, fault) || len(known) >= maxBlamed {
		j.FailedRuns++ // it cannot have another host, or none is good enough
	}
	if len(known) < maxBlamed {
		blame(tx, m, fault, why)
	}
	j.Avoid = avoiding(j.Avoid, fault)
	if subjob && !slices.Contains(known, fault) {
		next := *parent
		next.Avoid = avoiding(known, fault)
		tx.PutJob(&next)
	}
}

// avoiding returns the hosts with one more, and without the first of them if they are too many.
func avoiding(hosts []pbs.HostName, host pbs.HostName) []pbs.HostName {
	if slices.Contains(hosts, host) {
		return hosts
	}
	return append(slices.Clone(hosts[max(0, len(hosts)-maxAvoided+1):]), host)
}

// blame counts a failed start against a host. The last of several in a row makes it sick: it takes no
// new jobs until its mom has proved that it is well.
func blame(tx *state.Tx, m Meta, host pbs.HostName, why string) {
	h, ok := tx.Host(host)
	if !ok {
		return
	}
	next := *h
	next.Fails++
	if next.Fails >= sickAfter && next.Sick == "" {
		next.Sick = sickWords(next.Fails, why)
		next.SickSince, next.Relapses = m.At, next.Relapses+1
	}
	putHealth(tx, m, h, &next)
}

func sickWords(fails uint32, why string) string {
	words := strconv.FormatUint(uint64(fails), 10) + " starts in a row failed"
	if why = strings.Join(strings.Fields(why), " "); why != "" {
		words += ", the last one: " + why
	}
	if len(words) > maxSickWords {
		words = words[:maxSickWords]
	}
	return strings.ToValidUTF8(words, "")
}

// cleared notes that hosts have started a run: what they failed before is forgiven. One that is sick
// has to prove that it is well all the same.
func cleared(tx *state.Tx, j *state.Job) {
	for _, host := range append([]pbs.HostName{j.Run.MS}, j.Run.Sisters...) {
		if h, ok := tx.Host(host); ok && h.Sick == "" && (h.Fails != 0 || h.Relapses != 0) {
			next := *h
			next.Fails, next.Relapses = 0, 0
			tx.PutHost(&next)
		}
	}
}

// putHealth puts a host whose fitness for jobs may have changed, and marks its vnodes. Jobs that
// run there stay.
func putHealth(tx *state.Tx, m Meta, old, next *state.Host) {
	tx.PutHost(next)
	before, now := old.Ailment(), next.Ailment()
	if before == now && old.Busy == next.Busy {
		return
	}
	for _, v := range vnodesOf(tx, next.Name) {
		marked := *v
		setFlags(&marked, v.Flags&^(state.VnodeTroubled|state.VnodeBusy)|conditions(next), m.At)
		tx.PutVnode(&marked)
	}
	if (before == "") != (now == "") {
		tx.Emit(state.Event{Kind: state.HostTroubled, Object: string(next.Name), Text: now})
	}
}
