package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/pause"
)

// A Log takes lines of the server log; transport/daylog's is one.
type Log interface {
	Write(at time.Time, event uint16, class, object, text string) error
	SetMask(events uint16)
	SetLocation(zone *time.Location)
}

// Options of a ledger.
type Options struct {
	Dir    string        // the accounting folder
	Log    Log           // this replica's server log
	Peers  func() []Peer // the other replicas, asked for records that are missing here
	View   func() *state.View
	Logger *slog.Logger
	Home   string // PBS_HOME, for lines that name files in it
	Self   string // Server@HOST, for lines about the daemon itself

	// Disk, if set, returns when the disk takes a write: bubbles make it wait.
	Disk func()

	// KeepDays is how many days the files are kept; 0: for ever.
	KeepDays int

	Registry prometheus.Registerer // takes the metrics; nil: nobody reads them
}

// Ledger writes one replica's accounting files and server log.
type Ledger struct {
	opts      Options
	wake      chan struct{} // capacity 1
	suspicion chan struct{} // of a file; capacity 1
	calls     chan call     // for the writer's goroutine
	reading   chan struct{} // held by whoever reads whole days for a person; capacity 1
	spools    atomic.Uint64 // folders of records that were made
	meter     meter

	mu      sync.Mutex
	room    sync.Cond // pending shrank, or a gap opened
	pending []Batch
	queued  int    // events in pending
	gap     bool   // the writer waits for records of a peer
	expect  uint64 // the state holds records up to this number
	want    uint64 // somebody waits until this number is synced
	synced  uint64 // records up to this number are on disk for good
	written uint64 // records up to this number are in the files
	changed chan struct{}
	opened  bool
	ended   bool
	trouble string // why the last attempt to write failed; "": it did not
	removed uint64 // peers have removed records below this number

	suspects map[string]bool // day files that may be damaged
}

// A call is something that only the writer may do.
type call struct {
	do   func(w *writer) error
	done chan error
}

// A Batch is what one log entry gave rise to.
type Batch struct {
	Index     uint64 // of the entry
	Zone      string // the server attribute timezone as the entry left it
	LogEvents uint16 // the server attribute log_events as the entry left it
	Events    []state.Event
}

// maxPending bounds the events that wait for the writer. When it is reached
// Append waits, so a slow disk slows the log down; but while records of a peer
// are awaited it drops the batch, and the gap grows by it.
const maxPending = 100_000

// syncEvery bounds what a power cut takes from the files; the log has it still.
const syncEvery = 250 * time.Millisecond

// retryAfter is the pause after a failed write or fetch.
const retryAfter = time.Second

// New returns a ledger that begins to write under Run.
func New(opts Options) *Ledger {
	l := &Ledger{opts: opts, wake: make(chan struct{}, 1), suspicion: make(chan struct{}, 1), calls: make(chan call), reading: make(chan struct{}, 1), changed: make(chan struct{})}
	l.room.L = &l.mu
	l.meter = newMeter(opts.Registry)
	l.gauges(opts.Registry)
	return l
}

// OnEvents hands over what an entry gave rise to; it is fsm.Options.OnEvents.
func (l *Ledger) OnEvents(v *state.View, events []state.Event) {
	l.Append(Batch{
		Index: v.Index(), Zone: v.Server().Get("timezone"), LogEvents: uint16(v.Server().Int("log_events")), Events: events,
	})
}

// Append hands over the events of one entry, in the order of the log. Replayed
// entries may come again.
func (l *Ledger) Append(b Batch) {
	if len(b.Events) == 0 {
		return
	}
	l.mu.Lock()
	for l.queued >= maxPending && !l.gap && !l.ended {
		l.room.Wait()
	}
	if l.queued >= maxPending {
		l.expect = max(l.expect, lastRecord(b.Events))
	} else {
		l.pending = append(l.pending, b)
		l.queued += len(b.Events)
	}
	l.mu.Unlock()
	l.poke()
}

// Expect says that the state holds records up to a number: after a snapshot was
// installed, those that are not here are fetched from a peer.
func (l *Ledger) Expect(number uint64) {
	l.mu.Lock()
	l.expect = max(l.expect, number)
	l.mu.Unlock()
	l.poke()
}

// Synced returns the number up to which the records are on disk for good.
func (l *Ledger) Synced() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.synced
}

// WaitSynced returns when the records up to a number are on disk for good.
func (l *Ledger) WaitSynced(ctx context.Context, number uint64) error {
	for {
		l.mu.Lock()
		l.want = max(l.want, number)
		done, ended, changed := l.synced >= number, l.ended, l.changed
		l.mu.Unlock()
		if done {
			return nil
		}
		if ended {
			return errEnded
		}
		l.poke()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var errEnded = errors.New("wait for the ledger: it has ended")

// Records yields the records of this replica with numbers first to last, for a
// peer that lacks them. It leaves out those that are nowhere here; those that may
// still come are an error after the last one.
func (l *Ledger) Records(first, last uint64, yield func(*api.LedgerRecord) error) error {
	l.mu.Lock()
	written, opened := l.written, l.opened
	l.mu.Unlock()
	if !opened {
		return connect.NewError(connect.CodeUnavailable, errors.New("the accounting files are not open yet"))
	}
	for r, err := range read(l.opts.Dir, first, min(last, written), l.suspect) {
		if err != nil {
			return err
		}
		if err := yield(&api.LedgerRecord{Number: r.Number, Day: r.Day, Line: r.Line}); err != nil {
			return err
		}
	}
	if last > written {
		return connect.NewError(connect.CodeUnavailable, fmt.Errorf("accounting is written up to record %d only", written))
	}
	return nil
}

// Run writes until ctx ends. A failing disk is tried again, not given up: the
// records stay in the log as long as they are not synced here.
func (l *Ledger) Run(ctx context.Context) error {
	defer l.finish()
	w := &writer{ledger: l}
	defer func() { l.report(w.close()) }()
	var mending sync.WaitGroup
	mending.Go(func() { (&mender{ledger: l}).run(ctx) })
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		if err := w.step(ctx); err != nil && ctx.Err() == nil {
			l.note(err)
			l.report(err)
			pause.For(ctx, retryAfter)
		}
		select {
		case <-ctx.Done():
			mending.Wait()
			return w.drain()
		case <-l.wake:
		case c := <-l.calls:
			c.done <- c.do(w)
		case <-tick.C:
			if w.book != nil { // else the step before has said why
				err := w.sync()
				l.note(err)
				l.report(err)
				l.report(w.prune())
			}
			w.lookBehind()
		}
	}
}

// do has the writer do something between two batches.
func (l *Ledger) do(ctx context.Context, f func(w *writer) error) error {
	c := call{f, make(chan error, 1)}
	select {
	case l.calls <- c:
		return <-c.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// suspect has a day file verified again, or, without a day, those that changed.
func (l *Ledger) suspect(day string) {
	l.mu.Lock()
	if l.suspects == nil {
		l.suspects = map[string]bool{}
	}
	l.suspects[day] = true
	l.mu.Unlock()
	select {
	case l.suspicion <- struct{}{}:
	default:
	}
}

func (l *Ledger) takeSuspects() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	days := l.suspects
	l.suspects = nil
	return days
}

// alarm says something that an administrator should know, in the structured log
// and in the server log.
func (l *Ledger) alarm(text, what string, value any) {
	l.opts.Logger.Warn(text, what, value)
	text = fmt.Sprintf("%s: %s %v", text, what, value)
	l.report(l.opts.Log.Write(time.Now(), pbs.LogError, "Svr", "accounting", text))
}

func (l *Ledger) report(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		l.opts.Logger.Error("write the ledger", "error", err)
	}
}

func (l *Ledger) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.room.Broadcast()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Ledger) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take removes everything that is pending.
func (l *Ledger) take() (batches []Batch, expect, want uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batches, l.pending, l.queued = l.pending, nil, 0
	l.room.Broadcast()
	return batches, l.expect, l.want
}

// waiting returns the number of events that the writer has not taken.
func (l *Ledger) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queued
}

// reached publishes the writer's progress.
func (l *Ledger) reached(written, synced uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened && written == l.written && synced == l.synced {
		return
	}
	l.opened = true
	l.written, l.synced = written, synced
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Ledger) setGap(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gap = open
	l.room.Broadcast()
}

func lastRecord(events []state.Event) uint64 {
	var last uint64
	for _, e := range events {
		last = max(last, e.Record)
	}
	return last
}
