package gossip_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/gossip"
	"rampart/transport/memnet"
)

var key = bytes.Repeat([]byte{7}, 32)

// swarm is members in one bubble.
type swarm struct {
	t   *testing.T
	net *memnet.Net
	all map[string]*member
}

type member struct {
	g      *gossip.Gossip
	addr   string
	host   *memnet.Host
	cancel context.CancelFunc
	done   chan error

	mu  sync.Mutex
	log []gossip.Event
}

func (m *member) events() []gossip.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log)
}

func newSwarm(t *testing.T) *swarm {
	s := &swarm{t: t, net: memnet.New(1), all: make(map[string]*member)}
	t.Cleanup(func() {
		for name := range s.all {
			s.stop(name)
		}
		<-time.After(gossip.Linger)
	})
	return s
}

// start runs a replica that knows the others as seeds.
func (s *swarm) start(name, boot string, key []byte) *member {
	s.t.Helper()
	return s.startAs("replica", name, name, boot, key)
}

// startAs runs a member on a host of the network that goes by a name.
func (s *swarm) startAs(role, on, name, boot string, key []byte) *member {
	s.t.Helper()
	host := s.net.Host(on)
	addr := host.IP().String() + ":15003"
	transport, err := gossip.NewTransport(host, "", addr)
	if err != nil {
		s.t.Fatal(err)
	}
	var seeds []string
	for _, m := range s.all {
		seeds = append(seeds, m.addr)
	}
	g, err := gossip.Open(gossip.Config{
		Name: name, Transport: transport, Key: key, Meta: gossip.Meta{Role: role, BootID: boot},
		Seeds:  func() []string { return seeds },
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{g: g, addr: addr, host: host, cancel: cancel, done: make(chan error, 1)}
	s.all[on] = m
	go func() { m.done <- g.Run(ctx) }()
	go func() {
		for ev := range g.Events() {
			m.mu.Lock()
			m.log = append(m.log, ev)
			m.mu.Unlock()
		}
	}()
	return m
}

func (s *swarm) stop(name string) {
	m := s.all[name]
	delete(s.all, name)
	m.cancel()
	if err := <-m.done; err != nil {
		s.t.Errorf("Run of %s: %v", name, err)
	}
}

// until waits for the event that m gets last about a member.
func (s *swarm) until(m *member, kind gossip.Kind, name string, limit time.Duration) gossip.Event {
	s.t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		for _, ev := range slices.Backward(m.events()) {
			if ev.Name != name {
				continue
			}
			if ev.Kind == kind {
				return ev
			}
			break
		}
	}
	s.t.Fatalf("no %s of %s within %s; events: %v", kind, name, limit, m.events())
	return gossip.Event{}
}

func bubble(t *testing.T, test func(t *testing.T, s *swarm)) {
	synctest.Test(t, func(t *testing.T) { test(t, newSwarm(t)) })
}

// joinWithin lets members that started at the same moment miss each other once: the
// seeds are asked again after five seconds.
const joinWithin = 15 * time.Second

func TestGossip_JoinedAndGone(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a := s.start("a", "1", key)
		for i := range 10 {
			s.start(fmt.Sprint("m", i), "1", key)
		}
		ev := s.until(a, gossip.Joined, "m9", joinWithin)
		if ev.Meta != (gossip.Meta{Role: "replica", BootID: "1"}) || ev.Address != s.all["m9"].addr {
			t.Errorf("event %+v", ev)
		}
		for name := range s.all { // no member cuts the links of one that is gone
			if name != "m9" {
				s.net.Cut("m9", name)
			}
		}
		began := time.Now()
		s.until(a, gossip.Gone, "m9", 12*time.Second)
		t.Logf("gone after %s", time.Since(began))
		s.net.HealAll()
		s.until(a, gossip.Joined, "m9", 40*time.Second)
		if n := len(a.g.Members()); n != 11 {
			t.Errorf("%d members", n)
		}
	})
}

// TestGossip_ReplicaAndMomOfOneHost: both go by the host's name and are members each for itself.
func TestGossip_ReplicaAndMomOfOneHost(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a := s.start("a", "1", key)
		s.start("b", "1", key)
		s.until(a, gossip.Joined, "b", joinWithin)
		s.startAs("mom", "b2", "b", "2", key)
		for end := time.Now().Add(joinWithin); len(a.g.Members()) < 3 && time.Now().Before(end); {
			<-time.After(10 * time.Millisecond)
		}
		var roles []string
		for _, m := range a.g.Members() {
			roles = append(roles, m.Name+" "+m.Meta.Role)
		}
		slices.Sort(roles)
		if want := []string{"a replica", "b mom", "b replica"}; !slices.Equal(roles, want) {
			t.Errorf("members are %v, want %v", roles, want)
		}
		s.stop("b2")
		if ev := s.until(a, gossip.Gone, "b", 20*time.Second); ev.Meta.Role != "mom" {
			t.Errorf("gone is %+v", ev)
		}
	})
}

func TestGossip_RebootedWithoutBeingMissed(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a, b := s.start("a", "1", key), s.start("b", "1", key)
		s.until(a, gossip.Joined, "b", joinWithin)
		s.until(b, gossip.Joined, "a", joinWithin)
		s.stop("b")
		b.host.Crash()
		s.start("b", "2", key)
		if ev := s.until(a, gossip.Rebooted, "b", 5*time.Second); ev.Meta.BootID != "2" {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestGossip_RestartWithTheSameBootIsNoEvent(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a, b := s.start("a", "1", key), s.start("b", "1", key)
		s.until(a, gossip.Joined, "b", joinWithin)
		s.stop("b")
		b.host.Crash()
		s.start("b", "1", key)
		<-time.After(20 * time.Second)
		if len(a.events()) != 1 {
			t.Errorf("events %v", a.events())
		}
	})
}

func TestGossip_AnotherKeyIsKeptOut(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a := s.start("a", "1", key)
		s.start("stranger", "1", bytes.Repeat([]byte{8}, 32))
		<-time.After(20 * time.Second)
		if len(a.events()) != 0 {
			t.Errorf("events %v", a.events())
		}
	})
}

func TestGossip_KeyRotationLosesNobody(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a, b := s.start("a", "1", key), s.start("b", "1", key)
		s.until(a, gossip.Joined, "b", joinWithin)
		fresh := bytes.Repeat([]byte{9}, 32)
		steps := []struct {
			primary []byte
			old     [][]byte
		}{{key, [][]byte{fresh}}, {fresh, [][]byte{key}}, {fresh, nil}}
		for _, step := range steps {
			for _, m := range []*member{a, b} {
				if err := m.g.SetKeys(step.primary, step.old...); err != nil {
					t.Fatal(err)
				}
				<-time.After(10 * time.Second)
			}
		}
		if len(a.events()) != 1 || len(b.events()) != 1 {
			t.Errorf("events %v and %v", a.events(), b.events())
		}
		s.start("stranger", "1", key)
		<-time.After(20 * time.Second)
		if len(a.events()) != 1 {
			t.Errorf("the old key still opens: %v", a.events())
		}
	})
}

// TestGossip_MembersTellWhichKeysTheyHold: whoever drops a key waits for that.
func TestGossip_MembersTellWhichKeysTheyHold(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a, b := s.start("a", "1", key), s.start("b", "1", key)
		s.until(a, gossip.Joined, "b", joinWithin)
		fresh := bytes.Repeat([]byte{9}, 32)
		if err := b.g.Hold(7, [][]byte{key, fresh}); err != nil {
			t.Fatal(err)
		}
		held := func() uint64 {
			for _, m := range a.g.Members() {
				if m.Name == "b" {
					return m.Meta.Keys
				}
			}
			return 0
		}
		for end := time.Now().Add(5 * time.Second); held() != 7; <-time.After(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("a believes that b has generation %d", held())
			}
		}
		if len(a.events()) != 1 {
			t.Errorf("events %v", a.events())
		}
		if b.g.Hold(8, nil) == nil {
			t.Error("no key at all was taken")
		}
	})
}

func TestGossip_HalvesFindTogether(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarm) {
		a, b := s.start("a", "1", key), s.start("b", "1", key)
		s.until(a, gossip.Joined, "b", joinWithin)
		s.net.Cut("a", "b")
		s.until(a, gossip.Gone, "b", 20*time.Second)
		<-time.After(10 * time.Minute) // long past gossip to the dead
		s.net.HealAll()
		s.until(a, gossip.Joined, "b", 30*time.Second)
		s.until(b, gossip.Joined, "a", 30*time.Second)
	})
}

func TestOpen_Refuses(t *testing.T) {
	for _, addr := range []string{"name:15003", "0.0.0.0:15003", "10.0.0.1:0", ""} {
		if _, err := gossip.NewTransport(nil, "", addr); err == nil {
			t.Errorf("%q was accepted", addr)
		}
	}
	if _, err := gossip.Open(gossip.Config{Name: "a", Key: []byte("short")}); err == nil {
		t.Error("a short key was accepted")
	}
	long := gossip.Meta{Address: string(bytes.Repeat([]byte{'x'}, 600))}
	if _, err := gossip.Open(gossip.Config{Name: "a", Key: key, Meta: long}); err == nil {
		t.Error("long metadata was accepted")
	}
}
