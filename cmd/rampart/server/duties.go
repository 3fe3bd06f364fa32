package server

import (
	"context"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sync/errgroup"

	"rampart/cluster/dispatch"
	"rampart/cluster/gossip"
	"rampart/cluster/mail"
	"rampart/cluster/sched"
	"rampart/cluster/service"
	"rampart/cmd/rampart/home"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
	"rampart/transport/pause"
)

// lead does the leader's duties of one term, until ctx ends.
func (s *Server) lead(ctx context.Context, term uint64) error {
	options := dispatch.Options{Source: s.machine, Proposer: s.replica, Moms: s.moms, Term: term, Meter: s.metrics.orders, Logger: s.logger}
	watcher := dispatch.NewWatcher(options)
	s.setWatcher(watcher)
	defer s.setWatcher(nil)
	duties, ctx := errgroup.WithContext(ctx)
	duties.Go(func() error { return dispatch.New(options).Run(ctx) })
	duties.Go(func() error { return watcher.Run(ctx) })
	duties.Go(func() error { return dispatch.NewTeller(options).Run(ctx) })
	duties.Go(func() error { return dispatch.NewReleases(options).Run(ctx) })
	duties.Go(func() error { return s.hooks.serve(ctx, s.machine, s.replica) })
	duties.Go(func() error { return s.trust.turnGossipKeys(ctx) })
	if s.outside.Mail != nil {
		post := mail.New(mail.Options{Source: s.machine, Proposer: s.replica, Send: s.outside.Mail, Host: home.Conf("PBS_MAIL_HOST_NAME"), Logger: s.logger})
		duties.Go(func() error { return post.Run(ctx) })
	}
	duties.Go(func() error { return s.trust.replaceCA(ctx) })
	duties.Go(func() error {
		s.tellFound(s.machine.View()) // before what waits is started
		return sched.RunAll(ctx, sched.Options{
			Source: s.machine, Proposer: s.replica, Log: s.schedLogs.of(state.DefaultScheduler), Approve: s.hooks.approve, Turns: s.turns, Rounds: s.rounds, Dynamic: s.outside.Dynamic, Loads: s.loadsOf(term),
			Meter: s.metrics.sched, Logger: s.logger,
			Asker: pbs.User{Name: "Scheduler", Host: pbs.HostName(s.config.Host)},
		}, func(name string) sched.Log { return s.schedLogs.of(name) })
	})
	return duties.Wait()
}

// loadsOf returns what hosts say of their load in a term.
func (s *Server) loadsOf(term uint64) *sched.Loads {
	s.loads.Begin(term)
	return s.toldLoads()
}

// heardLoads returns what hosts say of their load where they are heard, which is the leader; nil elsewhere.
func (s *Server) heardLoads() *sched.Loads {
	if _, self, ok := s.leader(); !ok || !self {
		return nil
	}
	return s.toldLoads()
}

func (s *Server) toldLoads() *sched.Loads {
	of := func(host pbs.HostName) (map[string]resreq.Amount, bool) { return s.loads.Of(host) }
	return &sched.Loads{Of: of, Since: s.loads.Since, Fresh: s.loads.Fresh, Look: s.loads.Look}
}

func (s *Server) setWatcher(w *dispatch.Watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watcher = w
}

func (s *Server) leases() service.Leases {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watcher == nil {
		return nil // and not an interface that holds nil
	}
	return s.watcher
}

// hear passes what gossip says about moms to the watcher, if we lead: it is a hint (L13).
func (s *Server) hear(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-s.gossip.Events():
			if !ok {
				return nil
			}
			s.heard(e)
		}
	}
}

func (s *Server) heard(e gossip.Event) {
	s.logger.Info("gossip", "member", e.Name, "event", e.Kind.String())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watcher != nil && e.Kind == gossip.Gone && e.Meta.Role == string(transport.RoleMom) {
		s.watcher.Suspect(pbs.HostName(e.Name), "gossip does not hear it")
	}
}

// A replica that is not a member yet asks as soon as its Raft runs, which it looks for every
// enterSoon, and again every enterAgain. Raft starts beside it, and runs enterFirst after that as a rule; in a bubble always.
const (
	enterFirst = time.Millisecond
	enterSoon  = 50 * time.Millisecond
	enterAgain = time.Second
)

// enter waits until the cluster is in this replica's state, asking to be made a
// member as long as it is not.
func (s *Server) enter(ctx context.Context) error {
	others, err := s.config.others()
	if err != nil {
		return err
	}
	asker := client.New(client.Options{Replicas: others, Network: s.outside.Network, Identity: s.trust.identity, Budget: 5 * time.Second})
	defer asker.Close()
	if !pause.For(ctx, enterFirst) {
		return nil
	}
	for {
		if s.machine.View().Cluster().ID != "" && s.known() {
			if err := s.config.founded(); err != nil {
				return err
			}
			return s.stay(ctx)
		}
		wait := enterSoon
		if len(others) > 0 && s.replica.Runs() {
			wait = enterAgain
			if err := s.askToEnter(ctx, asker); err != nil && ctx.Err() == nil {
				s.logger.Warn("ask to become a member", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// A replica that hears of no leader for strayed asks every strayed to be taken in again: it
// may have been replaced while it was away. Of one that is a member that changes nothing.
const strayed = 5 * time.Second

// stay asks to be made a member again when nobody leads this replica, until ctx ends.
func (s *Server) stay(ctx context.Context) error {
	return look(ctx, strayed, func() {
		others, err := s.config.others()
		if err != nil || len(others) == 0 || !s.replica.Runs() || s.replica.IsLeader() || s.replica.Age() < strayed {
			return
		}
		asker := client.New(client.Options{Replicas: others, Network: s.outside.Network, Identity: s.trust.identity, Budget: strayed})
		defer asker.Close()
		if err := s.askToEnter(ctx, asker); err != nil && ctx.Err() == nil {
			s.logger.Debug("ask to become a member again", "error", err)
		}
	})
}

// known reports whether the cluster knows this store of ours.
func (s *Server) known() bool {
	self := s.replica.Self()
	r, ok := s.machine.View().Replica(self.Name)
	return ok && r.ServerID == self.ServerID
}

func (s *Server) askToEnter(ctx context.Context, asker *client.Client) error {
	self := s.replica.Self()
	_, err := asker.Cluster().AddReplica(ctx, connect.NewRequest(&api.AddReplicaRequest{Replica: &api.Replica{
		Name: string(self.Name), ServerId: self.ServerID, Address: self.Address, GossipAddress: self.GossipAddress,
	}}))
	return err
}

// bootID tells this start of the process from any other.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/uuid")
	if err != nil {
		return time.Now().Format(time.RFC3339Nano)
	}
	return strings.TrimSpace(string(id))
}
