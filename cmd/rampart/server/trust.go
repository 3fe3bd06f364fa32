package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/cluster/gossip"
	"rampart/cmd/rampart/home"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// A trust is how a replica follows what the state says of certificates and keys: whom it lets in, which CA signs, which key
// gossip has, and that its own leaf is on record.
type trust struct {
	config   Config
	logger   *slog.Logger
	machine  *machine
	files    transport.Files
	identity *transport.Identity
	ca       *authority
	peers    *peers
	replica  *cluster.Replica
	gossip   *gossip.Gossip
	revoked  atomic.Pointer[revoked]
}

// open reads identity and CA from the disk.
func (t *trust) open() (err error) {
	t.files = transport.Files{Dir: t.config.Home.ServerTLS()}
	if t.identity, err = t.files.Identity(); err != nil {
		return err
	}
	t.ca, err = openAuthority(t.files)
	return err
}

// revoked holds the keys that the state no longer lets in, as of a number of revocations.
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
func (t *trust) check(role transport.Role, host pbs.HostName, key string) error {
	v := t.machine.View()
	if v.Cluster().Revocations == 0 {
		return nil
	}
	r := t.revoked.Load()
	if r == nil || r.at != v.Cluster().Revocations {
		r = revokedIn(v)
		t.revoked.Store(r)
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
func (t *trust) followTrust(ctx context.Context) error {
	var revocations, generation, turns uint64
	var keys [][]byte
	for {
		changed := t.machine.Changed()
		c := t.machine.View().Cluster()
		if c.Revocations != revocations {
			revocations = c.Revocations
			t.identity.Recheck()
		}
		if c.RootTurns != turns {
			turns = c.RootTurns
			if err := t.turnRoots(c); err != nil {
				t.logger.Error("take over the CAs", "error", err)
			}
		}
		if len(c.GossipKeys) > 0 && (keys == nil || c.GossipGeneration != generation) {
			generation, keys = c.GossipGeneration, c.GossipKeys
			t.holdGossipKeys(generation, keys)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// holdGossipKeys writes the keys down before it is told that this replica has them.
func (t *trust) holdGossipKeys(generation uint64, keys [][]byte) {
	if err := home.ReplaceKeys(t.config.gossipKeyPath(), keys); err != nil {
		t.logger.Error("write the gossip keys", "error", err)
	}
	if err := t.gossip.Hold(generation, keys); err != nil {
		t.logger.Error("take over the gossip keys", "error", err)
	}
}

// presentEvery is how often a replica looks whether its present leaf is on record.
const presentEvery = 5 * time.Second

// keepPresented puts the leaf that this replica made for itself on record, at the leader.
func (t *trust) keepPresented(ctx context.Context) error {
	return look(ctx, presentEvery, func() {
		v := t.machine.View()
		if t.onRecord(v) {
			return
		}
		if err := t.present(ctx); err != nil && ctx.Err() == nil {
			t.logger.Warn("put the certificate of this replica on record", "error", err)
		}
	})
}

func (t *trust) onRecord(v *state.View) bool {
	id, ok := v.Identity(t.identity.KeyHash())
	return ok && int64(id.Expires)/int64(time.Second) == t.identity.Certificate().NotAfter.Unix() &&
		id.Root == t.identity.SignedBy() && id.Holds == t.holds(v.Cluster())
}

func (t *trust) present(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, presentEvery)
	defer cancel()
	address, self, ok := t.replica.Leader()
	cert := t.identity.Certificate()
	made := cert.NotAfter.Add(-transport.LeafLife)
	root, holds := t.identity.SignedBy(), t.holds(t.machine.View().Cluster())
	switch {
	case !ok:
		return nil // the next look finds one
	case self:
		out, err := t.replica.Propose(ctx, command.Proposal{Commands: []command.Command{&command.RenewIdentity{Identity: state.Identity{
			KeyHash: t.identity.KeyHash(), Role: string(transport.RoleReplica), Host: pbs.HostName(t.config.Host),
			Renewed: pbs.Time(made.UnixNano()), Expires: pbs.Time(cert.NotAfter.UnixNano()), Root: root, Holds: holds,
		}}}})
		if err != nil {
			return err
		}
		return out.Err()
	}
	_, err := t.peers.trustAt(address).Present(ctx, connect.NewRequest(&api.PresentRequest{
		Made: made.Unix(), Expires: cert.NotAfter.Unix(), Root: root, Holds: holds,
	}))
	return transport.FromWire(err)
}
