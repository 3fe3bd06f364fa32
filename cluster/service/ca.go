package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// CA signs the leaves of those who join and renew; *transport.CA is one, and
// *transport.Authority one of two CAs while one takes the place of the other.
type CA interface {
	Sign(csr []byte, role transport.Role, host pbs.HostName, now time.Time) ([]byte, error)
	Renew(csr []byte, role transport.Role, host pbs.HostName, now time.Time, trusts []string) ([]byte, error)
	Hash() []byte  // of the one that signs for replicas
	Roots() []byte // certificates of all that are trusted (DER)
	MarshalKey() ([]byte, error)
}

var (
	_ CA = (*transport.CA)(nil)
	_ CA = (*transport.Authority)(nil)
)

// Keys are the keys of the CAs that this replica has on its disk.
type Keys interface {
	// Make makes a new CA, on the disk, and returns its certificate behind that of the present
	// one (DER).
	Make() (roots [][]byte, err error)
	// Key returns the CA with the RootHash.
	Key(hash string) (*transport.CA, bool)
}

// TurnCA begins to replace the CA, or hurries or gives up what is under way.
func (t *Trust) TurnCA(ctx context.Context, r *connect.Request[api.TurnCARequest]) (*connect.Response[api.TurnCAReply], error) {
	v, err := t.managed(ctx)
	if err != nil {
		return nil, err
	}
	turn, err := t.turnOf(v, r.Msg.GetWay())
	if err != nil {
		return nil, err
	}
	if turn != nil {
		// The id is not the request's: a repeat finds what is under way.
		caller, _ := transport.CallerFrom(ctx)
		if _, err := t.commit(ctx, caller.User, turn); err != nil {
			return nil, err
		}
		if v, err = t.present(ctx); err != nil {
			return nil, err
		}
	}
	return connect.NewResponse(&api.TurnCAReply{
		Step: uint64(rootStep(v)), Waiting: RootsBehind(v), Roots: v.Cluster().Roots,
	}), nil
}

// turnOf returns the step that somebody asks for, nil if there is nothing to do.
func (t *Trust) turnOf(v *state.View, way api.TurnCARequest_Way) (command.Command, error) {
	c, step := v.Cluster(), rootStep(v)
	switch {
	case way == api.TurnCARequest_WAY_BEGIN && step == transport.RootsSettled:
		roots, err := t.Keys.Make()
		return &command.TurnRoots{From: c.RootTurns, Roots: roots}, err
	case way == api.TurnCARequest_WAY_FINISH && step == transport.RootsLeaves:
		return &command.TurnRoots{From: c.RootTurns, Roots: c.Roots}, nil
	case way == api.TurnCARequest_WAY_FINISH && step == transport.RootsLearned:
		return nil, pbs.Errorf(pbs.InvalidRequest, "rotate the CA: every replica must have the new key first; revoke those that are gone for good")
	case way == api.TurnCARequest_WAY_ABANDON && step == transport.RootsLearned:
		return &command.TurnRoots{From: c.RootTurns, Roots: c.Roots[:1]}, nil
	case way == api.TurnCARequest_WAY_ABANDON && step != transport.RootsSettled:
		return nil, pbs.Errorf(pbs.InvalidRequest, "rotate the CA: the new one has signed already, and cannot be given up")
	}
	return nil, nil
}

func rootStep(v *state.View) transport.RootStep {
	return transport.RootStep(v.Cluster().RootTurns) % transport.RootSteps
}

// NextRoots returns the next step of replacing the CA when everybody has followed the last one;
// nil if there is none to be taken.
func NextRoots(v *state.View) *command.TurnRoots {
	step, c := rootStep(v), v.Cluster()
	if step == transport.RootsSettled || len(RootsBehind(v)) > 0 {
		return nil
	}
	roots := c.Roots
	if step == transport.RootsAll {
		roots = roots[1:]
	}
	return &command.TurnRoots{From: c.RootTurns, Roots: roots}
}

// RootsBehind names those for whom the next step of replacing the CA waits: replicas without
// the new key; moms and login hosts, then replicas, whose leaf the old CA has signed.
func RootsBehind(v *state.View) []string {
	step := rootStep(v)
	if step == transport.RootsSettled {
		return nil
	}
	fresh := transport.RootHash(v.Cluster().Roots[1])
	var behind []string
	presented := map[pbs.HostName]bool{}
	for id := range v.Identities() {
		replica := id.Role == string(transport.RoleReplica)
		if id.Revoked != 0 {
			continue
		}
		if replica {
			presented[id.Host] = true
		}
		has := id.Root == fresh
		if step == transport.RootsLearned {
			has = id.Holds == fresh
		}
		if replica == (step != transport.RootsLeaves) && !has {
			behind = append(behind, string(id.Host))
		}
	}
	for r := range v.Replicas() { // one that has presented no certificate yet
		host := pbs.HostName(r.Name)
		if !presented[host] && !v.Revoked(string(transport.RoleReplica), host) {
			behind = append(behind, string(host))
		}
	}
	slices.Sort(behind)
	return slices.Compact(behind)
}

// signerFor returns the hash of the CA by which a leaf of the role should be signed now, ""
// if there is but one.
func signerFor(v *state.View, role transport.Role) string {
	roots, step := v.Cluster().Roots, rootStep(v)
	switch {
	case len(roots) == 0:
		return ""
	case len(roots) > 1 && (step == transport.RootsAll || step == transport.RootsLeaves && role != transport.RoleReplica):
		return transport.RootHash(roots[1])
	}
	return transport.RootHash(roots[0])
}

// KeyOfCA gives a replica whose key is on record the key of a CA. It goes nowhere else.
func (t *Trust) KeyOfCA(ctx context.Context, r *connect.Request[api.KeyOfCARequest]) (*connect.Response[api.KeyOfCAReply], error) {
	caller, _ := transport.CallerFrom(ctx)
	v, err := t.present(ctx)
	if err != nil {
		return nil, err
	}
	if id, ok := v.Identity(caller.Key); !ok || id.Revoked != 0 || id.Role != string(transport.RoleReplica) || id.Host != caller.Host {
		return nil, fmt.Errorf("key of the CA for %s: its key is not on record: %w", caller.Host, pbs.Refuse(pbs.Unauthorized))
	}
	ca, ok := t.Keys.Key(r.Msg.GetHash())
	if !ok {
		return nil, pbs.Errorf(pbs.InvalidRequest, "this replica does not have the key of the CA %.16s", r.Msg.GetHash())
	}
	key, err := ca.MarshalKey()
	return reply(&api.KeyOfCAReply{Certificate: ca.Certificate(), Key: key}, err)
}
