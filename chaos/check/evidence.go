package check

import (
	"fmt"
	"strings"
	"time"
)

// Evidence is all that a run left behind.
type Evidence struct {
	History    History
	Begun      time.Time     // from which all times but those of the history count; zero: they count from the same moment
	Lag        time.Duration // how much later those of the history count
	Runs       []Run         // programs that were started, on all hosts
	OwnBook    bool          // programs wrote Runs themselves: one that was killed at once left no word
	Replicas   []Replica     // as they were at the end, after all was healed and at rest
	Views      []Digest      // seen on the way
	Moves      []Move        // seen on the way
	Struck     []string      // the faults that took effect
	Blows      []Blow        // and when, the ends of others too
	Restored   int           // how often a replica took its state from a snapshot
	Fences     []Fence       // that fell
	Vacated    []Vacated     // hosts that running jobs have given back
	Stood      []Stood       // times in which jobs were suspended
	Asked      map[Wish]int  // how often the world has asked for something, besides the clients of the history
	Killed     []string      // the kinds of commands at which a leader was killed
	Hits       []Hit         // hosts of jobs that were lost at a command about the job
	Missed     []Missed      // hosts that starts went on without
	Downs      []string      // hosts found down that lived, by the word of gossip alone
	Epochs     int           // that began since a majority was lost
	Loss       *Loss         // what no survivor of that had; nil: nothing
	Waits      []Wait        // of jobs for which a fit host had room, since the first host was not fit any more
	Bookings   []Booking     // the reservations that there were
	Kept       Kept          // what jobs kept that waited
	Planned    Planned       // jobs that waited with a plan
	Overloaded Overloaded    // jobs that load has suspended
	Lies       int           // members of whom gossip told a replica what is not so
}

// A Blow is a fault that struck, or its end.
type Blow struct{ From, To time.Duration }

// A Hit is the loss of a host of a run.
type Hit struct {
	At     string // the kind of command about the run that the leader had applied
	Job    string
	Count  uint32 // the run_count
	Host   string
	Mother string // the run's mother superior by then
	When   time.Duration
}

// Missed says that the start of a job went on without a host that failed, or did not answer.
type Missed struct {
	Job  string
	Host string
	Late bool // it has taken the job all the same
}

// A Fence is the verdict that no run of a host lives any more.
type Fence struct {
	Index    uint64
	Host     string
	Requeued int // jobs
	Ended    int // jobs that must not run again
}

// A Run is one program that a mom started.
type Run struct {
	Job   string
	Count uint32 // the run_count under which it was started
	Host  string
	Start time.Duration
	End   time.Duration // Never while it runs

	// Part says that it is a program beside the run's first, on whatever host.
	Part   bool
	Fenced bool // its shim ended it at its deadline
	Halts  []Span
}

// A Span is a time in which a program was stopped; to Never while it is.
type Span struct{ From, To time.Duration }

// Never is the time of what has not happened.
const Never = time.Duration(1<<63 - 1)

// String returns the run as one line.
func (r Run) String() string {
	end := "now"
	if r.End != Never {
		end = fmt.Sprintf("%.3fs", r.End.Seconds())
	}
	if r.Fenced {
		end += ", at its deadline"
	}
	return fmt.Sprintf("run %d of %s on %s from %.3fs to %s", r.Count, r.Job, r.Host, r.Start.Seconds(), end)
}

// Vacated says when a replica first had it that a run goes on without one of its hosts, whose
// vnodes are free for others.
type Vacated struct {
	Job   string
	Count uint32 // the run_count
	Host  string
	At    time.Duration
}

// A Wish is a change of a job that is asked for.
type Wish struct {
	Kind Kind
	Job  string
}

// Stood says from when to when a run was suspended, by the replicas that saw it first.
type Stood struct {
	Job   string
	Count uint32 // the run_count
	Way          // that it made; empty: somebody has asked for it
	Span
}

// A Way says for which job a run was suspended, and in which of that job's waits: its turn changes when it starts.
type Way struct {
	For  string
	Turn uint64
}

// A Digest is what a replica's state summed up to at an index.
type Digest struct {
	Replica string
	Index   uint64
	Sum     uint64
}

// A Move is a change of a job's state as seen between two looks at a replica. Several entries may lie between two moves.
type Move struct {
	Replica string
	Start   int // which start of the replica: a restart replays the past
	Index   uint64
	Job     string
	State   string // letter
	Run     uint32
}

// A Job is what a replica's state says of a job at the end.
type Job struct {
	ID    string
	Name  string
	State string // letter
	Run   uint32
}

// A Replica is one replica at the end of a run.
type Replica struct {
	Name    string
	Index   uint64
	Sum     uint64
	Reread  uint64 // digest after the state went through a snapshot file
	Jobs    []Job
	Holds   []Reservation     // reservations that are left
	Level   uint32            // the feature level of the state
	Records uint64            // how many accounting records the state has numbered
	Ledger  map[string][]byte // accounting files by day
}

// job finds a job by its id.
func (r Replica) job(id string) (Job, bool) {
	for _, j := range r.Jobs {
		if j.ID == id {
			return j, true
		}
	}
	return Job{}, false
}

// named returns the jobs of that name; subjobs, which have that of their array, are none.
func (r Replica) named(name string) []Job {
	var jobs []Job
	for _, j := range r.Jobs {
		if j.Name == name && !isSubjob(j.ID) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// isArray and isSubjob tell of the identifiers N[] and N[i].
func isArray(id string) bool  { return strings.Contains(id, "[]") }
func isSubjob(id string) bool { return strings.Contains(id, "[") && !isArray(id) }
