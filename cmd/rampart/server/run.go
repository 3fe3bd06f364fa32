package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rampart/cluster"
	"rampart/cluster/blob"
	"rampart/cluster/dispatch"
	"rampart/cluster/gossip"
	"rampart/cluster/ledger"
	"rampart/cluster/load"
	"rampart/cluster/sched"
	"rampart/cluster/service"
	"rampart/cmd/rampart/home"
	"rampart/fsm"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api/apiconnect"
	"rampart/transport/build"
	"rampart/transport/client"
	"rampart/transport/daylog"
	"rampart/transport/directory"
	"rampart/transport/meter"
)

// A Server is the parts of a running replica.
type Server struct {
	config  Config
	outside Outside
	logger  *slog.Logger
	trust   *trust

	peers     *peers
	moms      *client.Moms
	serverLog *daylog.Log
	schedLogs *schedLogs
	ledger    *ledger.Ledger
	machine   *machine
	directory *directory.Directory // nil: the outside has brought another
	metrics   metrics
	turns     *sched.Turns
	loads     *load.Table
	rounds    *sched.Rounds
	replica   *cluster.Replica
	blobs     *blob.Keeper
	gossip    *gossip.Gossip
	handler   *transport.Handler
	port      *transport.Server
	gateway   *transport.Gateway

	backup *backupMaker
	hooks  *hooks
	ending chan time.Duration // somebody wished the end, in so long
	found  sync.Once          // what was there at the start was logged

	mu      sync.Mutex
	watcher *dispatch.Watcher // of the present term; nil while we do not lead
}

// Run runs the replica of the home until ctx ends: then it hands leadership over and
// stops. An error that wraps store.ErrFailed means that the disk failed. After a recovery of
// the cluster it begins again, on what that has left on the disk.
func Run(ctx context.Context, c Config, p Process, logger *slog.Logger) error {
	if err := home.DropToken(); err != nil {
		return err
	}
	room, end := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { keepRoom(room) })
	defer keeping.Wait()
	defer end()
	return Keep(ctx, logger, func() *Server {
		outside := system(c, logger)
		outside.Process = p
		return New(c, outside, logger)
	})
}

// Keep runs what next returns, and again as long as that asks for it.
func Keep(ctx context.Context, logger *slog.Logger, next func() *Server) error {
	for {
		err := next().Run(ctx)
		if !errors.Is(err, cluster.ErrAgain) || ctx.Err() != nil {
			return err
		}
		logger.Warn("starting again", "why", err)
	}
}

// New returns the replica of the home; it starts and opens nothing.
func New(c Config, o Outside, logger *slog.Logger) *Server {
	s := &Server{config: c, outside: o, logger: logger, metrics: newMetrics(), turns: sched.NewTurns(), loads: load.NewTable(), rounds: sched.NewRounds(), ending: make(chan time.Duration, 1)}
	s.openLogs()
	s.ledger = ledger.New(ledger.Options{
		Dir: c.Home.Accounting(), Log: s.serverLog, Peers: s.ledgerPeers, Logger: logger,
		View: func() *state.View { return s.machine.View() }, Registry: s.metrics.registry,
		Disk: o.ledgerDisk(), KeepDays: c.LogKeepDays, Home: string(c.Home), Self: "Server@" + c.Host,
	})
	s.machine = newMachine(s.ledger, s.metrics.registry, o)
	s.metrics.registry.MustRegister(census{s.machine.View})
	s.openAccounts()
	s.backup = newBackupMaker(s)
	s.hooks = newHooks(c, o, s.serverLog, logger)
	return s
}

// Machine returns the state machine of the replica.
func (s *Server) Machine() *fsm.FSM { return s.machine.FSM }

// Run runs the replica as the function of that name does.
func (s *Server) Run(ctx context.Context) error {
	base, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	if err := s.open(base); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	defer s.close()
	return s.run(ctx, base, release)
}

// open puts the parts together; nothing runs yet but the port's listener.
func (s *Server) open(ctx context.Context) (err error) {
	s.trust = &trust{config: s.config, logger: s.logger, machine: s.machine}
	if err := s.trust.open(); err != nil {
		return err
	}
	s.peers, s.moms = newPeers(s.outside.Network, s.trust.identity, s.outside.Turn), client.NewMoms(s.outside.Network, s.trust.identity)
	s.moms.Turn = s.outside.Turn
	s.handler = transport.NewHandler(transport.HandlerConfig{
		Identity: s.trust.identity, Leader: s.leader, Silent: s.silent, Network: s.outside.Network, Login: s.trust.ca.read, Logged: s.logged, Logger: s.logger,
	})
	s.port, err = transport.NewServer(ctx, transport.ServerConfig{
		Network: s.outside.Network, Address: s.config.Listen, Identity: s.trust.identity, Handler: s.handler, Raft: true, Logger: s.logger,
	})
	if err != nil {
		return err
	}
	if err := errors.Join(s.openBlobs(), s.openReplica()); err != nil {
		return errors.Join(err, s.port.Close())
	}
	s.trust.identity.Member = s.isMember
	s.trust.identity.Check = s.trust.check
	s.trust.peers, s.trust.replica = s.peers, s.replica
	s.mount()
	if err := errors.Join(s.openGateway(ctx), s.openGossip()); err != nil {
		return errors.Join(err, s.replica.Close(), s.port.Close())
	}
	return nil
}

func (s *Server) openLogs() {
	host := s.config.Host
	options := daylog.Options{HighRes: home.HighRes(), Mask: daylog.ServerMask, KeepDays: s.config.LogKeepDays, Head: s.outside.LogHead, Syslog: s.outside.Syslog}
	scheds := options
	options.File, scheds.Mask = s.outside.Process.LogFile, daylog.SchedMask
	s.serverLog = daylog.New(s.config.Home.ServerLogs(), "Server@"+host, options)
	s.schedLogs = &schedLogs{home: string(s.config.Home), options: scheds, server: func() *state.Server { return s.machine.View().Server() }}
}

func (s *Server) openReplica() error {
	founding, err := s.config.founding()
	if err != nil {
		return err
	}
	beginning, err := s.config.beginning()
	if err != nil {
		return err
	}
	s.replica, err = cluster.Open(cluster.Config{
		Self: state.Replica{
			Name: pbs.ReplicaName(s.config.Host), Address: s.config.Address(), GossipAddress: s.config.Gossip,
			Host: pbs.HostName(s.config.Host), Version: pbs.Version, Zone: s.config.Zone, FeatureLevel: s.outside.Level, Build: build.Version(),
		},
		Clock:         s.outside.Clock,
		Machine:       s.machine,
		Stores:        s.outside.Stores,
		Listener:      s.port.Raft(),
		Dial:          s.trust.identity.RaftDialer(s.outside.Network),
		Peers:         s.peers,
		Init:          founding,
		Beginning:     beginning,
		Class:         s.config.RTTClass,
		Hot:           s.config.Hot,
		Rename:        s.config.Rename,
		Work:          s.lead,
		Ledger:        s.ledger,
		Alarms:        s.alarms,
		Scripts:       s.lookedForScripts,
		Registry:      s.metrics.registry,
		SnapshotAfter: s.outside.SnapshotAfter, TrailingLogs: s.outside.TrailingLogs,
		Turn:   s.outside.Turn,
		Logger: s.logger,
	})
	return err
}

// leader is known to the handler before there is a replica.
func (s *Server) leader() (address string, self, ok bool) {
	if s.replica == nil {
		return "", false, false
	}
	return s.replica.Leader()
}

func (s *Server) silent() bool { return s.replica != nil && s.replica.Silent() }

// isMember reports whether the key belongs to a replica on record, so that a site which
// was dark for long can elect (design section 8).
func (s *Server) isMember(key string) bool {
	id, ok := s.machine.View().Identity(key)
	return ok && id.Role == string(transport.RoleReplica) && id.Revoked == 0
}

func (s *Server) mount() {
	services := service.New(service.Config{
		Replica: s.replica, Accounts: s.outside.Accounts, CA: s.trust.ca, Keys: s.trust.ca, Logins: s.trust.ca,
		Ledger: s.ledger, Leases: s.leases, Loads: s.loads, GossipBehind: s.trust.gossipBehind, Moms: s.momBuilds, Agent: s.moms.AgentOf, Log: s.serverLog, Hooks: s.hooks, Home: string(s.config.Home), OutputHost: s.outside.OutputHost, Resolve: s.outside.Resolve, Logger: s.logger,
		Backups: s.backups, Blobs: s.blobs, Clock: s.outside.Clock,
		Scheduler: service.Scheduler{
			Place: s.place, Explain: s.explain, Shares: sched.ShareTree,
			SchedLog: func(name string) service.Log { return s.schedLogs.of(name) },
			Turn:     func(ctx context.Context, name string) func() { return s.turns.Of(name).Take(ctx) },
			AwaitCycle: func(ctx context.Context, name string, index uint64) {
				s.rounds.Of(name).Await(ctx, index)
			},
			InCycle: s.metrics.sched.InCycle,
		},
		EndReplica: s.endReplica, EndSelf: s.endSelf, EndScheds: s.endScheds, EndMom: s.endMom,
	})
	failures := transport.Failures{NotLeader: cluster.ErrNotLeader, Unknown: cluster.ErrOutcomeUnknown}
	options := serviceOptions(meter.Calls(s.metrics.registry), failures, service.Named(s.replica, s.outside.Resolve), s.logger)
	s.handler.Mount(apiconnect.NewBatchHandler(services.Batch, options...))
	s.handler.Mount(apiconnect.NewBlobsHandler(services.Blobs, options...))
	s.handler.Mount(apiconnect.NewClusterHandler(services.Cluster, options...))
	s.handler.Mount(apiconnect.NewHaltHandler(services.Halt, options...))
	s.handler.Mount(apiconnect.NewMembersHandler(services.Members, options...))
	s.handler.Mount(apiconnect.NewRecoveryHandler(services.Recovery, options...))
	s.handler.Mount(apiconnect.NewReportHandler(service.CountReports(s.metrics.registry, services.Report), options...))
	s.handler.Mount(apiconnect.NewSnapshotsHandler(services.Snapshots, options...))
	s.handler.Mount(apiconnect.NewStagingHandler(services.Staging, options...))
	s.handler.Mount(s.carrier(services.Staging).Handler(options...))
	s.handler.Mount(apiconnect.NewTrustHandler(services.Trust, options...))
	s.handler.Plain("/healthz", transport.ForAnybody, services.Healthz())
	s.handler.Plain("/readyz", transport.ForAnybody, services.Readyz())
	s.handler.Plain("/metrics", readers(s.config.OpenMetrics), meter.Handler(s.metrics.registry))
}

func (s *Server) openGateway(ctx context.Context) error {
	if s.outside.Gateway == nil {
		return nil
	}
	listener, err := s.outside.Gateway(ctx)
	if err != nil {
		return err
	}
	s.gateway = transport.NewGateway(transport.GatewayConfig{
		Listener: listener, Identity: s.trust.identity, Accounts: s.outside.Accounts, Next: s.handler, Logger: s.logger,
	})
	return nil
}

func (s *Server) openGossip() error {
	keys, err := home.ReadKeys(s.config.gossipKeyPath())
	if err != nil {
		return err
	}
	carrier, err := gossip.NewTransport(s.outside.Network, "", s.config.Gossip)
	if err != nil {
		return err
	}
	s.gossip, err = gossip.Open(gossip.Config{
		Name: s.config.Host, Transport: carrier, Key: keys[0], OldKeys: keys[1:], Seeds: s.seeds, Logger: s.logger,
		Factor: s.replica.Class().Factor(),
		Meta: gossip.Meta{
			Role: string(transport.RoleReplica), BootID: bootID(), Address: s.config.Address(), Version: pbs.Version, Level: cmp.Or(s.outside.Level, command.FeatureLevel), Build: build.Version(),
		},
	})
	if err != nil {
		return err
	}
	s.trust.gossip = s.gossip
	return s.gossip.Register(s.metrics.registry)
}

// seeds returns the gossip addresses of replicas and moms that the state knows.
func (s *Server) seeds() []string {
	v := s.machine.View()
	var all []string
	for r := range v.Replicas() {
		if r.GossipAddress != "" && r.GossipAddress != s.config.Gossip {
			all = append(all, r.GossipAddress)
		}
	}
	for h := range v.Hosts() {
		if h.GossipAddress != "" {
			all = append(all, h.GossipAddress)
		}
	}
	return all
}

// run starts the parts and stops them in the reverse order of need: the replica first,
// while it can still talk; then the doors; the ledger last, when nothing more is applied.
func (s *Server) run(ctx, base context.Context, release context.CancelFunc) error {
	doors, closeDoors := context.WithCancel(base)
	defer closeDoors()
	var serving errgroup.Group
	serving.Go(func() error { return s.port.Run(doors) })
	if s.gateway != nil {
		serving.Go(func() error { return s.gateway.Run(doors) })
	}
	var following errgroup.Group
	following.Go(func() error { return s.ledger.Run(base) })

	ctx, end := context.WithCancel(ctx)
	defer end()
	agreeing, ctx := errgroup.WithContext(ctx)
	agreeing.Go(func() error { return s.awaitEnd(ctx, end) })
	agreeing.Go(func() error { return s.replica.Run(ctx) })
	agreeing.Go(func() error { return s.gossip.Run(ctx) })
	agreeing.Go(func() error { return s.hooks.keep(ctx, s.machine) })
	agreeing.Go(func() error { return s.hear(ctx) })
	agreeing.Go(func() error { return s.watchScheds(ctx) })
	agreeing.Go(func() error { return s.reopen(ctx) })
	agreeing.Go(func() error { return s.renewer().Run(ctx) })
	agreeing.Go(func() error { return s.enter(ctx) })
	agreeing.Go(func() error { return s.keepMembers(ctx) })
	agreeing.Go(func() error { return s.trust.followTrust(ctx) })
	agreeing.Go(func() error { return s.trust.keepPresented(ctx) })
	agreeing.Go(func() error { return s.trust.fetchKeys(ctx) })
	agreeing.Go(func() error { return s.keepBackups(ctx) })
	agreeing.Go(func() error { return s.blobs.Run(ctx) })
	agreeing.Go(func() error { return s.tellRecovered(ctx) })
	s.logger.Info("replica runs", "address", s.config.Address(), "home", s.config.Home)
	err := agreeing.Wait()
	closeDoors()
	err = errors.Join(err, serving.Wait())
	release()
	return errors.Join(err, following.Wait())
}

func (s *Server) close() {
	if s.directory != nil {
		s.directory.Close()
	}
	s.handler.Close()
	s.peers.close()
	s.moms.Close()
	s.tell(pbs.LogSystem, "Server shutdown completed")
	if err := errors.Join(s.hooks.runtime.Close(), s.serverLog.Close(), s.schedLogs.Close()); err != nil {
		s.logger.Error("close the logs", "error", err)
	}
}

// renewer signs its own leaf: a replica has the CA's key.
func (s *Server) renewer() *transport.Renewer {
	return &transport.Renewer{
		Identity: s.trust.identity, Save: s.trust.files.SaveLeaf, Logger: s.logger,
		Stale: s.trust.stale,
		Sign: func(_ context.Context, csr []byte) ([]byte, error) {
			return s.trust.ca.Sign(csr, transport.RoleReplica, pbs.HostName(s.config.Host), time.Now())
		},
	}
}

// ledgerPeers returns the other replicas, as the state knows them.
func (s *Server) ledgerPeers() []ledger.Peer {
	var all []ledger.Peer
	for r := range s.machine.View().Replicas() {
		if string(r.Name) != s.config.Host {
			all = append(all, ledger.Remote{Replica: string(r.Name), Client: s.peers.at(r.Address)})
		}
	}
	return all
}
