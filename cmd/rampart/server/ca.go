package server

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster/service"
	"rampart/cmd/rampart/home"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/login"
)

// authority is what this replica signs with: the CA on its disk, and the one that takes its
// place, if there is one.
type authority struct {
	*transport.Authority
	files   transport.Files
	cluster string
}

// openAuthority reads the CA, and the next one.
func openAuthority(files transport.Files) (*authority, error) {
	ca, err := files.CA()
	if err != nil {
		return nil, err
	}
	a := &authority{transport.NewAuthority(ca), files, ca.Cluster()}
	next, err := files.NextCA()
	switch {
	case err == nil:
		a.Hold(next)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return a, nil
}

// Make implements service.Keys.
func (a *authority) Make() ([][]byte, error) {
	old, ok := a.Signer(transport.RoleReplica)
	if !ok {
		return nil, errors.New("make CA: the present one's key is not here")
	}
	fresh, err := transport.NewCA(a.cluster, time.Now())
	if err != nil {
		return nil, err
	}
	if err := a.files.SaveNextCA(fresh); err != nil {
		return nil, err
	}
	a.Hold(fresh)
	return [][]byte{old.Certificate(), fresh.Certificate()}, nil
}

// Issue implements service.Logins.
func (a *authority) Issue(user pbs.User, ttl time.Duration) (string, time.Time, error) {
	ca, ok := a.Signer(transport.RoleReplica)
	if !ok {
		return "", time.Time{}, errors.New("issue login token: the key of the CA is not here yet")
	}
	return login.Issue(ca, user, ttl, time.Now())
}

// read is transport.HandlerConfig.Login: a token of any CA that is trusted is good.
func (a *authority) read(token string) (user pbs.User, err error) {
	err = errors.New("login token: the key of the CA is not here yet")
	for _, ca := range a.All() {
		if user, err = login.Verifier(ca)(token); err == nil {
			return user, nil
		}
	}
	return pbs.User{}, err
}

// turnRoots does at this replica what the state says of the CAs: it trusts them, signs by the
// right one, and has the last one's key in its place on the disk.
func (t *trust) turnRoots(c *state.Cluster) error {
	if len(c.Roots) == 0 {
		return nil
	}
	step := transport.RootStep(c.RootTurns) % transport.RootSteps
	t.ca.Turn(c.Roots, step)
	bundle := bytes.Join(c.Roots, nil)
	if !bytes.Equal(t.identity.Roots(), bundle) {
		if err := t.identity.Trust(bundle); err != nil {
			return err
		}
	}
	if step != transport.RootsSettled {
		return t.files.SaveRoots(bundle)
	}
	ca, ok := t.ca.Key(transport.RootHash(c.Roots[0]))
	if !ok {
		return nil // fetchKeys comes back when it is here
	}
	if home, err := t.files.CA(); err == nil && bytes.Equal(home.Certificate(), ca.Certificate()) {
		return errors.Join(t.files.SaveRoots(bundle), t.files.RemoveNextCA())
	}
	return errors.Join(t.files.ReplaceCA(ca), t.files.RemoveNextCA())
}

// keyEvery is how often a replica looks whether it lacks the key of a CA.
const keyEvery = time.Second

// fetchKeys asks the other replicas for the key of a CA that this one lacks.
func (t *trust) fetchKeys(ctx context.Context) error {
	return look(ctx, keyEvery, func() {
		v := t.machine.View()
		roots := v.Cluster().Roots
		if len(roots) == 0 {
			return
		}
		hash := transport.RootHash(roots[len(roots)-1])
		if _, ok := t.ca.Key(hash); ok {
			return
		}
		if err := t.fetchKey(ctx, v, hash); err != nil && ctx.Err() == nil {
			t.logger.Warn("get the key of the new CA", "error", err)
		}
	})
}

func (t *trust) fetchKey(ctx context.Context, v *state.View, hash string) error {
	ctx, cancel := context.WithTimeout(ctx, presentEvery)
	defer cancel()
	err := errors.New("there is no other replica")
	for r := range v.Replicas() {
		if string(r.Name) == t.config.Host {
			continue
		}
		var reply *connect.Response[api.KeyOfCAReply]
		if reply, err = t.peers.trustAt(r.Address).KeyOfCA(ctx, connect.NewRequest(&api.KeyOfCARequest{Hash: hash})); err != nil {
			continue
		}
		return t.takeKey(reply.Msg, hash, v.Cluster())
	}
	return err
}

// takeKey has the key on the disk before it is told that this replica has it.
func (t *trust) takeKey(r *api.KeyOfCAReply, hash string, c *state.Cluster) error {
	ca, err := transport.ParseCA(r.GetCertificate(), r.GetKey())
	if err != nil {
		return err
	}
	if got := transport.RootHash(ca.Certificate()); got != hash {
		return fmt.Errorf("asked for the CA %.16s, got %.16s", hash, got)
	}
	if err := t.files.SaveNextCA(ca); err != nil {
		return err
	}
	t.ca.Hold(ca)
	return t.turnRoots(c)
}

// stale reports whether another CA signs for replicas than that which signed the leaf.
func (t *trust) stale() bool {
	ca, ok := t.ca.Signer(transport.RoleReplica)
	return ok && transport.RootHash(ca.Certificate()) != t.identity.SignedBy()
}

// holds returns the hash of the newest CA whose key this replica has, "" if the cluster has
// but one since its beginning.
func (t *trust) holds(c *state.Cluster) string {
	if len(c.Roots) == 0 {
		return ""
	}
	hash := transport.RootHash(c.Roots[len(c.Roots)-1])
	if _, ok := t.ca.Key(hash); !ok {
		return ""
	}
	return hash
}

// replaceCA is a duty of the leader: it takes the next step of replacing the CA when all who
// must have followed the last one.
func (t *trust) replaceCA(ctx context.Context) error {
	return look(ctx, turnEvery, func() {
		step := service.NextRoots(t.machine.View())
		if step == nil {
			return
		}
		t.logger.Info("turning the CA", "step", step.From+1)
		if _, err := t.replica.Propose(ctx, command.Proposal{Commands: []command.Command{step}}); err != nil && ctx.Err() == nil {
			t.logger.Warn("turn the CA", "error", err)
		}
	})
}

// ExportCA writes certificate and key of the cluster's CA, and of the one that takes its
// place, from the disk of a replica.
func ExportCA(h home.Home, w io.Writer) error {
	a, err := openAuthority(transport.Files{Dir: h.ServerTLS()})
	if err != nil {
		return fmt.Errorf("ca export: %w", err)
	}
	all := a.All()
	if next, err := a.files.NextCA(); err == nil {
		all = append(all, next)
	}
	for _, ca := range all {
		key, err := ca.MarshalKey()
		if err != nil {
			return fmt.Errorf("ca export: %w", err)
		}
		for _, b := range []*pem.Block{{Type: "CERTIFICATE", Bytes: ca.Certificate()}, {Type: "PRIVATE KEY", Bytes: key}} {
			if err := pem.Encode(w, b); err != nil {
				return fmt.Errorf("ca export: %w", err)
			}
		}
	}
	return nil
}
