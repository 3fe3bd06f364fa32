package mom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"rampart/cluster/gossip"
	"rampart/cmd/rampart/home"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	agent "rampart/mom"
	"rampart/mom/mover"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/build"
	"rampart/transport/client"
	"rampart/transport/directory"
	"rampart/transport/meter"
)

// Options is what a run of the mom needs besides its configuration.
type Options struct {
	Shim     string           // the program that is the shim
	KillJobs bool             // end and requeue the jobs of an earlier mom, instead of adopting them
	Signals  <-chan os.Signal // SIGTERM ends the jobs, SIGINT leaves them, SIGHUP reads the files again
	Outside  *Outside         // nil: the operating system
	LogFile  string           // of all days; empty: files of days below mom_logs
	Settings string           // path of the file that is read in place of mom_priv/config; empty: none
	// Checkpoints is the folder of the checkpoints of jobs; empty: that of $checkpoint_path, or checkpoint in the home.
	Checkpoints string
	// Up is told, when the parts run, how to ask why the mom takes no jobs yet; "": it does.
	// Of a login host, which takes none, it is told as well. nil: nobody wants to know.
	Up     func(unready func() string)
	Logger *slog.Logger
}

// A daemon is the parts of a running mom.
type daemon struct {
	config   Config
	options  Options
	outside  Outside
	files    transport.Files
	identity *transport.Identity
	tasks    net.Listener // of the programs of jobs; nil: there is none
	asker    *client.Client
	sisters  *client.Moms // of other hosts
	forward  *transport.Forwarder
	gateway  *transport.Gateway

	directory *directory.Directory // nil: the outside has brought another
	accounts  *accounts            // of directory
	metrics   *prometheus.Registry
	mom       *agent.Mom   // nil on a login host
	mover     *mover.Mover // nil on a login host
	handler   *transport.Handler
	port      *transport.Server // nil on a login host that has none
	gossip    *gossip.Gossip    // nil on a login host

	seeds   atomic.Pointer[[]string] // gossip addresses of the replicas
	shunned atomic.Pointer[[]string] // keys of replicas that were revoked
	signer  atomic.Pointer[string]   // hash of the CA that signs for this daemon; nil: not known
}

// Run runs the mom of the home until a signal or ctx ends it.
func Run(ctx context.Context, c Config, o Options) error {
	if err := home.DropToken(); err != nil {
		return fmt.Errorf("mom: %w", err)
	}
	outside, err := system(c, o)
	if err != nil {
		return fmt.Errorf("mom: %w", err)
	}
	if c.SubmitOnly && o.Outside == nil { // where vnodes are, the mom itself locks its home
		lock, err := home.Lock(c.Home.MomLock())
		if err != nil {
			return fmt.Errorf("mom: %w", err)
		}
		defer lock.Close()
	}
	d := newDaemon(c, o, outside)
	if err := d.open(ctx); err != nil {
		return fmt.Errorf("mom: %w", err)
	}
	defer d.close()
	return d.run(ctx)
}

func newDaemon(c Config, o Options, outside Outside) *daemon {
	return &daemon{config: c, options: o, outside: outside, metrics: meter.New(string(transport.RoleMom), pbs.Version, build.Version())}
}

func (d *daemon) open(ctx context.Context) (err error) {
	d.files = transport.Files{Dir: d.config.Home.MomTLS()}
	if d.identity, err = d.files.Identity(); err != nil {
		return err
	}
	d.identity.Check = d.check
	replicas := transport.NewReplicas(d.config.Replicas...)
	d.asker = client.New(client.Options{Shared: replicas, Network: d.outside.Network, Identity: d.identity})
	d.openAccounts()
	d.sisters = client.NewMoms(d.outside.Network, d.identity)
	d.forward = transport.NewForwarder(transport.ForwarderConfig{
		Identity: d.identity, Network: d.outside.Network, Replicas: replicas, Logger: d.options.Logger,
	})
	if err := d.openGateway(ctx); err != nil {
		return err
	}
	if d.config.SubmitOnly {
		d.openLoginPort(ctx)
		return nil
	}
	d.openMover()
	if err := errors.Join(d.openMom(), d.openGossip(), d.openTasks(ctx)); err != nil {
		return err
	}
	return d.openPort(ctx)
}

func (d *daemon) openGateway(ctx context.Context) error {
	if d.outside.Gateway == nil {
		return nil
	}
	listener, err := d.outside.Gateway(ctx)
	if err != nil {
		return err
	}
	d.gateway = transport.NewGateway(transport.GatewayConfig{
		Listener: listener, Identity: d.identity, Accounts: d.outside.Accounts, Next: d.forward, Logger: d.options.Logger,
	})
	return nil
}

func (d *daemon) openTasks(ctx context.Context) (err error) {
	if d.outside.Tasks != nil {
		d.tasks, err = d.outside.Tasks(ctx)
	}
	return err
}

func (d *daemon) openMom() (err error) {
	d.mom, err = agent.New(agent.Config{
		Host: pbs.HostName(d.config.Host), Home: string(d.config.Home),
		Address: d.config.Address(), GossipAddress: d.config.Gossip,
		Adopt: !d.options.KillJobs, HighRes: home.HighRes(), LogHead: d.outside.LogHead, Syslog: d.outside.Syslog, LogFile: d.options.LogFile, Settings: d.options.Settings, Checkpoints: d.options.Checkpoints,
		NodeName: pbs.VnodeName(d.outside.NodeName), Environment: d.outside.Environment, TmpDir: d.outside.TmpDir,
		Reporter: d.asker.Report(), Objects: d.asker.Batch().List, ConfFile: confFile(), Sisters: d.sisters, Socket: d.outside.Socket, System: d.outside.System, Accounts: d.outside.Accounts, Probe: d.outside.Probe, Load: d.outside.Load, Elim: d.outside.Elim, Mover: d.mover, Cgroups: d.outside.Cgroups,
		Registry: d.metrics, NoSync: d.outside.NoSync, Fault: d.outside.Fault,
		SwitchUser: d.outside.SwitchUser, SelfUID: uint32(os.Geteuid()), PID: cmp.Or(d.outside.PID, os.Getpid()), Elsewhere: d.outside.Elsewhere, Logger: d.options.Logger,
	})
	return err
}

func (d *daemon) openPort(ctx context.Context) (err error) {
	d.handler = transport.NewHandler(transport.HandlerConfig{Identity: d.identity, Network: d.outside.Network, Logger: d.options.Logger})
	around := d.around()
	d.handler.Mount(d.mom.Handler(around))
	d.handler.Mount(d.mom.SisterHandler(around))
	d.serveFiles(around)
	d.handler.Plain("/healthz", transport.ForAnybody, d.mom.Healthz())
	d.handler.Plain("/readyz", transport.ForAnybody, d.mom.Readyz())
	d.handler.Plain("/metrics", d.readers(), meter.Handler(d.metrics))
	d.port, err = transport.NewServer(ctx, transport.ServerConfig{
		Network: d.outside.Network, Address: d.config.Listen, Identity: d.identity, Handler: d.handler, Logger: d.options.Logger,
	})
	return err
}

// readers returns who may read the metrics.
func (d *daemon) readers() transport.Audience {
	if d.config.OpenMetrics {
		return transport.ForAnybody
	}
	return transport.ForKnown
}

func (d *daemon) openGossip() error {
	keys, err := home.ReadKeys(d.config.gossipKeyPath())
	if err != nil {
		return err
	}
	seeds := d.config.Seeds
	d.seeds.Store(&seeds)
	carrier, err := gossip.NewTransport(d.outside.Network, "", d.config.Gossip)
	if err != nil {
		return err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/uuid") // of this process: a restart is news, too
	if err != nil {
		return err
	}
	d.gossip, err = gossip.Open(gossip.Config{
		Name: d.config.Host, Transport: carrier, Key: keys[0], OldKeys: keys[1:], Logger: d.options.Logger,
		Seeds: func() []string { return *d.seeds.Load() },
		Meta: gossip.Meta{
			Role: string(transport.RoleMom), BootID: string(boot[:len(boot)-1]), Address: d.config.Address(), Version: pbs.Version, Level: command.FeatureLevel, Build: build.Version(),
		},
	})
	if err != nil {
		return err
	}
	return d.gossip.Register(d.metrics)
}

// run starts the parts. The mom ends first: its jobs may have to be ended, and the
// servers be told, while the port still answers.
func (d *daemon) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	others, ctx := errgroup.WithContext(ctx)
	if d.options.Up != nil {
		d.options.Up(d.unready)
	}
	if d.gateway != nil {
		others.Go(func() error { return d.gateway.Run(ctx) })
	}
	others.Go(func() error { return d.renewer().Run(ctx) })
	others.Go(func() error { return d.keepUp(ctx) })
	if d.mom == nil {
		if d.port != nil {
			others.Go(func() error { return d.port.Run(ctx) })
		}
		others.Go(func() error { return d.obey(ctx, stop) })
		return others.Wait()
	}
	if d.tasks != nil {
		others.Go(func() error { return d.mom.ServeTasks(ctx, d.tasks) })
	}
	others.Go(func() error { return d.port.Run(ctx) })
	others.Go(func() error { return d.gossip.Run(ctx) })
	others.Go(func() error {
		for e := range d.gossip.Events() { // those about moms are for the leader
			if e.Kind != gossip.Gone && e.Meta.Role == string(transport.RoleReplica) {
				d.asker.Replicas().Rumour(e.Meta.Address)
			}
		}
		return nil
	})
	others.Go(func() error {
		defer stop()
		return d.mom.Run(ctx)
	})
	others.Go(func() error { return d.obey(ctx, stop) })
	d.options.Logger.Info("mom runs", "address", d.config.Address(), "home", d.config.Home)
	return others.Wait()
}

// unready is Options.Up's.
func (d *daemon) unready() string {
	if d.mom == nil {
		return ""
	}
	return d.mom.Unready()
}

// obey does what signals say (specification: cli-contract section 9).
func (d *daemon) obey(ctx context.Context, stop func()) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case sig := <-d.options.Signals:
			d.options.Logger.Info("signal", "signal", sig.String())
			switch {
			case d.mom == nil && sig != syscall.SIGHUP:
				stop()
			case d.mom == nil:
			case sig == syscall.SIGHUP:
				if err := d.mom.Reload(); err != nil {
					d.options.Logger.Error("the files are not taken over", "error", err)
				}
			default:
				d.mom.Stop(sig == syscall.SIGTERM)
			}
		}
	}
}

func (d *daemon) close() {
	if d.directory != nil {
		d.accounts.close()
		d.directory.Close()
	}
	d.asker.Close()
	d.forward.Close()
	d.sisters.Close()
	if d.handler != nil {
		d.handler.Close()
	}
	if d.mover != nil {
		d.mover.Close()
	}
}

// renewer asks the replicas for a fresh leaf.
func (d *daemon) renewer() *transport.Renewer {
	return &transport.Renewer{
		Identity: d.identity, Save: d.files.SaveLeaf, Stale: d.stale, Logger: d.options.Logger,
		Sign: func(ctx context.Context, csr []byte) ([]byte, error) {
			reply, err := d.asker.Cluster().Renew(ctx, connect.NewRequest(&api.RenewRequest{Csr: csr, Trusts: d.identity.Trusts()}))
			if err != nil {
				return nil, err
			}
			return reply.Msg.GetCertificate(), nil
		},
	}
}
