package transport

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"rampart/fsm/pbs"
)

const (
	// smallBody is how much of a request is of no concern.
	smallBody = 256 << 10
	// userBodies is how much of one user's requests a process takes at a time, and allBodies that
	// of all together; one greater request goes alone, and leaves room for another user's.
	userBodies = 64 << 20
	allBodies  = 2*maxBody + userBodies
	// bodyPatience is how long a request waits for its turn: most of its body waits at its sender.
	bodyPatience = 5 * time.Second
)

// uploads bounds the bodies of requests that a process has in memory, before they are read.
type uploads struct {
	mu      sync.Mutex
	all     int64
	users   map[string]int64
	coming  map[*delivery]struct{} // bodies that have room and are read
	changed chan struct{}          // closed when something was given back
}

func newUploads() *uploads {
	return &uploads{users: make(map[string]int64), coming: make(map[*delivery]struct{}), changed: make(chan struct{})}
}

// errCrowded refuses a request whose turn did not come.
var errCrowded = pbs.Errorf(pbs.ResourceBusy, "too much is being sent at once: %d MiB of one user's requests are taken at a time, try again in a while", userBodies>>20)

// admit returns when a request may be read, and what ends its share. What it says to have is
// waited for here; of one that does not say, or is compressed, only when it proves to be long.
// By setDeadline reads of the body end at a time; nil: they do not.
func (u *uploads) admit(r *http.Request, c Caller, setDeadline func(time.Time) error) (release func(), err error) {
	if endless[r.URL.Path] || twoWay(r.URL.Path) || !strings.HasPrefix(r.URL.Path, rpcPrefix) {
		return func() {}, nil
	}
	who := c.User.Name + "@"
	if !c.Person() {
		who += string(c.Host)
	}
	if r.ContentLength >= 0 && !compressed(r.Header) {
		if r.ContentLength <= smallBody {
			return func() {}, nil
		}
		body := &delivery{ReadCloser: r.Body, setDeadline: setDeadline}
		release, err := u.wait(r.Context(), who, r.ContentLength, body)
		if err != nil { // whoever sends reads the refusal when he is done
			body.begin(r.ContentLength)
			_, _ = io.Copy(io.Discard, io.LimitReader(body, r.ContentLength))
		}
		r.Body = body
		if err != nil {
			return release, err
		}
		ctx, cancel := body.keep(r.Context())
		*r = *r.WithContext(ctx)
		return func() { release(); cancel() }, nil
	}
	coming := &delivery{ReadCloser: r.Body, setDeadline: setDeadline}
	body := &unsized{ReadCloser: coming, wait: func() (func(), error) { return u.wait(r.Context(), who, maxBody, coming) }}
	if compressed(r.Header) {
		body.read = smallBody // of what it becomes nothing is known
	}
	r.Body = body
	return body.end, nil
}

func compressed(h http.Header) bool {
	for _, name := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
		if v := h.Get(name); v != "" && v != "identity" {
			return true
		}
	}
	return false
}

// unsized is a body that is admitted when it is longer than most.
type unsized struct {
	io.ReadCloser
	wait func() (func(), error)

	mu      sync.Mutex
	read    int64
	ended   bool
	release func()
}

// Read implements io.Reader. Whoever passes a body on may read when its request has ended.
func (b *unsized) Read(p []byte) (int, error) {
	if err := b.admit(); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read += int64(n)
	return n, err
}

func (b *unsized) admit() error {
	b.mu.Lock()
	wait := b.read >= smallBody && b.release == nil && !b.ended
	b.mu.Unlock()
	if !wait {
		return nil
	}
	release, err := b.wait()
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.release = release; b.ended {
		release()
	}
	return nil
}

func (b *unsized) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended = true; b.release != nil {
		b.release()
	}
}

// wait returns when there is room for a body, and what gives it back. Those that come slowly make
// room.
func (u *uploads) wait(ctx context.Context, who string, size int64, d *delivery) (release func(), err error) {
	patience := time.NewTimer(bodyPatience)
	defer patience.Stop()
	look := time.NewTicker(bodyLooks)
	defer look.Stop()
	for {
		ok, changed := u.take(who, size, d)
		if ok {
			return sync.OnceFunc(func() { u.give(who, size, d) }), nil
		}
		u.hurry()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-patience.C:
			return nil, errCrowded
		case <-look.C:
		case <-changed:
		}
	}
}

func (u *uploads) take(who string, size int64, d *delivery) (ok bool, changed <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	fits := func(used, most int64) bool { return used == 0 || used+size <= most }
	if !fits(u.users[who], userBodies) || !fits(u.all, allBodies) {
		return false, u.changed
	}
	u.users[who] += size
	u.all += size
	u.coming[d] = struct{}{}
	d.begin(size)
	return true, nil
}

// hurry ends the bodies that come slowly: somebody waits for their room.
func (u *uploads) hurry() {
	u.mu.Lock()
	all := slices.Collect(maps.Keys(u.coming))
	u.mu.Unlock()
	for _, d := range all {
		d.hurry()
	}
}

func (u *uploads) give(who string, size int64, d *delivery) {
	d.end()
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.coming, d)
	u.all -= size
	if u.users[who] -= size; u.users[who] == 0 {
		delete(u.users, who)
	}
	close(u.changed)
	u.changed = make(chan struct{})
}
