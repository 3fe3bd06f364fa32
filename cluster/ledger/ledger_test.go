package ledger

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

type memLog struct {
	mu     sync.Mutex
	alarms []string
	lines  []string
}

func (l *memLog) Write(_ time.Time, _ uint16, _, object, text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if object == "accounting" {
		l.alarms = append(l.alarms, text)
		return nil
	}
	l.lines = append(l.lines, object+";"+text)
	return nil
}
func (l *memLog) SetMask(uint16)             {}
func (l *memLog) SetLocation(*time.Location) {}

// entry returns the batch of a log entry with one queued job for each number.
func entry(index uint64, numbers ...uint64) Batch {
	b := Batch{Index: index, Zone: "Europe/Berlin", LogEvents: 511}
	for _, n := range numbers {
		id := pbs.NewJobID(n, "srv")
		b.Events = append(b.Events, state.Event{
			Kind: state.JobDeleteAsked, Record: n, At: pbs.Time(1795242337+int64(n)*7200) * 1e9,
			Job: &state.Job{ID: id, Seq: n}, By: pbs.User{Name: "ann", Host: "hosta"},
		})
	}
	return b
}

// start runs a ledger in the bubble and returns it with its end.
func start(t *testing.T, dir string, log Log, peers ...Peer) (*Ledger, func()) {
	t.Helper()
	return startKeeping(t, dir, 0, log, peers...)
}

// startKeeping is start, for a ledger that keeps its files for so many days.
func startKeeping(t *testing.T, dir string, days int, log Log, peers ...Peer) (*Ledger, func()) {
	t.Helper()
	l := New(Options{Dir: dir, Log: log, KeepDays: days, Peers: func() []Peer { return peers }, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	return l, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
}

// other is a peer with a folder, which fails a few times first.
type other struct {
	dir   string
	fails int
}

func (o *other) Name() string { return "s2" }
func (o *other) Records(_ context.Context, first, last uint64, yield func(Record) error) (kept uint64, err error) {
	if o.fails > 0 {
		o.fails--
		return 0, errors.New("cut off")
	}
	for r, err := range Read(o.dir, first, last) {
		if err != nil {
			return 0, err
		}
		if err := yield(r); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func TestLedger_SameFilesEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away, there := t.TempDir(), t.TempDir()
		a, stopA := start(t, there, &memLog{})
		for i := uint64(1); i <= 20; i++ {
			a.Append(entry(i, 2*i-1, 2*i))
		}
		if err := a.WaitSynced(t.Context(), 40); err != nil {
			t.Fatal(err)
		}
		stopA()

		// b saw entries 1 and 2, was away, and came back with a snapshot up to record 30.
		log := &memLog{}
		b, stopB := start(t, away, log)
		b.Append(entry(1, 1, 2))
		b.Append(entry(2, 3, 4))
		stopB()
		b, stopB = start(t, away, log, &other{dir: there, fails: 3})
		b.Append(entry(1, 1, 2)) // replayed
		for i := uint64(16); i <= 20; i++ {
			b.Append(entry(i, 2*i-1, 2*i))
		}
		if err := b.WaitSynced(t.Context(), 40); err != nil {
			t.Fatal(err)
		}
		stopB()
		if got, want := files(t, away), files(t, there); !maps.Equal(got, want) {
			t.Errorf("the files differ:\n%q\n%q", got, want)
		}
		if n := len(log.lines); n != 14 { // entries 1, 2 once and 16 to 20
			t.Errorf("%d log lines: %q", n, log.lines)
		}
	})
}

func TestLedger_ExpectFetchesWithoutAnEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		there, away := t.TempDir(), t.TempDir()
		write(t, there, records(1, 10))
		b, stop := start(t, away, &memLog{}, &other{dir: there})
		b.Expect(10)
		if err := b.WaitSynced(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
		stop()
		if got, want := files(t, away), files(t, there); !maps.Equal(got, want) {
			t.Errorf("the files differ:\n%q\n%q", got, want)
		}
	})
}

func TestLedger_RecordsThatNobodyHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l, stop := start(t, dir, &memLog{}) // the only replica
		began := time.Now()
		l.Append(entry(9, 5))
		if err := l.WaitSynced(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
		stop()
		if waited := time.Since(began); waited < patienceAlone || waited > 2*patienceAlone {
			t.Errorf("waited %s", waited)
		}
		var numbers []uint64
		for r := range Read(dir, 0, 100) {
			numbers = append(numbers, r.Number)
		}
		if len(numbers) != 1 || numbers[0] != 5 {
			t.Errorf("records %v", numbers)
		}
	})
}
