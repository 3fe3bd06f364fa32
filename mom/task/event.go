package task

import (
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// An Event is something that happened to a task.
type Event interface{ event() }

// The events of a task's life.
type (
	// Accept is the first event of a task: its order has come.
	Accept struct{}
	// Resume is the first event after a restart of the mom.
	Resume struct {
		BootID string
		Adopt  bool // let it run on
	}
	// Fetched says that the script is on disk, of a sister that the host takes part, and what
	// hooks have set.
	Fetched struct {
		Used  []spool.Used
		Known *Account // the owner, as the servers know him; of a sister
	}
	// Launched says that the shim runs.
	Launched struct {
		Handle proc.Handle
		JobDir string
		At     int64
		Used   []spool.Used // that hooks have set
		// Programs are those besides the first that the run goes on with from a checkpoint.
		Programs []Program
	}
	// Failed says that the job cannot be started, with one of the Exit statuses.
	Failed struct {
		Status int
		Code   int // what the log calls it; 0: Status
		Reason string
		Barred bool         // the shim itself said so: there is none on its way
		Hook   bool         // a hook has refused it
		Fault  pbs.HostName // the host whose fault it is; empty: none's
	}
	// Found says that a shim has claimed the folder of a task that was about to end as
	// never started.
	Found struct{ Launched }
	// Lapsed says that the host's deadline has passed, and which number the next one has.
	Lapsed struct{ Now uint64 }
	// NotFound says that no shim was started before the mom's restart.
	NotFound struct{}
	// Announced says that the fact Started is in the spool.
	Announced struct{}
	// Exited says that the shim has ended.
	Exited struct{ Exit proc.Exit }
	// Vanished says that the shim has ended without a word.
	Vanished struct{}
	// Kill asks for the end of the job; Hooks says that there are some to ask first, Mother that it is
	// the mother superior who asks it of a sister, Left that the run goes on without this host.
	Kill struct {
		Killing
		Hooks, Mother, Left bool
	}
	// Abort ends the job because the mom is told to stop.
	Abort struct{}
	// GraceOver says that SIGTERM was not enough.
	GraceOver struct{}
	// Terminated says that the site's script that ends jobs has come to its own end; Failure is empty if it went well.
	Terminated struct{ Failure string }
	// Signal asks for a signal to all processes; Elapsed is how long they have been there.
	Signal struct {
		Name    string
		Elapsed time.Duration
	}
	// Sampled is a measurement.
	Sampled struct {
		Usage   proc.Usage
		Enforce Enforce
	}
	// Alter changes attributes of the running job, such as its limits.
	Alter struct{ Attrs Attrs }
	// StagedIn says that the job's files have come, or why not.
	StagedIn struct{ Failure string }
	// StagedOut says that the job's files are where they belong, or why not all of them.
	StagedOut struct {
		Failure string
		Dead    map[string]string // hosts that did not answer to the last, and how
	}
	// Delivered says where the output went.
	Delivered struct {
		Used     []spool.Used // that hooks have set
		StageOut int
		Comment  string
	}
	// Told says that the fact Ended is in the spool.
	Told struct{}
	// Forget lets the mom drop an ended task.
	Forget struct{}
)

func (Accept) event()     {}
func (Resume) event()     {}
func (Fetched) event()    {}
func (Launched) event()   {}
func (Failed) event()     {}
func (NotFound) event()   {}
func (Lapsed) event()     {}
func (Announced) event()  {}
func (Exited) event()     {}
func (Vanished) event()   {}
func (Kill) event()       {}
func (Abort) event()      {}
func (GraceOver) event()  {}
func (Terminated) event() {}
func (Signal) event()     {}
func (Sampled) event()    {}
func (Alter) event()      {}
func (StagedIn) event()   {}
func (StagedOut) event()  {}
func (Delivered) event()  {}
func (Told) event()       {}
func (Forget) event()     {}

// A Deed is a kind of Action.
type Deed string

// The deeds. Each can be repeated.
const (
	Fetch    Deed = "fetch the script"
	Confirm  Deed = "ask whether the run still counts"
	Launch   Deed = "launch"
	Recover  Deed = "look for the shim"
	Announce Deed = "report the start"
	Watch    Deed = "watch the shim"
	Send     Deed = "signal"
	Grace    Deed = "allow a grace"
	Note     Deed = "note on stderr"
	StageIn  Deed = "stage files in"
	Halt     Deed = "stop the staging"
	StageOut Deed = "stage files out"
	Deliver  Deed = "deliver the output"
	Discard  Deed = "discard the output"
	Bar      Deed = "forestall a shim"
	Report   Deed = "report the end"
	Clean    Deed = "clean up"
	Drop     Deed = "drop"
)

// An Action is something to be done; its result comes back as another Event.
type Action struct {
	Do     Deed
	Signal syscall.Signal // of Send
	After  time.Duration  // of Grace and AwaitReport
	// Program is the number of the one meant, of StartProgram, RecoverProgram and WatchProgram,
	// and of Send, if it is for one only.
	Program uint32
	Text    string // of Note; of Send the word for a suspension or resumption
	// Ends says of Send and Grace that the job is asked to end: the site may have a script for that.
	Ends bool
}
