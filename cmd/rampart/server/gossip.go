package server

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"rampart/cluster/gossip"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
)

const (
	// turnEvery is how often the leader looks whether the next step can be taken.
	turnEvery = 500 * time.Millisecond
	// turnPatience is how long a step waits for members that are up and that gossip does not
	// hear. They get the keys over TLS, and are heard again.
	turnPatience = time.Minute
)

// turnGossipKeys is a duty of the leader: it takes the next step of replacing the gossip key
// when every member has the keys of the last one. What is done is in the state, so the next
// leader goes on.
func (t *trust) turnGossipKeys(ctx context.Context) error {
	var since time.Time // of the present step, as far as this leader knows
	var generation uint64
	return look(ctx, turnEvery, func() {
		v := t.machine.View()
		step := nextGossipKeys(v.Cluster())
		if step == nil {
			return
		}
		if since.IsZero() || step.From != generation {
			since, generation = time.Now(), step.From
		}
		if waiting := behindInGossip(v, t.gossip.Members(), time.Since(since) < turnPatience); len(waiting) > 0 {
			return
		}
		t.logger.Info("turning the gossip key", "generation", step.From+1, "keys", len(step.Keys))
		if _, err := t.replica.Propose(ctx, command.Proposal{Commands: []command.Command{step}}); err != nil && ctx.Err() == nil {
			t.logger.Warn("turn the gossip key", "error", err)
		}
	})
}

// nextGossipKeys returns the next step, nil if no key is being replaced, or is to be.
func nextGossipKeys(c *state.Cluster) *command.TurnGossipKeys {
	if len(c.GossipKeys) == 1 && c.GossipAgain {
		key := make([]byte, command.GossipKeySize)
		_, _ = rand.Read(key) // never fails (crypto/rand)
		return &command.TurnGossipKeys{From: c.GossipGeneration, Keys: [][]byte{c.GossipKeys[0], key}}
	}
	if len(c.GossipKeys) != 2 {
		return nil
	}
	if c.GossipGeneration%command.GossipSteps == 1 {
		return &command.TurnGossipKeys{From: c.GossipGeneration, Keys: [][]byte{c.GossipKeys[1], c.GossipKeys[0]}}
	}
	return &command.TurnGossipKeys{From: c.GossipGeneration, Keys: c.GossipKeys[:1]}
}

// behindInGossip names the members that do not hold the present keys: those that gossip
// hears, and with absent those that should be there and that it does not. The revoked are
// waited for by nobody.
func behindInGossip(v *state.View, heard []gossip.Member, absent bool) []string {
	type member struct{ role, name string }
	holds := make(map[member]uint64)
	for _, m := range heard {
		holds[member{m.Meta.Role, m.Name}] = m.Meta.Keys
	}
	var behind []string
	look := func(role transport.Role, name string, up bool) {
		held, ok := holds[member{string(role), name}]
		if ok && held >= v.Cluster().GossipGeneration || !ok && !(absent && up) {
			return
		}
		if !v.Revoked(string(role), pbs.HostName(name)) {
			behind = append(behind, name)
		}
	}
	for r := range v.Replicas() {
		look(transport.RoleReplica, string(r.Name), true)
	}
	for h := range v.Hosts() {
		look(transport.RoleMom, string(h.Name), h.Up)
	}
	slices.Sort(behind)
	return behind
}

// gossipBehind is behindInGossip as this replica sees it.
func (t *trust) gossipBehind() []string {
	v := t.machine.View()
	if len(v.Cluster().GossipKeys) < 2 {
		return nil
	}
	return behindInGossip(v, t.gossip.Members(), true)
}
