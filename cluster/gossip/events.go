package gossip

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/memberlist"
)

// A Kind says what happened to a member.
type Kind uint8

// The kinds of events.
const (
	Joined   Kind = iota + 1 // it is there, for the first time or again
	Gone                     // nobody hears it
	Rebooted                 // it was there all the time, but its boot id is another
)

// String returns the name of the kind.
func (k Kind) String() string {
	return [...]string{"none", "joined", "gone", "rebooted"}[k]
}

// An Event is a hint about another member.
type Event struct {
	Kind    Kind
	Name    string
	Address string
	Meta    Meta
}

// events carries what memberlist tells to the reader of out. memberlist calls
// with its locks held and must never wait, so what is not read yet is kept, one
// event for each member.
type events struct {
	self string
	out  chan Event
	wake chan struct{}

	mu      sync.Mutex        // the maps are by MemberName
	boot    map[string]string // of the members that are there
	present map[string]Member // ourselves included
	gone    map[string]string // roles of those that were there
	pending map[string]Event
	order   []string // ids in pending, oldest first
}

func newEvents(self string) *events {
	return &events{
		self: self, out: make(chan Event), wake: make(chan struct{}, 1),
		boot: make(map[string]string), present: make(map[string]Member), gone: make(map[string]string), pending: make(map[string]Event),
	}
}

// NotifyJoin implements memberlist.EventDelegate.
func (e *events) NotifyJoin(n *memberlist.Node) { e.add(Joined, n) }

// NotifyLeave implements memberlist.EventDelegate.
func (e *events) NotifyLeave(n *memberlist.Node) { e.add(Gone, n) }

// NotifyUpdate implements memberlist.EventDelegate.
func (e *events) NotifyUpdate(n *memberlist.Node) { e.add(Rebooted, n) }

// note keeps who is there: the nodes that memberlist itself lists change under
// their readers' hands.
func (e *events) note(kind Kind, id string, m Member) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if kind == Gone {
		delete(e.present, id)
		e.gone[id] = m.Meta.Role
	} else {
		e.present[id] = m
		delete(e.gone, id)
	}
}

// standing is what members are counted by.
type standing struct{ role, state string }

// count returns how many members of a role are there, and how many are gone.
func (e *events) count() map[standing]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := make(map[standing]int)
	for _, role := range []string{"replica", "mom"} {
		n[standing{role, "alive"}], n[standing{role, "gone"}] = 0, 0
	}
	for _, m := range e.present {
		n[standing{m.Meta.Role, "alive"}]++
	}
	for _, role := range e.gone {
		n[standing{role, "gone"}]++
	}
	return n
}

// members returns those that are there, in no order.
func (e *events) members() []Member {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.present))
}

func (e *events) add(kind Kind, n *memberlist.Node) {
	m := Member{Name: hostOf(n.Name), Address: n.Address(), Meta: decodeMeta(n.Meta)}
	e.note(kind, n.Name, m)
	if n.Name == e.self {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if kind == Rebooted && e.boot[n.Name] == m.Meta.BootID {
		return // something else in its metadata
	}
	if kind == Gone {
		delete(e.boot, n.Name)
	} else {
		e.boot[n.Name] = m.Meta.BootID
	}
	e.put(n.Name, Event{Kind: kind, Name: m.Name, Address: m.Address, Meta: m.Meta})
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// put keeps ev as the latest about its member. A reboot does not hide a join
// that nobody read: that event takes the new boot id instead. Caller holds mu.
func (e *events) put(id string, ev Event) {
	old, waits := e.pending[id]
	if !waits {
		e.order = append(e.order, id)
	}
	if waits && old.Kind == Joined && ev.Kind == Rebooted {
		ev.Kind = Joined
	}
	e.pending[id] = ev
}

func (e *events) take() (Event, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.order) == 0 {
		return Event{}, false
	}
	ev := e.pending[e.order[0]]
	delete(e.pending, e.order[0])
	e.order = e.order[1:]
	return ev, true
}

// pump hands events to the reader until ctx ends.
func (e *events) pump(ctx context.Context) {
	for {
		ev, ok := e.take()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-e.wake:
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case e.out <- ev:
		}
	}
}
