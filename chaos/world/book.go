package world

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"rampart/chaos/check"
	"rampart/chaos/look"
	"rampart/fsm/pbs"
)

// A book is what a world writes down of a run while it goes on, for the evidence: what programs ran,
// what was done to hosts and replicas, and what the entries of the log have made of jobs and reservations.
// Every process writes in it.
type book struct {
	begun   time.Time
	hosts   []pbs.HostName // of the moms
	tenants look.Tenants   // of hosts

	mu       sync.Mutex // of all below
	runs     []check.Run
	fatal    []string
	restored int
	fences   map[uint64]check.Fence // by index
	killed   []string
	hits     []check.Hit
	crews    map[pbs.JobID]crew
	asked    map[check.Wish]int // by the world itself
	lies     int
	downs    []string

	lastStood  uint64           // the index up to which the next ones are
	standing   map[standing]int // of suspended jobs: in stood
	stood      []check.Stood
	waitingNow map[pbs.JobID]int // of jobs that wait though another host has room: in waited
	waited     []check.Wait
	harmed     map[pbs.HostName]bool // hosts that something has befallen

	lastBooked  uint64          // the index up to which the bookings are
	bookings    []check.Booking // in the order of their ids
	kept        check.Kept
	lastPlanned uint64 // the index up to which plan is
	plan        plan
	planned     check.Planned
	burdens     map[pbs.HostName][]burden // in their order
	overloaded  check.Overloaded
}

func newBook() *book {
	return &book{
		begun: time.Now(), fences: make(map[uint64]check.Fence), crews: make(map[pbs.JobID]crew), asked: make(map[check.Wish]int),
		standing: make(map[standing]int), waitingNow: make(map[pbs.JobID]int), harmed: make(map[pbs.HostName]bool),
		kept: check.Kept{By: make(map[string]bool)}, planned: newPlanned(), burdens: make(map[pbs.HostName][]burden),
		overloaded: check.Overloaded{Stopped: make(map[string]map[uint64]bool)},
	}
}

func (k *book) since() time.Duration { return time.Since(k.begun) }

// note writes something down.
func (k *book) note(do func(*book)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	do(k)
}

// failed notes that a process ended by itself.
func (k *book) failed(name string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fatal = append(k.fatal, fmt.Sprintf("%s ended at %s: %v", name, k.since(), err))
}

// ends returns what ended by itself.
func (k *book) ends() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fatal
}

// tell adds what is in the book to the evidence.
func (k *book) tell(e *check.Evidence) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.Runs, e.Restored, e.Killed, e.Lies, e.Downs = k.runs, k.restored, k.killed, k.lies, k.downs
	e.Hits, e.Waits, e.Bookings, e.Kept = k.hits, k.waited, k.bookings, k.kept
	e.Overloaded, e.Planned = k.overloaded, k.planned
	e.Vacated, e.Stood, e.Asked = k.tenants.Vacated(), k.stood, maps.Clone(k.asked)
	for _, index := range slices.Sorted(maps.Keys(k.fences)) {
		e.Fences = append(e.Fences, k.fences[index])
	}
}
