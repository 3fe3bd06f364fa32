package state

import (
	"cmp"

	"rampart/fsm/pbs"
)

// namesake is a job that is not over, by its owner and name. It is a key and no reference, so
// that changes of a job that keeps both leave the index alone.
type namesake struct {
	owner, name string
	seq         uint64
}

func (n namesake) less(o namesake) bool {
	return cmp.Or(cmp.Compare(n.owner, o.owner), cmp.Compare(n.name, o.name), cmp.Compare(n.seq, o.seq)) < 0
}

func namesakeOf(j *Job) (n namesake, in bool) {
	if j == nil || j.State == pbs.Finished || j.IsSubjob() {
		return namesake{}, false
	}
	return namesake{j.Owner.Name, j.Name, j.Seq}, true
}

func (t *tables) indexName(old, j *Job) {
	was, had := namesakeOf(old)
	is, has := namesakeOf(j)
	if had == has && was == is {
		return
	}
	if had {
		t.namesakes.drop(was)
	}
	if has {
		t.namesakes.set(is)
	}
}

// FirstNamed returns the job that was submitted first of those that a user has under a name and
// that are not over: held and waiting ones count, subjobs do not.
func (t *tables) FirstNamed(owner, name string) (*Job, bool) {
	n, ok := t.namesakes.at(namesake{owner: owner, name: name})
	if !ok || n.owner != owner || n.name != name {
		return nil, false
	}
	return t.jobs.get(&Job{Seq: n.seq})
}
