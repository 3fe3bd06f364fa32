package server

import (
	"bytes"
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/state"
)

// A key that was being replaced when a host was cut off is replaced once more: that host has
// learnt the new one.
func TestNextGossipKeys(t *testing.T) {
	a, b := bytes.Repeat([]byte{1}, command.GossipKeySize), bytes.Repeat([]byte{2}, command.GossipKeySize)
	for _, c := range []struct {
		name string
		at   state.Cluster
		keys int
	}{
		{"at rest", state.Cluster{GossipKeys: [][]byte{a}}, 0},
		{"no gossip", state.Cluster{GossipAgain: true}, 0},
		{"a second key", state.Cluster{GossipKeys: [][]byte{a, b}, GossipGeneration: 1, GossipAgain: true}, 2},
		{"the new one is in use", state.Cluster{GossipKeys: [][]byte{b, a}, GossipGeneration: 2, GossipAgain: true}, 1},
		{"once more", state.Cluster{GossipKeys: [][]byte{b}, GossipGeneration: 3, GossipAgain: true}, 2},
	} {
		step := nextGossipKeys(&c.at)
		if (step == nil) != (c.keys == 0) {
			t.Fatalf("%s: %v", c.name, step)
		}
		if step != nil && (len(step.Keys) != c.keys || step.From != c.at.GossipGeneration) {
			t.Errorf("%s: %d keys from %d", c.name, len(step.Keys), step.From)
		}
	}
}
