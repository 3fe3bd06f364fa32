package state

// JobsOn counts the jobs of a user ('u') or group ('g') that run on a vnode: those to which
// its max_user_run and max_group_run apply.
func (t *tables) JobsOn(v *Vnode, kind byte, name string) int {
	n := 0
	for _, held := range v.Jobs {
		j, ok := t.Job(held.Job)
		if !ok || held.Suspended {
			continue
		}
		for _, s := range j.Subjects() {
			if s == (Subject{kind, name}) {
				n++
			}
		}
	}
	return n
}
