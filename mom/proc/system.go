package proc

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// System is the processes of one host.
type System interface {
	// BootID tells this boot of the host from any other.
	BootID() string
	// Now is the clock of deadlines: the time since the boot, suspension included.
	Now() time.Duration
	// Start runs the program of spec under a new shim that keeps its files in dir.
	// When a shim has claimed dir before, Start returns that one's handle: the same
	// program is never started twice.
	Start(ctx context.Context, dir string, spec Spec) (Handle, error)
	// Find returns the handle of the shim that has claimed dir, false if none has.
	Find(dir string) (Handle, bool, error)
	// Forestall claims dir, so that no shim will ever start there, not even one that is
	// on its way. It returns the handle of a shim that has claimed dir before and may
	// have started its program; false: nothing was started in dir and nothing will be.
	Forestall(dir string) (Handle, bool, error)
	// Prove starts a program that writes a file in dir and syncs it, and waits for it: whether the host can
	// start jobs.
	Prove(ctx context.Context, dir string) error
	// EndStrays kills what runs under shims that have claimed folders below parent: the
	// jobs of a mom that has lost its memory of them. It returns how many there were.
	EndStrays(parent string) (int, error)
	// Wait blocks until the shim has ended and returns what it wrote about the end.
	// ErrLost means that it left no word.
	Wait(ctx context.Context, dir string, h Handle) (Exit, error)
	// WaitFirst is Wait for the program itself. It returns true when that has ended and its shim goes on, for
	// what the program has left outside of its session (Spec.Lingers); else all has ended.
	WaitFirst(ctx context.Context, dir string, h Handle) (Exit, bool, error)
	// Attach connects to the session of a job that has a terminal; frames go both ways.
	// ErrNoTerminal says that there is none, or not any more.
	Attach(dir string) (net.Conn, error)
	// Signal sends a signal to every process of the job but the shim.
	Signal(h Handle, sig syscall.Signal) error
	// Elapsed returns how long the job has been running; it costs little.
	Elapsed(h Handle) time.Duration
	// Usage measures the jobs of the handles, in their order.
	Usage(handles ...Handle) ([]Usage, error)
	// Move puts a file in place of target, as the owner, by a temporary file in the
	// target's folder and a rename, so that a repeat does no harm. A target that is a
	// folder, or ends in "/", gets the file under the given name.
	Move(owner *Owner, file, target, name string) error
	// MakeDir makes a private folder of the owner; it may exist already.
	MakeDir(owner *Owner, path string) error
	// RemoveDir removes the folder of the owner with all it holds.
	RemoveDir(owner *Owner, path string) error
}

// ErrFenced is returned when the fence had fallen before the program could run: it
// did not, and will not in this folder.
var ErrFenced = errors.New("the fence fell before the job was started: no server was heard of in time")

// ErrNoShim is in the chain of errors of Start when no shim was started by the call.
var ErrNoShim = errors.New("no shim was started")

// ErrLost is returned by Wait when a shim is gone without a record of the end.
var ErrLost = errors.New("the processes are gone without a record of their end")

// ErrNoTerminal is returned for jobs without a terminal, or whose session is over.
var ErrNoTerminal = errors.New("the job has no terminal")

// A StartError is a failure to start that repeats however often it is tried: the
// program, the folder or the account is at fault.
type StartError struct{ Reason string }

// Error returns the reason.
func (e *StartError) Error() string { return e.Reason }

// A Handle names a job's shim and its session for as long as the host runs.
type Handle struct {
	PID     int    `json:"pid"`     // of the shim
	Start   uint64 `json:"start"`   // of the shim, in ticks since the boot
	BootID  string `json:"boot_id"` //
	Session int    `json:"session"` // pid of the job's first process; 0 until it runs
	Cookie  string `json:"cookie"`  // PBS_JOBCOOKIE of the job
}

// An Owner is the account that a job runs as.
type Owner struct {
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups"`
}

// A Spec says what a shim is to run. It is a file format: see specVersion.
type Spec struct {
	Version int      `json:"version"`
	Job     string   `json:"job"`
	Path    string   `json:"path"`  // of the program
	Args    []string `json:"args"`  // with the program's own name first
	Env     []string `json:"env"`   //
	Dir     string   `json:"dir"`   // working directory
	Stdin   string   `json:"stdin"` // text on standard input
	Stdout  string   `json:"stdout"`
	Stderr  string   `json:"stderr"` // equal to Stdout: one file for both
	Owner   *Owner   `json:"owner"`  // nil: as the mom itself
	// StdoutInPlace and StderrInPlace are files of the owner that take the streams instead, if
	// the owner may write them; "" for none.
	StdoutInPlace string `json:"stdout_in_place,omitempty"`
	StderrInPlace string `json:"stderr_in_place,omitempty"`
	// Again says that the job has run before: files in the spool keep what that run has written.
	Again bool `json:"again,omitempty"`
	// Apart is the file in the spool of a stream that goes to the other one's: an earlier run may have kept them apart; "" for none.
	Apart string `json:"apart,omitempty"`
	// StdoutHead and StderrHead are files, written before the program began, that its streams begin with; "" for none. At a
	// terminal both come first, and of each as much as a terminal holds before somebody looks.
	StdoutHead string  `json:"stdout_head,omitempty"`
	StderrHead string  `json:"stderr_head,omitempty"`
	Umask      int     `json:"umask"`
	Nice       int     `json:"nice"`
	Limits     []Limit `json:"limits"`
	Cookie     string  `json:"cookie"`
	Deadline   string  `json:"deadline"` // file with the host's deadline; "" for none
	Lapse      uint64  `json:"lapse"`    // of the deadline when the job was accepted
	// Terminal runs the program at a pseudo-terminal; Stdin, Stdout and Stderr are not used.
	Terminal bool `json:"terminal,omitempty"`
	// Piped has somebody attach to the program without a terminal: its standard streams are pipes; Stdin, Stdout and Stderr are not used.
	Piped bool `json:"piped,omitempty"`
	// Display is what the programs at the terminal may use of the display of whoever is at the other end, as
	// x11.ParseGrant reads it; "" for nothing.
	Display string `json:"display,omitempty"`
	// Restart says that a script of the site brings the job back: output is appended to what is
	// there, and the script runs with the mom's own rights.
	Restart bool `json:"restart,omitempty"`
	// Cgroups are the folders of the job's cgroup, one for each hierarchy; none: it has none.
	// The program is born in it. When First ends, or the fence falls, all in it is killed.
	Cgroups []string `json:"cgroups,omitempty"`
	First   bool     `json:"first,omitempty"` // of the job's programs on this host
	// Lingers lets live what has left the program's session when the program ends; the shim holds it until
	// it is told to end it.
	Lingers bool `json:"lingers,omitempty"`
}

const specVersion = 1

// A Limit is one rlimit, soft and hard.
type Limit struct {
	Resource int    `json:"resource"` // RLIMIT_*
	Value    uint64 `json:"value"`
}

// An Exit is how a job's first process ended, and what all of them used.
type Exit struct {
	Version  int           `json:"version"`
	Status   int           `json:"status"` // 256 + signal number when a signal ended it
	CPU      time.Duration `json:"cpu"`
	Wall     time.Duration `json:"wall"`
	MaxRSS   int64         `json:"max_rss"`           // bytes, of the biggest process, or of the shim: see ShimRSS
	ShimRSS  int64         `json:"shim_rss"`          // bytes; a MaxRSS that is not above may be the shim's
	Fenced   bool          `json:"fenced,omitempty"`  // the fence fell
	Failed   string        `json:"failed,omitempty"`  // the program could not be started
	Again    bool          `json:"again,omitempty"`   // it could not for the host's sake: it may be better next time
	Left     int           `json:"left,omitempty"`    // processes that survived SIGKILL
	ByOrder  bool          `json:"ordered,omitempty"` // the shim itself was told to end the job
	Finished int64         `json:"finished"`          // wall clock, nanoseconds
}

// A Usage is what the live processes of a job use now.
type Usage struct {
	CPU       time.Duration // of the ended ones that were waited for, too
	Wall      time.Duration
	RSS       int64 // bytes
	VSize     int64 // bytes
	Largest   int64 // resident bytes of the process that has most
	Processes int
}
