package world

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"time"

	"rampart/transport"
	"rampart/transport/memnet"
)

// Timers of a bubble that fire at the same moment do so in an order that the runtime draws, and so does Go walk through maps and
// choose among channels that are ready. A plain world therefore keeps apart what would come at the same moment, so that with
// one processor a seed decides about it.

// phase waits until processes of a plain world that tick alike do so at moments of their own.
func (w *World) phase(name string) {
	if !w.config.Plain {
		return
	}
	const step, of = 7919 * time.Nanosecond, 20 * time.Millisecond
	own := time.Duration(1+slices.Index(w.names(), name)) * step
	now := time.Duration(time.Now().UnixNano()) % of
	<-time.After((own - now + of) % of)
}

// turn is server.Outside's: Raft wakes those who ask the others in the order of a map, and each of them then draws how long it waits.
func (r *replica) turn(addr, what string) (done func()) {
	what = addr + " " + what
	<-time.After(time.Duration(digest(what)%turns) * turnEvery)
	return func() { r.w.chance(r.name + " " + what) }
}

// place waits until it is the turn of a job among those that start at the same moment.
func (w *World) place(job string) {
	if w.config.Plain {
		<-time.After(time.Duration(digest(job)%turns) * turnEvery)
	}
}

// Turns are places within a tenth of a millisecond.
const (
	turns     = 9973
	turnEvery = 11 * time.Nanosecond
)

func digest(what ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, what...)
	return h.Sum64()
}

// chance begins the draws anew that follow on something, by how often that has been.
func (w *World) chance(what string) {
	if w.config.Chance == nil {
		return
	}
	w.order.Lock()
	w.been[what]++
	n := w.been[what]
	w.order.Unlock()
	w.config.Chance(digest(w.config.Seed, what, n))
}

// late is how much longer than its time a probe takes of a plain world that fails.
const late = 53 * time.Nanosecond

// patient is the network of a host of a plain world. memberlist begins to suspect a member that it probes in vain at one of its ticks, if it
// waits for no answer over a stream any more, and declares it dead at another one: such a wait takes all its time here, and more.
type patient struct {
	*memnet.Host
	gossip string // the port
}

// probes is more time than memberlist has for a probe, however ill it believes itself, and less than for anything else.
const probes = 5 * time.Second

// Dial implements transport.Network.
func (p patient) Dial(ctx context.Context, address string) (net.Conn, error) {
	begun := time.Now()
	conn, err := p.Host.Dial(ctx, address)
	end, ok := ctx.Deadline()
	if _, port, _ := net.SplitHostPort(address); err == nil || port != p.gossip || !ok || end.Sub(begun) >= probes {
		return conn, err
	}
	<-ctx.Done()
	<-time.After(late)
	return nil, err
}

// outlet returns the network of a host.
func (w *World) outlet(h *memnet.Host) transport.Network {
	if !w.config.Plain {
		return h
	}
	_, port, _ := net.SplitHostPort(w.servers[0].config.Gossip)
	return patient{h, port}
}
