package server

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/cmd/rampart/home"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// revoked is whom the state no longer lets in, as of a number of revocations.
type revoked struct {
	at    uint64
	keys  map[string]bool
	names map[revokedName]bool // that have or had such a key
}

type revokedName struct {
	role string
	host pbs.HostName
}

func revokedIn(v *state.View) *revoked {
	r := &revoked{at: v.Cluster().Revocations, keys: map[string]bool{}, names: map[revokedName]bool{}}
	for id := range v.Identities() {
		if id.Revoked != 0 {
			r.keys[id.KeyHash] = true
			r.names[revokedName{id.Role, id.Host}] = true
		}
	}
	return r
}

// check cuts off whom this replica knows to be revoked (transport.Identity.Check). Of a host
// that has lost a key, only keys on record count: a replica could have made it others.
func (s *Server) check(role transport.Role, host pbs.HostName, key string) error {
	v := s.machine.View()
	if v.Cluster().Revocations == 0 {
		return nil
	}
	r := s.revoked.Load()
	if r == nil || r.at != v.Cluster().Revocations {
		r = revokedIn(v)
		s.revoked.Store(r)
	}
	out := r.keys[key]
	if !out && r.names[revokedName{string(role), host}] {
		_, known := v.Identity(key)
		out = !known
	}
	if out {
		return fmt.Errorf("the certificate of %s %s was revoked", role, host)
	}
	return nil
}

// followTrust does at this replica what the state says of certificates and keys, as soon as
// it is applied: connections of the revoked are cut, gossip gets its keys, and CAs are changed.
func (s *Server) followTrust(ctx context.Context) error {
	var revocations, generation, turns uint64
	var keys [][]byte
	for {
		changed := s.machine.Changed()
		c := s.machine.View().Cluster()
		if c.Revocations != revocations {
			revocations = c.Revocations
			s.identity.Recheck()
		}
		if c.RootTurns != turns {
			turns = c.RootTurns
			if err := s.turnRoots(c); err != nil {
				s.logger.Error("take over the CAs", "error", err)
			}
		}
		if len(c.GossipKeys) > 0 && (keys == nil || c.GossipGeneration != generation) {
			generation, keys = c.GossipGeneration, c.GossipKeys
			s.holdGossipKeys(generation, keys)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// holdGossipKeys writes the keys down before it is told that this replica has them.
func (s *Server) holdGossipKeys(generation uint64, keys [][]byte) {
	if err := home.ReplaceKeys(s.config.gossipKeyPath(), keys); err != nil {
		s.logger.Error("write the gossip keys", "error", err)
	}
	if err := s.gossip.Hold(generation, keys); err != nil {
		s.logger.Error("take over the gossip keys", "error", err)
	}
}

// presentEvery is how often a replica looks whether its present leaf is on record.
const presentEvery = 5 * time.Second

// keepPresented puts the leaf that this replica made for itself on record, at the leader.
func (s *Server) keepPresented(ctx context.Context) error {
	return look(ctx, presentEvery, func() {
		v := s.machine.View()
		if s.onRecord(v) {
			return
		}
		if err := s.present(ctx); err != nil && ctx.Err() == nil {
			s.logger.Warn("put the certificate of this replica on record", "error", err)
		}
	})
}

func (s *Server) onRecord(v *state.View) bool {
	id, ok := v.Identity(s.identity.KeyHash())
	return ok && int64(id.Expires)/int64(time.Second) == s.identity.Certificate().NotAfter.Unix() &&
		id.Root == s.identity.SignedBy() && id.Holds == s.holds(v.Cluster())
}

func (s *Server) present(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, presentEvery)
	defer cancel()
	address, self, ok := s.replica.Leader()
	cert := s.identity.Certificate()
	made := cert.NotAfter.Add(-transport.LeafLife)
	root, holds := s.identity.SignedBy(), s.holds(s.machine.View().Cluster())
	switch {
	case !ok:
		return nil // the next look finds one
	case self:
		out, err := s.replica.Propose(ctx, command.Proposal{Commands: []command.Command{&command.RenewIdentity{Identity: state.Identity{
			KeyHash: s.identity.KeyHash(), Role: string(transport.RoleReplica), Host: pbs.HostName(s.config.Host),
			Renewed: pbs.Time(made.UnixNano()), Expires: pbs.Time(cert.NotAfter.UnixNano()), Root: root, Holds: holds,
		}}}})
		if err != nil {
			return err
		}
		return out.Err()
	}
	_, err := s.peers.trustAt(address).Present(ctx, connect.NewRequest(&api.PresentRequest{
		Made: made.Unix(), Expires: cert.NotAfter.Unix(), Root: root, Holds: holds,
	}))
	return transport.FromWire(err)
}
