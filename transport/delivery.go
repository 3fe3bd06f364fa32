package transport

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"rampart/fsm/pbs"
)

const (
	// bodyGrace is how long a body may take whatever its size. Then it has to come at slowestBody,
	// in bytes per second, and at briskBody as long as others wait for its room. For these its sender has the time in which it
	// is waited for: where it is passed on, whoever takes it may be who is slow.
	bodyGrace   = 30 * time.Second
	slowestBody = 256 << 10
	briskGrace  = 2 * time.Second
	briskBody   = 1 << 20
	// bodyLooks is how often who waits for room looks who comes slowly.
	bodyLooks = 500 * time.Millisecond
)

// errSlow ends a body that comes too slowly. It goes over the wire as it is: of other errors of a
// read Connect keeps the text alone. It is made when it is first needed, for commands start often.
var errSlow = sync.OnceValue(func() error {
	return toWire(pbs.Errorf(pbs.ResourceBusy, "the request came too slowly: %d KiB/s are the least for a large one, %d KiB/s while others wait; try again in a while", slowestBody>>10, briskBody>>10))
})

// A delivery is the body of a request that has room in memory and is being read.
type delivery struct {
	io.ReadCloser
	setDeadline func(time.Time) error // nil: reads cannot be ended

	mu      sync.Mutex
	began   time.Time     // zero: it has no room yet
	waited  time.Duration // since then, for its sender
	asked   time.Time     // since when its sender is waited for; zero: nobody reads
	read    int64
	ends    time.Time // when reads end
	over    bool      // all is read, or nobody reads any more
	hurried bool
}

// begin notes that a body of that size has room.
func (d *delivery) begin(size int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began, d.waited = time.Now(), 0
	d.endReadsLocked(d.began.Add(bodyGrace + time.Duration(size)*time.Second/slowestBody))
}

// Read implements io.Reader.
func (d *delivery) Read(p []byte) (int, error) {
	d.mu.Lock()
	d.asked = time.Now()
	d.mu.Unlock()
	n, err := d.ReadCloser.Read(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waited, d.asked = d.waited+time.Since(d.asked), time.Time{}
	d.read += int64(n)
	if err != nil && !d.over && !d.began.IsZero() {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			d.hurried = true
		}
		d.endLocked()
	}
	if err != nil && d.hurried && !errors.Is(err, io.EOF) {
		err = errSlow()
	}
	return n, err
}

// hurry ends the reads if the body has come slowly so far.
func (d *delivery) hurry() {
	d.mu.Lock()
	defer d.mu.Unlock()
	waited := d.waited
	if !d.asked.IsZero() {
		waited += time.Since(d.asked)
	}
	late := waited - briskGrace
	if d.over || d.hurried || d.began.IsZero() || late <= 0 || d.read >= int64(late.Seconds()*briskBody) {
		return
	}
	d.hurried = true
	d.endReadsLocked(time.Now())
}

func (d *delivery) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.endLocked()
}

// endLocked lifts the deadline: the connection may stay for the next request.
func (d *delivery) endLocked() {
	if d.over {
		return
	}
	d.over = true
	if !d.hurried {
		d.endReadsLocked(time.Time{})
	}
}

// keep returns the context of the request for whoever serves it: net/http cancels a request with the first read that
// fails, and the sender of one that came too slowly is to learn that.
func (d *delivery) keep(of context.Context) (ctx context.Context, cancel func()) {
	ctx, end := context.WithCancelCause(context.WithoutCancel(of))
	stop := context.AfterFunc(of, func() {
		d.mu.Lock()
		slow := d.hurried || !d.ends.IsZero() && !time.Now().Before(d.ends)
		d.mu.Unlock()
		if !slow {
			end(context.Cause(of))
		}
	})
	return ctx, func() { stop(); end(nil) }
}

func (d *delivery) endReadsLocked(at time.Time) {
	d.ends = at
	if d.setDeadline != nil {
		_ = d.setDeadline(at) // what cannot bound its reads does not
	}
}
