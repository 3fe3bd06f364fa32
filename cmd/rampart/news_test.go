package main

import (
	"testing"
	"testing/synctest"
	"time"

	"rampart/cmd/rampart/mom"
	"rampart/transport/memnet"
)

// A mom and a login host that joined when the cluster was made know one replica. They learn
// of the others before long, so that they are not lost with the first one.
func TestNews_YoungDaemonsLearnOfTheReplicasSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{t: t, net: memnet.New(1), dir: t.TempDir(), daemons: map[string]*daemon{}}
		defer s.end()
		s.found("s1")
		s.mustJoinMom("hosta", "mom")
		s.mustJoinMom("login", "submit")
		for _, name := range []string{"s2", "s3"} {
			s.joinReplica(name)
		}
		s.until("three replicas in the state", time.Minute, func() bool {
			n := 0
			for range s.view().Replicas() {
				n++
			}
			return n == 3
		})
		for _, name := range []string{"hosta", "login"} {
			s.until(name+" to know all replicas", 2*time.Second, func() bool {
				c, err := mom.Load(s.home(name))
				return err == nil && len(c.Replicas) == 3
			})
		}
	})
}
