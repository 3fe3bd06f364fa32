package transport_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/build"
	"rampart/transport/client"
)

// renew keeps an identity fresh until the world ends, by the CA itself.
func (w *world) renew(id *transport.Identity, down func() bool) {
	r := &transport.Renewer{
		Identity: id, Logger: slog.New(slog.DiscardHandler),
		Sign: func(_ context.Context, csr []byte) ([]byte, error) {
			if down() {
				return nil, pbs.Refuse(pbs.NoQuorum)
			}
			return w.ca.Sign(csr, id.Role(), id.Host(), time.Now())
		},
	}
	w.wg.Go(func() { _ = r.Run(w.ctx) })
}

func TestRenewer_KeepsEveryRoleFresh(t *testing.T) {
	for _, role := range []transport.Role{transport.RoleReplica, transport.RoleMom, transport.RoleSubmit} {
		inWorld(t, func(t *testing.T, w *world) {
			id, outage := w.identity(role, "h"), new(atomic.Bool)
			w.renew(id, outage.Load)
			left := func() time.Duration { return time.Until(id.Certificate().NotAfter) }
			for range 14 * 24 {
				<-time.After(time.Hour)
				if left() < 4*24*time.Hour {
					t.Fatalf("%s: %s are left", role, left())
				}
			}
			if role != transport.RoleMom { // the rest is the same for all, and long
				return
			}
			outage.Store(true)
			<-time.After(9 * 24 * time.Hour)
			if left() > 0 {
				t.Fatalf("%s: the outage was too short", role)
			}
			outage.Store(false)
			<-time.After(time.Minute)
			if left() < 6*24*time.Hour {
				t.Errorf("%s: %s are left a minute after the outage", role, left())
			}
		})
	}
}

// TestRenewer_AConnectionThatIsNeverIdleOutlivesNoCertificate: a mom renews its lease every
// few seconds, for ever.
func TestRenewer_AConnectionThatIsNeverIdleOutlivesNoCertificate(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("thousands of calls, one after the other: short tests play it without the race detector")
	}
	inWorld(t, func(t *testing.T, w *world) {
		w.replica("s1")
		w.leader.Store("s1")
		id, err := w.ca.Issue(transport.RoleMom, "hosta", time.Now().Add(-3*24*time.Hour)) // it has four days
		if err != nil {
			t.Fatal(err)
		}
		c := w.client("hosta", client.Options{Replicas: []string{"s1:15001"}, Identity: id})
		renewed := false
		for end := time.Now().Add(5 * 24 * time.Hour); time.Now().Before(end); <-time.After(100 * time.Second) {
			if _, err := c.Report().Lease(t.Context(), connect.NewRequest(&api.LeaseRequest{})); err != nil {
				t.Fatalf("%s before the end: %v", time.Until(end), err)
			}
			if !renewed { // when the connection is open
				w.renew(id, func() bool { return false })
				renewed = true
			}
		}
	})
}

// TestRenew_TheNextRequestIsMadeUnderTheNewLeaf, though the one that renewed it went over a
// connection with the expired one.
func TestRenew_TheNextRequestIsMadeUnderTheNewLeaf(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		id := w.identity(transport.RoleMom, "hosta")
		<-time.After(8 * 24 * time.Hour)
		s1 := w.replica("s1")
		w.leader.Store("s1")
		c := w.client("hosta", client.Options{Replicas: []string{"s1:15001"}, Identity: id})
		if _, err := c.Cluster().Renew(t.Context(), connect.NewRequest(&api.RenewRequest{})); err != nil || !s1.lastCaller().Expired {
			t.Fatalf("renew: %v, by %+v", err, s1.lastCaller())
		}
		csr, _ := id.CSR()
		leaf, err := w.ca.Sign(csr, transport.RoleMom, "hosta", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := id.Swap(leaf); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Report().Lease(t.Context(), connect.NewRequest(&api.LeaseRequest{})); err != nil {
			t.Errorf("lease: %v", err)
		}
	})
}
