package command

import (
	"bytes"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// TurnGossipKeys takes one step of replacing the key that encrypts gossip. There are three:
// a second key is added, which all learn to understand; it becomes the one that encrypts;
// the old one is dropped. Between two steps the leader waits for every member.
type TurnGossipKeys struct {
	From uint64   `cbor:"1,keyasint"` // the generation that the step starts from
	Keys [][]byte `cbor:"2,keyasint"` // as they are to be; the first one encrypts
}

// GossipSteps is how many steps there are: a generation that it divides has one key.
const GossipSteps = 3

// GossipKeySize is the length of a new key in bytes.
const GossipKeySize = 32

// gossipKeySizes are the sizes of AES keys, in bytes.
var gossipKeySizes = []int{16, 24, 32}

// Apply takes the step, if nobody took one before.
func (c *TurnGossipKeys) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	cl := tx.Cluster()
	if c.From != cl.GossipGeneration {
		return pbs.Errorf(pbs.InvalidRequest, "turn the gossip key: it was turned meanwhile")
	}
	text := gossipStep(cl, c.Keys)
	if text == "" {
		return pbs.Errorf(pbs.InvalidRequest, "turn the gossip key: this is no step from the present keys")
	}
	cl = tx.EditCluster()
	cl.GossipKeys, cl.GossipGeneration = c.Keys, cl.GossipGeneration+1
	if cl.GossipGeneration%GossipSteps == 1 {
		cl.GossipAgain = false
	}
	emitTrust(tx, m, "", text)
	return nil
}

// gossipStep names the step from the present keys to the new ones, "" if it is none.
func gossipStep(cl *state.Cluster, keys [][]byte) string {
	if slices.ContainsFunc(keys, func(k []byte) bool { return !slices.Contains(gossipKeySizes, len(k)) }) {
		return ""
	}
	old, same := cl.GossipKeys, bytes.Equal
	switch step := cl.GossipGeneration % GossipSteps; {
	case step == 0 && len(old) == 1 && len(keys) == 2 && same(keys[0], old[0]) && !same(keys[1], old[0]):
		return "a second gossip key was added"
	case step == 1 && len(old) == 2 && len(keys) == 2 && same(keys[0], old[1]) && same(keys[1], old[0]):
		return "the new gossip key is in use"
	case step == 2 && len(old) == 2 && len(keys) == 1 && same(keys[0], old[0]):
		return "the old gossip key was dropped"
	}
	return ""
}
