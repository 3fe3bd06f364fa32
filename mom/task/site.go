package task

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// An Account is what the host knows of a job's owner.
type Account struct {
	Name   string
	UID    uint32
	GID    uint32
	Groups []uint32
	Home   string
	Shell  string
}

// Accounts finds the account that a job runs under, with the group it asked for.
// ErrNoAccount in the chain says that there is none.
type Accounts interface {
	Account(ctx context.Context, user, group string) (Account, error)
}

// Scripts fetches the script of a run from the servers. A *pbs.Error in the chain says
// that they refuse, anything else that they did not answer.
type Scripts interface {
	// Script writes the script as it comes.
	Script(ctx context.Context, k spool.TaskKey, to io.Writer) error
	// Counts returns whose a run is while it counts, to its sisters, too.
	Counts(ctx context.Context, k spool.TaskKey) (RunOwner, error)
}

// Lines is the mom's log, by kinds of lines.
type Lines interface {
	// Job writes a line about a job, File one about its files.
	Job(event uint16, job pbs.JobID, text string)
	File(event uint16, job pbs.JobID, text string)
	// Server writes one about the mom, Node one about the hosts of a job.
	Server(event uint16, object, text string)
	Node(event uint16, job pbs.JobID, text string)
}

// Settings is the part of the mom's configuration that jobs feel.
type Settings struct {
	UseCopy     []UseCopy
	TmpDir      string            // parent of TMPDIR
	JobDirRoot  string            // parent of the folders of jobs with sandbox=PRIVATE; empty: their owners' homes
	Environment map[string]string // of pbs_environment
	NoRootJobs  bool              // no script of a job runs as root
	// Suspend and Resume are the signals that suspend a job and have it go on; 0: SIGSTOP and SIGCONT.
	Suspend, Resume syscall.Signal
	Enforce         Enforce
	Actions         // scripts of the site
	// PollDowntime is how long a sister may be silent before its part counts as lost; 0 is
	// DefaultPollDowntime.
	PollDowntime time.Duration
	// JoinAlarm and LaunchDelay bound the waits for the sisters of a job that tolerates their
	// failures: to join, and to run their prologues; 0: the alarms of the hooks do. LaunchEarly
	// ends the waits when every sister has answered or failed.
	JoinAlarm, LaunchDelay time.Duration
	LaunchEarly            bool
}

// A UseCopy is one $usecp line: paths of the host that begin with From are found here
// under To.
type UseCopy struct{ Host, From, To string }

// matches reports whether a host is meant by the line, which may be "*" or "*.domain".
func (u UseCopy) matches(host string) bool {
	if suffix, wild := strings.CutPrefix(u.Host, "*"); wild {
		return strings.HasSuffix(strings.ToLower(host), strings.ToLower(suffix))
	}
	return pbs.SameHost(u.Host, host)
}

// A Site is what all tasks of a host share. Each subject beside the life of a task has a type, which
// has of the site what it needs: owners, folders, stager, output, siteScripts, checkpoints.
type Site struct {
	Host     pbs.HostName
	Spool    *spool.Spool
	System   proc.System
	Accounts Accounts
	Scripts  Scripts
	Mover    Mover // nil: files stay on this host
	Peers    Peers
	Hooks    Hooks // nil: there are none
	// Relay brings the output of a program of a sister to the job's; nil: nobody does.
	Relay func(k spool.TaskKey, host pbs.HostName, program uint32)
	// Measure raises a measurement to what the host knows better; nil: it knows nothing.
	Measure func(t Task, u proc.Usage) proc.Usage
	// GiveBack is called when a run cannot be reported as never started: see Runner.Unstarted; nil: nobody is.
	GiveBack   func()
	Settings   func() Settings
	Lines      Lines
	Logger     *slog.Logger
	SwitchUser bool   // jobs run as their owners, else as the mom's own account
	Self       string // name of that account
	Deadline   string // file with the deadline of all shims; "" for none
	Port       int    // of the mom, for PBS_MOMPORT
	Socket     string // of the mom, for programs of jobs

	cleaning cleaning
}

// owners finds the accounts that jobs run under.
type owners struct {
	accounts   Accounts
	switchUser bool   // jobs run as their owners, else as the mom's own account
	self       string // name of that account
	logger     *slog.Logger
}

// owner returns whom to act as; nil is the mom itself.
func (o owners) owner(a Account) *proc.Owner {
	if !o.switchUser {
		return nil
	}
	return &proc.Owner{UID: a.UID, GID: a.GID, Groups: a.Groups}
}

func (o owners) account(ctx context.Context, t Task) (Account, error) {
	if !o.switchUser {
		return o.accounts.Account(ctx, o.self, "")
	}
	a, err := o.accounts.Account(ctx, t.Attrs.Get("euser"), t.Attrs.Get("egroup"))
	if err != nil && !errors.Is(err, ErrNoAccount) && ctx.Err() == nil && t.Known != nil && t.Known.UID != 0 {
		o.logger.Warn("the owner of a job is taken as the servers know him", "job", t.Key.Job, "user", t.Known.Name, "err", err)
		return *t.Known, nil
	}
	return a, err
}

// Account returns the account that a job runs under.
func (s *Site) Account(ctx context.Context, t Task) (Account, error) {
	return s.owners().account(ctx, t)
}

// Owner returns the uid that a job runs under.
func (s *Site) Owner(ctx context.Context, t Task) (uint32, error) {
	a, err := s.owners().account(ctx, t)
	return a.UID, err
}

// isLocal reports whether a name means this host.
func isLocal(host pbs.HostName, name string) bool {
	return pbs.SameHost(name, string(host)) || pbs.ThisHost(name)
}

// What follows gives each subject what it needs of the site.

func (s *Site) owners() owners {
	return owners{accounts: s.Accounts, switchUser: s.SwitchUser, self: s.Self, logger: s.Logger}
}

func (s *Site) folders() *folders {
	return &folders{
		owners: s.owners(), spool: s.Spool, system: s.System, settings: s.Settings, lines: s.Lines, logger: s.Logger, cleaning: &s.cleaning,
	}
}

func (s *Site) staging() *stager {
	return &stager{
		host: s.Host, owners: s.owners(), folders: s.folders(), mover: s.Mover, spool: s.Spool, settings: s.Settings, lines: s.Lines, logger: s.Logger,
	}
}

func (s *Site) output() *output {
	return &output{
		host: s.Host, owners: s.owners(), staging: s.staging(), spool: s.Spool, system: s.System, lines: s.Lines, logger: s.Logger,
	}
}

func (s *Site) scripts() *siteScripts {
	return &siteScripts{
		host: s.Host, owners: s.owners(), folders: s.folders(), spool: s.Spool, settings: s.Settings, port: s.Port, socket: s.Socket,
	}
}

func (s *Site) checkpoints() *checkpoints {
	return &checkpoints{scripts: s.scripts(), peers: s.Peers, spool: s.Spool, settings: s.Settings, lines: s.Lines, logger: s.Logger}
}
