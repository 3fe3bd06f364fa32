package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

const (
	// grace is how much longer than an entry may name a blob one that nobody names is kept,
	// for clocks that differ: a leader whose clock is more than 2 s off hands over.
	grace = 5 * time.Second
	// lookEvery is how often at most the state is compared with what is on the disk.
	lookEvery = time.Second
	// sendTimeout bounds one transfer to or from another replica.
	sendTimeout = time.Duration(state.BlobFresh)
)

// A Member is a replica of the cluster.
type Member struct {
	Name    string
	Address string
	Voter   bool
	Self    bool
}

// A Peer is another replica. Get fails with ErrAbsent if that one has no such blob.
type Peer interface {
	Put(ctx context.Context, b pbs.Blob, body io.Reader) error
	Get(ctx context.Context, b pbs.Blob) (io.ReadCloser, error)
}

// Config is all that a Keeper needs.
type Config struct {
	Dir     string
	View    func() *state.View
	Changed func() <-chan struct{} // closed when View returns a newer state
	Members func() []Member
	Peer    func(m Member) Peer
	// Room refuses (a *pbs.Error) what the disk has no room for.
	Room     func(bytes int64) error
	Registry prometheus.Registerer // nil: nobody reads the metrics
	Logger   *slog.Logger
}

// A Keeper is one replica's part in keeping the blobs that the state names.
type Keeper struct {
	config Config
	store  *Store
	ctx    context.Context // of what goes on when a request is answered; ends with Run
	cancel context.CancelFunc

	pins    atomic.Int64 // who reads what the state may name no more
	writing atomic.Int64 // bytes that are being stored
	looked  atomic.Pointer[Look]

	mu      sync.Mutex
	ended   bool
	sends   sync.WaitGroup
	flights map[pbs.Blob]*flight
}

// A Look is what was seen when a state was compared with the disk.
type Look struct {
	Index   uint64 // of that state; 0: nobody has looked yet
	Missing int    // blobs that it names, and that were not here in the end
	Lost    int    // of these, that nobody has
}

// Open opens the blobs of a replica; Run keeps them.
func Open(c Config) (*Keeper, error) {
	store, err := OpenStore(c.Dir)
	if err != nil {
		return nil, err
	}
	k := &Keeper{config: c, store: store, flights: map[pbs.Blob]*flight{}}
	k.looked.Store(new(Look))
	k.ctx, k.cancel = context.WithCancel(context.Background())
	if c.Registry != nil {
		k.gauges(promauto.With(c.Registry))
	}
	return k, nil
}

func (k *Keeper) gauges(in promauto.Factory) {
	gauge := func(name, help string, value func() float64) {
		in.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	gauge("rampart_blobs", "Large job scripts on the disk of this replica.", func() float64 {
		n, _ := k.store.Size()
		return float64(n)
	})
	gauge("rampart_blob_bytes", "Bytes of large job scripts on the disk of this replica.", func() float64 {
		_, n := k.store.Size()
		return float64(n)
	})
	gauge("rampart_blobs_missing", "Large job scripts that jobs have and this replica lacks.", func() float64 { return float64(k.Looked().Missing) })
}

// Looked returns what was seen last.
func (k *Keeper) Looked() Look { return *k.looked.Load() }

// Put stores a content here and at the other replicas, and returns when a majority of the
// voters has it on its disks. It goes on to the others by itself.
func (k *Keeper) Put(ctx context.Context, body []byte) (pbs.Blob, error) {
	b := pbs.NameBlob(body)
	if err := k.takeWithin(ctx, b, body); err != nil {
		return b, err
	}
	votes, voters, open := 0, 0, 0
	members := k.config.Members()
	answers := make(chan error, len(members))
	for _, m := range members {
		if m.Voter {
			voters++
		}
		switch {
		case m.Self && m.Voter:
			votes++
		case m.Self:
		case m.Voter && k.spawn(func() { answers <- k.send(m, b) }):
			open++
		case !m.Voter:
			k.spawn(func() { _ = k.send(m, b) })
		}
	}
	var errs error
	for votes < voters/2+1 {
		if open == 0 {
			return b, unstored(errs)
		}
		select {
		case <-ctx.Done():
			return b, ctx.Err()
		case err := <-answers:
			open--
			if errs = errors.Join(errs, err); err == nil {
				votes++
			}
		}
	}
	return b, nil
}

// takeWithin stores a content here, and waits for the disk as long as ctx does.
func (k *Keeper) takeWithin(ctx context.Context, b pbs.Blob, body []byte) error {
	taken := make(chan error, 1)
	if !k.spawn(func() { taken <- k.Take(b, bytes.NewReader(body)) }) {
		return pbs.Refuse(pbs.NoQuorum)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-taken:
		return err
	}
}

// unstored is the refusal of a content that no majority could store.
func unstored(errs error) error {
	if refusal, ok := errors.AsType[*pbs.Error](errs); ok {
		return refusal
	}
	return errors.Join(pbs.Refuse(pbs.NoQuorum), errs)
}

// spawn runs f beside, unless Run has ended, and reports whether it does.
func (k *Keeper) spawn(f func()) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spawnLocked(f)
}

func (k *Keeper) spawnLocked(f func()) bool {
	if k.ended {
		return false
	}
	k.sends.Go(f)
	return true
}

// send hands a blob to another replica: from the disk, so that no memory is held for a slow one.
func (k *Keeper) send(m Member, b pbs.Blob) error {
	ctx, cancel := context.WithTimeout(k.ctx, sendTimeout)
	defer cancel()
	f, err := k.store.Open(b)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := k.config.Peer(m).Put(ctx, b, f); err != nil {
		return fmt.Errorf("hand a script to %s: %w", m.Name, err)
	}
	return nil
}

// Take stores a content here.
func (k *Keeper) Take(b pbs.Blob, body io.Reader) error {
	if k.store.Hold(b) {
		return nil
	}
	if b.Size <= 0 || b.Size > pbs.MaxScript {
		return pbs.Refuse(pbs.ScriptOverLimit)
	}
	defer k.writing.Add(-b.Size)
	if err := k.config.Room(k.writing.Add(b.Size)); err != nil {
		return err
	}
	return k.store.Write(b, body)
}

// Here opens a blob of this disk; it fails with ErrAbsent if there is none.
func (k *Keeper) Here(b pbs.Blob) (io.ReadCloser, error) {
	f, err := k.store.Open(b)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Held returns the blob of that name on this disk.
func (k *Keeper) Held(sum pbs.BlobSum) (pbs.Blob, bool) {
	k.store.mu.Lock()
	defer k.store.mu.Unlock()
	h, ok := k.store.held[sum]
	return pbs.Blob{Sum: sum, Size: h.size}, ok
}

// Pin keeps all blobs that are here until release is called.
func (k *Keeper) Pin() (release func()) {
	k.pins.Add(1)
	return sync.OnceFunc(func() { k.pins.Add(-1) })
}

// Ensure returns when all blobs that the state names are here.
func (k *Keeper) Ensure(ctx context.Context) error {
	for b := range k.config.View().Blobs() {
		if k.store.Has(b) {
			continue
		}
		if err := k.fetch(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// Run fetches what the state names and is not here, and removes what nobody names, until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	defer k.end()
	for {
		changed := k.config.Changed()
		var again <-chan time.Time
		if k.look(ctx) > 0 {
			again = time.After(lookEvery)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-again:
			continue
		}
		select { // a busy cluster is looked at once for all its entries
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
}

// end stops what goes on beside.
func (k *Keeper) end() {
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	k.cancel()
	k.sends.Wait()
}

// look compares the state with what is here, and returns how many blobs are missing still.
func (k *Keeper) look(ctx context.Context) int {
	v := k.config.View()
	members := len(k.config.Members()) > 0 // else nobody can be asked yet
	k.collect(v)
	l := Look{Index: v.Index()}
	for b := range v.Blobs() {
		if k.store.Has(b) {
			continue
		}
		if err := k.fetch(ctx, b); err != nil && ctx.Err() == nil {
			l.Missing++
			if errors.Is(err, ErrLost) {
				l.Lost++
			}
			if k.Looked().Missing == 0 {
				k.config.Logger.Warn("a job's script is missing here", "err", err)
			}
		}
	}
	if ctx.Err() == nil && members {
		k.looked.Store(&l)
	}
	return l.Missing
}

// collect removes what no job names and no entry under way can name. While a snapshot is being
// put back nothing is removed: its scripts come before its jobs.
func (k *Keeper) collect(v *state.View) {
	if v.Cluster().Staging != nil || k.pins.Load() > 0 {
		return
	}
	before := time.Unix(0, int64(v.Now()-state.BlobFresh)).Add(-grace)
	blobs, bytes, err := k.store.Collect(before, time.Duration(state.BlobFresh)+grace, v.NamesBlob)
	if err != nil {
		k.config.Logger.Warn("cannot remove scripts that no job has", "err", err)
	}
	if blobs > 0 {
		k.config.Logger.Debug("removed scripts that no job has", "scripts", blobs, "bytes", bytes)
	}
}
