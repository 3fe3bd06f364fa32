package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// site is replicas that hand each other blobs without a network.
type site struct {
	t      *testing.T
	store  *state.Store
	index  uint64
	all    map[string]*Keeper
	voters []string

	mu      sync.Mutex
	changed chan struct{}
	down    map[string]error // what a replica answers
}

// fault is what a replica answers in place of doing what it is asked.
func (s *site) fault(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down[name]
}

// news is closed by the next entry.
func (s *site) news() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func newSite(t *testing.T, names ...string) *site {
	s := &site{t: t, store: state.NewStore(), changed: make(chan struct{}), all: map[string]*Keeper{}, down: map[string]error{}, voters: names}
	s.apply(func(*state.Tx) {})
	for _, name := range names {
		s.open(name, t.TempDir())
	}
	return s
}

func (s *site) open(name, dir string) *Keeper {
	k, err := Open(Config{
		Dir: dir, View: s.store.View, Changed: s.news,
		Members: func() (all []Member) {
			for _, m := range s.voters {
				all = append(all, Member{Name: m, Voter: true, Self: m == name})
			}
			return all
		},
		Peer:   func(m Member) Peer { return link{s, m.Name} },
		Room:   func(int64) error { return s.fault(name) },
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.all[name] = k
	return k
}

// apply is an entry of the log, of now.
func (s *site) apply(do func(tx *state.Tx)) {
	s.index++
	s.store.Begin(s.index, 1, pbs.Time(time.Now().UnixNano()))
	tx := s.store.Tx()
	do(tx)
	s.store.Commit(tx)
	s.store.Publish()
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if err := s.store.View().Check(); err != nil {
		s.t.Error(err)
	}
}

func (s *site) name(job string, b pbs.Blob) {
	s.apply(func(tx *state.Tx) { tx.PutScript(state.Script{Job: pbs.JobID(job), Blob: &b}) })
}

// holders are the replicas that have a blob.
func (s *site) holders(b pbs.Blob) (names string) {
	for _, name := range s.voters {
		if s.all[name].store.Has(b) {
			names += name
		}
	}
	return names
}

// run keeps the blobs of all for so long.
func (s *site) run(d time.Duration) {
	ctx, cancel := context.WithTimeout(s.t.Context(), d)
	defer cancel()
	for _, k := range s.all {
		go func() { _ = k.Run(ctx) }()
	}
	<-ctx.Done()
	synctest.Wait()
	for _, name := range s.voters {
		s.open(name, s.all[name].config.Dir)
	}
}

type link struct {
	s  *site
	to string
}

// slow is a replica that takes a second to begin, and counts who comes.
type slow struct {
	Peer
	asked *atomic.Int64
}

func (l slow) Get(ctx context.Context, b pbs.Blob) (io.ReadCloser, error) {
	l.asked.Add(1)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Second):
		return l.Peer.Get(ctx, b)
	}
}

func (l link) Put(_ context.Context, b pbs.Blob, body io.Reader) error {
	if err := l.s.fault(l.to); err != nil {
		return err
	}
	return l.s.all[l.to].Take(b, body)
}

func (l link) Get(_ context.Context, b pbs.Blob) (io.ReadCloser, error) {
	if err := l.s.fault(l.to); err != nil {
		return nil, err
	}
	return l.s.all[l.to].Here(b)
}

var body = bytes.Repeat([]byte("echo hello\n"), 30_000)

// A content counts as stored when a majority of the voters has it; a full disk is told as such.
func TestPut_WantsAMajority(t *testing.T) {
	away := errors.New("away")
	full := pbs.Errorf(pbs.ResourceBusy, "no room")
	for _, c := range []struct {
		name string
		down map[string]error
		want pbs.Code
	}{
		{"all are there", nil, 0},
		{"one is away", map[string]error{"b": away}, 0},
		{"two are away", map[string]error{"b": away, "c": away}, pbs.NoQuorum},
		{"two have no room", map[string]error{"b": full, "c": full}, pbs.ResourceBusy},
		{"one's own disk is full", map[string]error{"a": full}, pbs.ResourceBusy},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, "a", "b", "c")
				for name, err := range c.down {
					s.down[name] = err
				}
				b, err := s.all["a"].Put(t.Context(), body)
				if pbs.CodeOf(err) != c.want {
					t.Fatalf("%v", err)
				}
				synctest.Wait()
				if got := len(s.holders(b)); err == nil && got != 3-len(c.down) {
					t.Errorf("%d have it", got)
				}
				s.run(time.Second)
			})
		})
	}
}

// Who lacks what the state names fetches it, also when somebody asks before; what nobody has is
// refused with a word for the user.
func TestKeeper_FetchesWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b", "c")
		s.down["c"] = errors.New("away")
		b, err := s.all["a"].Put(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // c was asked, too
		s.name("1.srv", b)
		s.name("2.srv", b)
		delete(s.down, "c")
		synctest.Wait()
		if got := s.holders(b); got != "ab" {
			t.Fatalf("%s have it", got)
		}
		f, err := s.all["c"].Open(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		_ = f.Close()
		if err := os.Remove(s.all["b"].store.path(b.Sum)); err != nil {
			t.Fatal(err)
		}
		s.open("b", s.all["b"].config.Dir)
		s.run(3 * time.Second)
		if got := s.holders(b); got != "abc" {
			t.Errorf("%s have it", got)
		}
		lost := pbs.NameBlob([]byte("lost"))
		s.name("3.srv", lost)
		refused := func(err error) bool {
			_, ok := errors.AsType[*pbs.Error](err)
			return ok
		}
		if _, err := s.all["a"].Open(t.Context(), lost); !refused(err) {
			t.Errorf("what nobody has: %v", err)
		}
		s.down["b"] = errors.New("away")
		if _, err := s.all["a"].Open(t.Context(), lost); err == nil || refused(err) {
			t.Errorf("what somebody who is away may have: %v", err)
		}
	})
}

// A look tells of which state it was, what was not here, and what of that nobody has; there is none before
// it is known who could be asked.
func TestKeeper_TellsWhatItSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b", "c")
		s.down["c"] = errors.New("away")
		b, err := s.all["a"].Put(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.name("1.srv", b)
		c, known := s.all["c"], atomic.Bool{}
		members := c.config.Members
		c.config.Members = func() []Member {
			if known.Load() {
				return members()
			}
			return nil
		}
		away := map[string]error{"a": errors.New("away"), "b": errors.New("away")}
		maps.Copy(s.down, away)
		delete(s.down, "c")
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go func() { _ = c.Run(ctx) }()
		saw := func(want Look) {
			t.Helper()
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if got := c.Looked(); got != want {
				t.Errorf("saw %+v, want %+v", got, want)
			}
		}
		saw(Look{})
		known.Store(true)
		saw(Look{Index: s.index, Missing: 1})
		s.mu.Lock()
		for name := range away {
			delete(s.down, name)
		}
		s.mu.Unlock()
		saw(Look{Index: s.index})
		s.name("2.srv", pbs.NameBlob([]byte("lost")))
		saw(Look{Index: s.index, Missing: 1, Lost: 1})
	})
}

// Many who want one missing script at a time get it by one transfer, also when the first of
// them gives up.
func TestOpen_FetchesOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a", "b", "c")
		s.down["c"] = errors.New("away")
		b, err := s.all["a"].Put(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		delete(s.down, "c")
		var asked atomic.Int64
		c := s.all["c"]
		c.config.Peer = func(m Member) Peer { return slow{link{s, m.Name}, &asked} }
		hasty, giveUp := context.WithTimeout(t.Context(), time.Second/2)
		defer giveUp()
		var moms sync.WaitGroup
		moms.Go(func() {
			if _, err := c.Open(hasty, b); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the hasty one: %v", err)
			}
		})
		synctest.Wait()
		for range 50 {
			moms.Go(func() {
				f, err := c.Open(t.Context(), b)
				if err != nil {
					t.Error(err)
					return
				}
				_ = f.Close()
			})
		}
		moms.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("it was fetched %d times", n)
		}
		s.run(time.Second)
	})
}

// While old blobs are removed one after the other, others are found and kept.
func TestStore_CollectHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := OpenStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var all []pbs.Blob
		for i := range 4 {
			b := pbs.NameBlob(body[i:])
			if all = append(all, b); s.Write(b, bytes.NewReader(body[i:])) != nil {
				t.Fatal("not written")
			}
		}
		time.Sleep(time.Hour)
		looked, wanted := 0, all[3]
		blobs, _, err := s.Collect(time.Now(), time.Minute, func(pbs.BlobSum) bool {
			if n, _ := s.Size(); n != len(all)-looked && n != len(all)-looked+1 {
				t.Errorf("%d are there after %d were looked at", n, looked)
			}
			if looked++; looked == 1 && !s.Hold(wanted) {
				t.Error("one that nobody has removed yet is not there")
			}
			return false
		})
		if err != nil || blobs != 3 || !s.Has(wanted) {
			t.Errorf("%d were removed, %v; the one that is wanted is there: %v", blobs, err, s.Has(wanted))
		}
	})
}

// What no job names goes when no entry can come that names it, and not while something is put
// back or read.
func TestKeeper_Collects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, "a")
		k := s.all["a"]
		look := func() { k.collect(s.store.View()) }
		later := func(d time.Duration) {
			time.Sleep(d)
			s.apply(func(*state.Tx) {})
			look()
		}
		b, err := k.Put(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		has := func(what string, want bool) {
			t.Helper()
			if got := k.store.Has(b); got != want {
				t.Fatalf("%s: it is there: %v", what, got)
			}
		}
		later(time.Duration(state.BlobFresh))
		has("as long as an entry may come", true)
		s.name("1.srv", b)
		s.name("2.srv", b)
		later(time.Hour)
		has("two jobs have it", true)
		s.apply(func(tx *state.Tx) { tx.DeleteScript("1.srv") })
		look()
		has("one job has it", true)
		if _, err := k.Put(t.Context(), body); err != nil { // a twin is on its way
			t.Fatal(err)
		}
		s.apply(func(tx *state.Tx) { tx.DeleteScript("2.srv") })
		look()
		has("a job with the same script is on its way", true)
		release := k.Pin()
		later(time.Minute)
		has("somebody reads", true)
		release()
		s.apply(func(tx *state.Tx) { tx.Stage("key") })
		look()
		has("a snapshot is put back", true)
		s.apply(func(tx *state.Tx) { tx.DropParts() })
		look()
		has("nobody wants it", false)
	})
}

// A damaged content is none, and what was not finished is removed.
func TestStore_Damage(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := pbs.NameBlob(body)
	for what, wrong := range map[string][]byte{"short": body[1:], "long": append(bytes.Clone(body), 'x'), "other": bytes.ToUpper(body)} {
		if err := s.Write(b, bytes.NewReader(wrong)); !errors.Is(err, errDamaged) || s.Has(b) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Write(b, bytes.NewReader(body)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, unfinished+"1"), body, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = OpenStore(dir); err != nil || !s.Has(b) {
		t.Fatalf("opened again: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, unfinished+"*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if err := os.WriteFile(s.path(b.Sum), bytes.ToUpper(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(b); !errors.Is(err, ErrAbsent) || s.Has(b) {
		t.Errorf("a damaged one: %v", err)
	}
}
