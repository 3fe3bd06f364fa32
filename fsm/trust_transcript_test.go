package fsm_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// The verbs of transcripts that tell of tokens, certificates and keys. A key of gossip, and
// the certificate of a CA, is a letter.

// gossipKey is the key of a letter, nil of none.
func gossipKey(letter string) []byte { return bytes.Repeat([]byte(letter), command.GossipKeySize) }

func raiseLevel(_ *stage, n string, _ map[string]string) command.Command {
	level, _ := strconv.ParseUint(n, 10, 32)
	return &command.RaiseLevel{Level: uint32(level)}
}

func putReplica(_ *stage, name string, _ map[string]string) command.Command {
	return &command.PutReplica{Replica: state.Replica{Name: pbs.ReplicaName(name), Host: pbs.HostName(name)}}
}

func createToken(s *stage, hash string, args map[string]string) command.Command {
	return &command.CreateToken{Token: state.Token{
		Hash: hash, Role: args["role"], Host: pbs.HostName(args["host"]), Expires: s.now + pbs.Time(time.Hour),
	}}
}

func enrol(_ *stage, key string, args map[string]string) command.Command {
	return &command.Enrol{TokenHash: args["token"], Identity: state.Identity{KeyHash: key, Role: args["role"], Host: pbs.HostName(args["host"])}}
}

func present(_ *stage, key string, args map[string]string) command.Command {
	return &command.RenewIdentity{Identity: state.Identity{
		KeyHash: key, Role: args["role"], Host: pbs.HostName(args["host"]), Root: args["root"], Holds: args["holds"],
	}}
}

func revoke(_ *stage, host string, args map[string]string) command.Command {
	return &command.RevokeIdentity{Role: args["role"], Host: pbs.HostName(host)}
}

func revokeToken(_ *stage, hash string, _ map[string]string) command.Command {
	return &command.RevokeToken{Hash: hash}
}

func turnGossip(_ *stage, keys string, args map[string]string) command.Command {
	c := &command.TurnGossipKeys{}
	c.From, _ = strconv.ParseUint(args["from"], 10, 64)
	for letter := range strings.SplitSeq(keys, "") {
		c.Keys = append(c.Keys, gossipKey(letter))
	}
	return c
}

func turnRoots(_ *stage, roots string, args map[string]string) command.Command {
	c := &command.TurnRoots{}
	c.From, _ = strconv.ParseUint(args["from"], 10, 64)
	for letter := range strings.SplitSeq(roots, "") {
		c.Roots = append(c.Roots, []byte(letter))
	}
	return c
}

func showTrust(s *stage, _ string) []string {
	v := s.store.View()
	c := v.Cluster()
	first := func(all [][]byte) (letters string) {
		for _, b := range all {
			letters += string(b[:1])
		}
		return letters
	}
	lines := []string{fmt.Sprintf("level %d, %d revocations, gossip %s after %d steps, CA %s after %d steps",
		c.FeatureLevel, c.Revocations, first(c.GossipKeys), c.GossipGeneration, first(c.Roots), c.RootTurns)}
	for t := range v.Tokens() {
		lines = append(lines, fmt.Sprintf("token %s %s host=%s used=%t", t.Hash, t.Role, t.Host, t.Used))
	}
	for id := range v.Identities() {
		lines = append(lines, fmt.Sprintf("key %s %s %s root=%s holds=%s revoked=%t", id.KeyHash, id.Role, id.Host, id.Root, id.Holds, id.Revoked != 0))
	}
	return lines
}
