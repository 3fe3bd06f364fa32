package state

import "slices"

// Removal returns what is on record of a server that leaves or has left the cluster.
func (t *tables) Removal(serverID string) (Removal, bool) {
	all := t.Cluster().Removals
	i := slices.IndexFunc(all, func(r Removal) bool { return r.ServerID == serverID })
	if i < 0 {
		return Removal{}, false
	}
	return all[i], true
}

// Barred tells whether somebody has removed the server, or is about to: it must not be a
// member again.
func (t *tables) Barred(serverID string) bool {
	r, ok := t.Removal(serverID)
	return ok && serverID != "" && r.Barred()
}

// Leaving returns the removals that are not done, the latest first.
func (t *tables) Leaving() []Removal {
	return slices.DeleteFunc(slices.Clone(t.Cluster().Removals), func(r Removal) bool { return r.Left != 0 })
}

// Replacing returns the replacement by which the server has, or is to get, the vote of one
// that is silent.
func (t *tables) Replacing(by string) (Removal, bool) {
	for _, r := range t.Leaving() {
		if r.ReplacedBy == by && by != "" {
			return r, true
		}
	}
	return Removal{}, false
}
