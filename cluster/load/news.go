package load

import (
	"container/list"
	"slices"
	"time"

	"rampart/fsm/pbs"
)

// news are the hosts of which something else holds than before, in the order in which that came about.
type news struct {
	of    []pbs.HostName
	count uint64    // how many there were in all
	heard list.List // of *heard: those of which something holds, the one first that was not heard of for the longest time
}

// mostNews bounds what is remembered of that: whoever asks less often looks at all hosts.
const mostNews = 1 << 14

func (n *news) add(host pbs.HostName) {
	if len(n.of) >= 2*mostNews {
		n.of = n.of[:copy(n.of, n.of[len(n.of)-mostNews:])]
	}
	n.of = append(n.of, host)
	n.count++
}

// hears notes that a host was heard of just now.
func (n *news) hears(h *heard) {
	switch {
	case h.report == nil:
	case h.place == nil:
		h.place = n.heard.PushBack(h)
		n.add(h.host)
	default:
		n.heard.MoveToBack(h.place)
	}
}

// lapse finds the hosts of which nothing holds any more since they were not heard of lately.
func (n *news) lapse(now time.Time) {
	for e := n.heard.Front(); e != nil; e = n.heard.Front() {
		h := e.Value.(*heard)
		if h.holds(now) {
			return
		}
		n.heard.Remove(e)
		h.place = nil
		n.add(h.host)
	}
}

// forget has nobody know what was before.
func (n *news) forget() {
	n.of, n.count = nil, n.count+1
	n.heard.Init()
}

// holds reports whether what a host has said still holds at a time.
func (h *heard) holds(now time.Time) bool { return h.report != nil && now.Sub(h.at) <= silent }

// Since returns the hosts of which something else holds, or nothing any more, than when the table had changed so many times, and how many
// times it has changed by now; false: it may be any of them. A host may be named more than once.
func (t *Table) Since(changes uint64) (hosts []pbs.HostName, now uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := &t.news
	n.lapse(time.Now())
	if changes > n.count || n.count-changes > uint64(len(n.of)) {
		return nil, n.count, false
	}
	return slices.Clone(n.of[len(n.of)-int(n.count-changes):]), n.count, true
}
