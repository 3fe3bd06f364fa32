package mom

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"rampart/mom/proc"
)

// A fence is the mom's hand on the deadline of its shims: it moves it forward with every
// renewal that was answered (L2). The file is the truth; shims and later moms read it.
type fence struct {
	path   string
	system proc.System

	mu   sync.Mutex
	most uint64        // lapse that was seen, should the file get lost
	last proc.Deadline // that was read or written; none without a boot id
	file proc.DeadlineFile
}

func (f *fence) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.file.Close()
}

// read returns the deadline of this boot of the host. Where there is none yet, one that
// has passed stands for it: nothing may run before a renewal was answered.
func (f *fence) read() proc.Deadline {
	d, err := proc.ReadDeadline(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && f.last.BootID != "" {
		d, err = f.last, nil // nobody else writes it: a host without descriptors must not end jobs
	}
	if err != nil || d.BootID != f.system.BootID() {
		return proc.Deadline{BootID: f.system.BootID(), Lapse: f.most, At: 1}
	}
	f.most, f.last = max(f.most, d.Lapse), d
	return d
}

// seen keeps numbers rising: a job was accepted under this one.
func (f *fence) seen(lapse uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.most = max(f.most, lapse)
}

// lapse returns the number under which a job may be accepted now; ok is false when the
// deadline has passed and none may.
func (f *fence) lapse() (n uint64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.read()
	return d.Lapse, !d.Passed(f.system.Now())
}

// ended returns the number below which no job may live: after a deadline has passed it is the
// number of the next.
func (f *fence) ended() uint64 {
	n, ok := f.lapse()
	if !ok {
		n++
	}
	return n
}

// held returns the seconds from a renewal to the deadline, 0 when there is none.
func (f *fence) held() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(f.read().Fence / time.Second)
}

// renew moves the deadline to the sending of the renewal plus the fence; 0 lifts it. A
// deadline goes back only when the fence has become shorter. It is called when the
// answer has come, and reports lapsed when the deadline had passed by then: the leader
// may have given up what ran here before.
func (f *fence) renew(sent, length time.Duration) (lapsed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.read()
	next := proc.Deadline{BootID: old.BootID, Lapse: old.Lapse, Fence: length}
	if length > 0 {
		next.At = sent + length
	}
	switch {
	case old.Passed(f.system.Now()):
		lapsed = true
		next.Lapse++
	case length == old.Fence && old.At > next.At: // an answer that was overtaken
		next.At = old.At
	}
	err = f.file.Write(f.path, next)
	if err == nil {
		f.last = next
	}
	return lapsed, err
}
