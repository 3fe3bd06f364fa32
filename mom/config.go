package mom

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"rampart/fsm/pbs"
	"rampart/mom/cgroup"
	"rampart/mom/hook"
	"rampart/mom/load"
	"rampart/mom/proc"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/daylog"
	"rampart/transport/own"
)

// DefaultPort is the mom's TLS port.
const DefaultPort = 15002

// A Config is all that a mom needs from outside.
type Config struct {
	Host          pbs.HostName  // its name, and that of its natural vnode if NodeName is empty
	NodeName      pbs.VnodeName // of the natural vnode; empty: the host's
	Home          string        // PBS_HOME
	Address       string        // HOST:PORT at which it serves Agent
	GossipAddress string
	Adopt         bool          // let the jobs of an earlier mom run on (-p), else end and requeue them
	HighRes       bool          // microseconds in the log
	LogHead       []string      // what the mom says of itself in each file of its log
	Syslog        daylog.Syslog // where lines of the log go besides
	LogFile       string        // of all days (-L); empty: files of days below mom_logs
	Settings      string        // path of the file that is read in place of mom_priv/config (-c); empty: none
	Checkpoints   string        // folder of the checkpoints of jobs (-C); empty: that of $checkpoint_path, or checkpoint in Home

	Reporter apiconnect.ReportClient // finds the replicas and repeats by itself
	Sisters  Sisters                 // reaches the moms of other hosts; nil: none
	System   proc.System
	Accounts transport.Accounts
	Mover    task.Mover      // carries files of jobs between hosts; nil: they stay on this one
	Probe    func() Hardware // what the natural vnode offers if nothing else says so
	Load     load.Source     // of the host; nil: the servers hear of none
	// Elim returns the source that is a program of the site; nil: none is run.
	Elim func(command string, log func(problem string)) load.Source

	Cgroups *cgroup.Options // of the host, but for its name and folder; nil: jobs get no cgroups, nor GPUs

	SwitchUser bool   // jobs run as their owners: the mom is root
	SelfUID    uint32 // else they run under this account

	// Socket is where programs of jobs find this mom; empty: they do not.
	Socket string

	TmpDir      string // parent of TMPDIR; $tmpdir says another; "" is /var/tmp
	Environment string // path of the file of variables for all jobs; "" is pbs_environment in Home
	PID         int    // for mom.lock
	Logger      *slog.Logger

	// Objects lists objects of the cluster, for hooks; nil: they see none.
	Objects  func(context.Context, *connect.Request[api.ListRequest]) (*connect.ServerStreamForClient[api.ListReply], error)
	ConfFile string // the configuration file of the host, for hooks

	Registry prometheus.Registerer // takes the metrics; nil: nobody reads them

	NoSync    bool                               // for tests: see spool.Options
	Elsewhere *hook.Elsewhere                    // for bubbles: see hook.Options
	Fault     func(step, path string) error      // for tests: see spool.Options
	Random    func([]byte) error                 // of cookies and the spool's id; nil: the system's
	Vnodes    func() ([]*api.VnodeReport, error) // instead of definition files; nil: those of the home
	Local     *time.Location                     // of the log; nil: local time

	keeper *cgroup.Manager // nil: Cgroups is
}

// Hardware is what a probe found.
type Hardware struct {
	CPUs     int
	MemoryKB int64
	Arch     string
}

// Validate reports all faults of the configuration.
func (c *Config) Validate() error {
	var errs []error
	need := func(ok bool, what string) {
		if !ok {
			errs = append(errs, fmt.Errorf("mom configuration: %s is missing", what))
		}
	}
	need(c.Host != "", "the name of the host (-name)")
	need(c.Home != "", "the home (PBS_HOME)")
	need(c.Address != "", "the address (-address)")
	need(c.Reporter != nil, "the reporter")
	need(c.System != nil, "the process system")
	need(c.Accounts != nil, "the accounts")
	need(c.Logger != nil, "the logger")
	if c.NodeName != "" && !c.NodeName.Valid() {
		errs = append(errs, fmt.Errorf("mom configuration: no vnode can be called %q (PBS_MOM_NODE_NAME)", c.NodeName))
	}
	return errors.Join(errs...)
}

func (c *Config) random(b []byte) error {
	if c.Random != nil {
		return c.Random(b)
	}
	_, err := rand.Read(b)
	return err
}

// Read implements io.Reader over the host's random source, from which the spool draws its id.
func (c *Config) Read(b []byte) (int, error) { return len(b), c.random(b) }

// cookie returns a fresh PBS_JOBCOOKIE.
func (c *Config) cookie() (string, error) {
	var b [16]byte
	if err := c.random(b[:]); err != nil {
		return "", fmt.Errorf("make job cookie: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// natural returns the name of the natural vnode.
func (c *Config) natural() string { return cmp.Or(string(c.NodeName), string(c.Host)) }

// environment returns the path of the file of variables for all jobs.
func (c *Config) environment() string { return cmp.Or(c.Environment, c.path("pbs_environment")) }

// judgeEnvironment refuses a file that others could change: of one outside of the home, also the folders on the way to it.
func (c *Config) judgeEnvironment() error {
	path := c.environment()
	if c.Environment == "" {
		return own.Closed(path)
	}
	if err := own.Program(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (c *Config) path(parts ...string) string {
	return filepath.Join(append([]string{c.Home}, parts...)...)
}
