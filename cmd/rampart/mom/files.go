package mom

import (
	"context"
	"os"

	"connectrpc.com/connect"

	"rampart/cmd/rampart/home"
	"rampart/fsm/pbs"
	"rampart/mom/mover"
	"rampart/mom/spool"
	"rampart/transport"
	"rampart/transport/meter"
)

// openMover makes what carries files of this host's jobs.
func (d *daemon) openMover() {
	d.mover = mover.New(mover.Config{
		Identity: d.identity, Network: d.outside.Network, Servers: d.asker.Staging(), SCP: home.SCP, Logger: d.options.Logger,
	})
}

// around returns what every call of the port goes through; it is made once.
func (d *daemon) around() connect.HandlerOption {
	return connect.WithInterceptors(meter.Calls(d.metrics), transport.ServerErrors(transport.Failures{}, d.options.Logger))
}

// serveFiles lets jobs of other hosts read and write files here, as their owners.
func (d *daemon) serveFiles(around connect.HandlerOption) {
	s := &mover.Service{
		Accounts: d.outside.Accounts, Servers: d.asker.Staging(), SwitchUser: d.outside.SwitchUser,
		SelfUID: uint32(os.Geteuid()), Jobs: !d.config.SubmitOnly, Logger: d.options.Logger,
	}
	if !d.config.SubmitOnly {
		s.Output = func(job pbs.JobID, stream string) string { return spool.Output(string(d.config.Home), job, stream) }
	}
	d.handler.Mount(s.Handler(around))
}

// openLoginPort gives a login host a port at which files of jobs come back. Without it, since
// the port is taken, jobs are submitted here all the same.
func (d *daemon) openLoginPort(ctx context.Context) {
	d.handler = transport.NewHandler(transport.HandlerConfig{Identity: d.identity, Network: d.outside.Network, Logger: d.options.Logger})
	d.serveFiles(d.around())
	var err error
	d.port, err = transport.NewServer(ctx, transport.ServerConfig{
		Network: d.outside.Network, Address: d.config.Listen, Identity: d.identity, Handler: d.handler, Logger: d.options.Logger,
	})
	if err != nil {
		d.port = nil
		d.options.Logger.Warn("output of jobs cannot be delivered to this host", "listen", d.config.Listen, "err", err)
	}
}

// filesAddress returns where a login host moves files, "" if it does not, or is known already.
func (d *daemon) filesAddress() string {
	if !d.config.SubmitOnly || d.port == nil {
		return ""
	}
	return d.config.Address()
}
