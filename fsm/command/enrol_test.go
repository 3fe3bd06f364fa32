package command

import (
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A token that names no host lets newcomers in, and nobody take another's name: root of
// a replica's host is a Manager, and a host vouches for its users.
func TestEnrol_TakesNoNameOfAnother(t *testing.T) {
	w := newWriter(t)
	w.must(&PutReplica{Replica: state.Replica{Name: "s1", Host: "head1"}})
	token := func(hash, role string, host pbs.HostName) {
		w.must(&CreateToken{Token: state.Token{Hash: hash, Role: role, Host: host, Expires: 1000, Reusable: true}})
	}
	token("moms", "mom", "")
	token("logins", "submit", "")
	token("replicas", "replica", "")
	token("for node1", "mom", "node1")
	token("for head1", "mom", "head1")
	for _, c := range []struct {
		name, token, role string
		host              pbs.HostName
		key               string
		want              pbs.Code
	}{
		{"a new host", "moms", "mom", "node1", "k1", 0},
		{"again, its answer was lost", "moms", "mom", "node1", "k1", 0},
		{"another key", "moms", "mom", "node1", "k2", pbs.BadToken},
		{"another key in another role", "logins", "submit", "node1", "k3", pbs.BadToken},
		{"a replica's host as mom", "moms", "mom", "head1", "k4", pbs.BadToken},
		{"a replica's host as login host", "logins", "submit", "head1", "k5", pbs.BadToken},
		{"a token for the host", "for node1", "mom", "node1", "k6", 0},
		{"a token for the replica's host", "for head1", "mom", "head1", "k7", 0},
		{"a replica", "replicas", "replica", "node1", "k8", 0},
	} {
		err := w.run(&Enrol{TokenHash: c.token, Identity: state.Identity{KeyHash: c.key, Role: c.role, Host: c.host}})
		if pbs.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want code %d", c.name, err, c.want)
		}
		if _, ok := w.View().Identity(c.key); ok != (c.want == 0) {
			t.Errorf("%s: the key is on record: %v", c.name, ok)
		}
	}
}
