package mom

import (
	"context"
	"net"
	"os"

	"rampart/cmd/rampart/home"
	agent "rampart/mom"
	"rampart/mom/cgroup"
	"rampart/mom/hook"
	"rampart/mom/load"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/daylog"
)

// Outside is what a mom needs beyond the files of its home. Run takes it from the
// operating system unless the options bring another; a bubble passes its own.
type Outside struct {
	Network  transport.Network
	Accounts transport.Accounts // nil: the directory of this host
	System   proc.System
	Probe    func() agent.Hardware
	Load     load.Source // nil: nobody measures it
	// Elim returns the source that is a program of the site; nil: none is run.
	Elim    func(command string, log func(problem string)) load.Source
	Cgroups *cgroup.Options // nil: jobs get none
	// Gateway opens the socket for people on this host; nil: there is none.
	Gateway func(ctx context.Context) (net.Listener, error)
	// Socket is where programs of jobs find the mom, and Tasks opens it; nil: they do not.
	Socket string
	Tasks  func(ctx context.Context) (net.Listener, error)
	// LogHead is what the log says of the host and its version whenever it is opened; empty: nothing.
	LogHead []string
	// Syslog says which lines of the log go to the log of the operating system.
	Syslog daylog.Syslog
	// NodeName is the name of the natural vnode; empty: the host's.
	NodeName string
	// Environment is the path of the file of variables for all jobs, and TmpDir the parent of their TMPDIR; empty: as mom.Config has them.
	Environment, TmpDir string
	// NoSync spares the disk, for tests.
	NoSync bool
	// Fault may fail any step of a change of what the mom keeps, for tests: see spool.Options.
	Fault func(step, path string) error
	// SwitchUser runs jobs as their owners.
	SwitchUser bool
	PID        int // of the mom; 0: this process's
	// Elsewhere is hook.Options'; nil: there is none.
	Elsewhere *hook.Elsewhere
}

// system returns what the options bring, or the operating system of this host.
func system(c Config, o Options) (Outside, error) {
	if o.Outside != nil {
		return *o.Outside, nil
	}
	out := Outside{
		Network: transport.System{}, Probe: agent.Probe, SwitchUser: os.Geteuid() == 0,
		Cgroups: &cgroup.Options{}, LogHead: home.LogHead(), Syslog: home.Syslog(), NodeName: home.Conf("PBS_MOM_NODE_NAME"),
		Environment: home.Path("PBS_ENVIRONMENT"), TmpDir: home.Path("PBS_TMPDIR"),
		Gateway: func(ctx context.Context) (net.Listener, error) {
			return transport.ListenUnix(ctx, c.Home.MomGateway(c.Host))
		},
	}
	if c.SubmitOnly {
		return out, nil
	}
	out.Socket = c.Home.MomTasks(c.Host)
	out.Tasks = func(ctx context.Context) (net.Listener, error) { return transport.ListenUnix(ctx, out.Socket) }
	var err error
	if out.System, err = proc.NewLinux(o.Shim); err != nil {
		return out, err
	}
	kernel, err := load.NewKernel(o.Logger)
	if err != nil {
		return out, err
	}
	out.Load = kernel
	out.Elim = func(command string, log func(string)) load.Source { return &load.Elim{Command: command, Log: log} }
	return out, nil
}
