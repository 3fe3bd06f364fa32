package world

import (
	"fmt"

	"rampart/fsm/state"
)

// keepTurns is for how many dispatch turns jobs of the second queue keep what is free.
const keepTurns = 2

// keeps notes what jobs that wait keep once an entry has said so: it is there, and they do not keep it for longer than their queue lets them.
func (k *book) keeps(index uint64, v *state.View) {
	ncpus, _ := v.Resource("ncpus")
	mem, _ := v.Resource("mem")
	k.mu.Lock()
	defer k.mu.Unlock()
	wrong := func(format string, args ...any) {
		k.kept.Wrong = append(k.kept.Wrong, fmt.Sprintf("at index %d ", index)+fmt.Sprintf(format, args...))
	}
	for j := range v.Pendings() {
		if len(j.Pending.Held) > 0 {
			k.kept.By[string(j.ID)] = true
		}
		turns := int32(keepTurns)
		if q, ok := v.Queue(j.Queue); ok {
			most, _ := q.Reserves()
			turns = int32(most)
		}
		if j.Pending.Age > turns || j.Pending.Paused && len(j.Pending.Held) > 0 {
			wrong("%s keeps %+v, for %d turns at most", j.ID, *j.Pending, turns)
		}
		if !j.MayStart() {
			wrong("%s keeps %+v, and has nothing to start", j.ID, *j.Pending)
		}
	}
	for vn := range v.Vnodes() {
		kept, has := v.KeptOf(vn.Name), vn.Available()
		left := func(name string, of func(string) int64) int64 {
			all, _ := has.Get(name)
			used, _ := vn.Assigned.Get(name)
			return of(all) - of(used)
		}
		if slots, memory := left("ncpus", ncpus.Measure), left("mem", mem.Measure); kept.Slots > max(0, slots) || kept.Mem > max(0, memory) {
			wrong("%+v is kept of %s, of which %d cpus and %d KB are free", kept, vn.Name, slots, memory)
		}
	}
}
