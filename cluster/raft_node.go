package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/hashicorp/raft"
)

// node is a running Raft and what it stands on.
type node struct {
	id        raft.ServerID
	raft      *raft.Raft
	transport *confirmer
	layer     *streamLayer
	silence   *silence
}

// start brings Raft up: the checks first, then what may answer others. base
// outlives ctx until the replica has stopped.
func (r *Replica) start(ctx, base context.Context) (*node, error) {
	if err := r.starts.checkLevel(); err != nil {
		return nil, err
	}
	if err := r.disk.await(ctx); err != nil {
		return nil, err
	}
	if err := r.starts.check(ctx); err != nil {
		return nil, err
	}
	conf := r.raftConfig()
	layer := newStreamLayer(&r.cfg, r.raft.silence)
	transport := newConfirmer(raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: layer, MaxPool: connsPerPeer, Timeout: rpcTimeout,
		Logger: conf.Logger, MsgpackUseNewTimeFormat: true,
	})).screen(r.starts.refuse, r.raft.silence)
	if r.cfg.Turn != nil {
		transport.turn = r.cfg.Turn
	}
	n := &node{id: r.raft.id, transport: transport, layer: layer, silence: r.raft.silence}
	err := assertPreVote(conf, transport)
	if err == nil {
		err = r.bootstrap(conf, transport)
	}
	if err == nil {
		r.machine.ctx = base
		n.raft, err = r.newRaft(conf, r.machine, transport)
	}
	if err != nil {
		return nil, errors.Join(err, transport.Close(), layer.Close())
	}
	transport.node.Store(n)
	n.raft.RegisterObserver(r.meter.observer())
	n.silence.watch(n)
	return n, nil
}

// newRaft brings Raft up. It panics on a log with a gap, as one has that falls back
// to a snapshot that is too old for it.
func (r *Replica) newRaft(conf *raft.Config, m raft.FSM, t raft.Transport) (_ *raft.Raft, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = r.store.Damaged(fmt.Errorf("%v", p))
		}
	}()
	n, err := raft.NewRaft(conf, m, r.store.Log(), r.store.Stable(), r.store.Snapshots(), t)
	if err != nil && r.store.Err() == nil {
		err = r.store.Damaged(err) // no snapshot can be read
	}
	return n, err
}

// bootstrap makes an empty store the first voter of a new cluster.
func (r *Replica) bootstrap(conf *raft.Config, t raft.Transport) error {
	if r.cfg.Init == nil {
		return nil
	}
	log, stable, snapshots := r.store.Log(), r.store.Stable(), r.store.Snapshots()
	used, err := raft.HasExistingState(log, stable, snapshots)
	if err != nil || used {
		return err
	}
	self := raft.Server{Suffrage: raft.Voter, ID: r.raft.id, Address: raft.ServerAddress(r.cfg.Self.Address)}
	members := raft.Configuration{Servers: []raft.Server{self}}
	return raft.BootstrapCluster(conf, log, stable, snapshots, t, members)
}

// stop ends Raft. The connections go first: Raft waits for its calls under way.
func (n *node) stop() error {
	down := n.raft.Shutdown()
	n.transport.end()
	err := n.layer.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, down.Error())
}

// isLeader reports whether this replica leads. One whose store does not answer does not, whatever
// its Raft, which waits for the store, believes.
func (n *node) isLeader() bool { return n.raft.State() == raft.Leader && !n.silenced() }

// silenced reports whether a silence keeps this replica from leading. A lone voter has nobody who
// could lead in its place.
func (n *node) silenced() bool { return n.silence.kept() && len(n.otherVoters()) > 0 }

// disconnect ends all connections to other replicas: what is under way gets no answer, late or never.
func (n *node) disconnect() {
	n.layer.disconnect()
	n.transport.CloseStreams()
}

func (n *node) leads(term uint64) bool { return n.isLeader() && n.raft.CurrentTerm() == term }

// servers returns the members as of the latest configuration.
func (n *node) servers() []raft.Server {
	return n.raft.GetConfiguration().Configuration().Servers
}

func (n *node) voters() []raft.Server {
	return slices.DeleteFunc(slices.Clone(n.servers()), func(s raft.Server) bool { return s.Suffrage != raft.Voter })
}

func (n *node) otherVoters() []raft.Server {
	return slices.DeleteFunc(n.voters(), func(s raft.Server) bool { return s.ID == n.id })
}

// quorum returns how many voters must agree, ourselves included.
func (n *node) quorum() int { return len(n.voters())/2 + 1 }

func (n *node) server(id raft.ServerID) (raft.Server, bool) {
	all := n.servers()
	if i := slices.IndexFunc(all, func(s raft.Server) bool { return s.ID == id }); i >= 0 {
		return all[i], true
	}
	return raft.Server{}, false
}
