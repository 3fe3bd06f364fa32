package trace

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A Job is a job of a workload.
type Job struct {
	Name string // as its source has it
	File string
	Line int

	Submit   pbs.Time
	Eligible pbs.Time // it was not to start before; 0: from Submit on
	Runs     time.Duration
	Limit    time.Duration // walltime that it asks for; 0: none
	CPUs     int64
	Mem      int64         // kb for each of its cpus; 0: nothing is said
	Select   string        // empty: chunks are made of its cpus
	Others   resource.List // that it asks for beside these

	User, Group, Project, Account string
	Queue                         string // empty: the default queue
	Exit                          int32

	Began pbs.Time // where it began when it was recorded; 0: nobody knows

	Requeued []time.Duration // how long those runs took that ended by a requeue; Runs is of the one behind them
	Altered  []Alteration
}

// An Alteration is what somebody has changed of a job.
type Alteration struct {
	Runs    int           // that had begun by then
	Running bool          // the last of them went on
	After   time.Duration // the beginning of that run
	At      pbs.Time      // if none went on
	Changes []command.AttrChange
}

// A Source yields the jobs of a workload, in the order in which they are submitted.
type Source interface {
	// Next returns io.EOF behind the last one.
	Next() (*Job, error)
	// Read tells how much of the source was read, of 1.
	Read() float64
	// Begin is when the workload begins.
	Begin() pbs.Time
	io.Closer
}

// A Trouble is a line of the input that was not taken as it stands.
type Trouble struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (t Trouble) String() string {
	if t.Line == 0 {
		return t.File + ": " + t.Text
	}
	return fmt.Sprintf("%s:%d: %s", t.File, t.Line, t.Text)
}

// mostTroubles is how many lines are listed; all are counted.
const mostTroubles = 1000

// Troubles are the lines of the input that were not taken as they stand.
type Troubles struct {
	Skipped int            `json:"skipped"` // lines without a job that could be replayed
	Amended int            `json:"amended"` // lines whose jobs were replayed with something assumed
	Kinds   map[string]int `json:"kinds"`
	List    []Trouble      `json:"list"` // the first of them
}

func (t *Troubles) add(file string, line int, kind, detail string, skipped bool) {
	if t.Kinds == nil {
		t.Kinds = map[string]int{}
	}
	t.Kinds[kind]++
	if skipped {
		t.Skipped++
	} else {
		t.Amended++
	}
	if len(t.List) < mostTroubles {
		t.List = append(t.List, Trouble{file, line, kind + detail})
	}
}

// kinds returns the kinds, the most frequent first.
func (t *Troubles) kinds() []string {
	all := slices.Sorted(maps.Keys(t.Kinds))
	slices.SortStableFunc(all, func(a, b string) int { return t.Kinds[b] - t.Kinds[a] })
	return all
}
