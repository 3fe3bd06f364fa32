package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"rampart/chaos/check"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/client"
)

func TestDraw(t *testing.T) {
	p := Plan{Clients: 3, Ops: 50, Pause: time.Second, Longest: time.Second, Mix: []Share{{check.Delete, 20}, {check.List, 30}}}
	draw := func(seed uint64) [][]Step { return p.Draw(rand.New(rand.NewPCG(seed, 1))) }
	if !reflect.DeepEqual(draw(1), draw(1)) || reflect.DeepEqual(draw(1), draw(2)) {
		t.Error("a seed must decide the plan")
	}
	names, kinds := make(map[string]bool), make(map[check.Kind]int)
	for _, steps := range draw(1) {
		for _, s := range steps {
			if names[s.Name] {
				t.Errorf("%s is there twice", s.Name)
			}
			names[s.Name] = true
			kinds[s.Kind]++
		}
	}
	for k, least := range map[check.Kind]int{check.Submit: 40, check.Delete: 10, check.List: 20} {
		if kinds[k] < least {
			t.Errorf("%d of %s, want at least %d", kinds[k], k, least)
		}
	}
}

// Reservations are of times, of hosts and of jobs, and altered in each way.
func TestDraw_Bookings(t *testing.T) {
	p := Plan{Clients: 3, Ops: 60, Pause: time.Second, Longest: time.Second, Lasting: 5, Mix: []Share{{check.Reserve, 50}, {check.AlterReservation, 30}, {check.MoveInside, 20}}}
	drawn := make(map[string]int)
	for seed := range uint64(10) {
		for _, steps := range p.Draw(rand.New(rand.NewPCG(seed, 1))) {
			for _, s := range steps {
				switch s.Kind {
				case check.Reserve:
					drawn[fmt.Sprintf("of %q", s.Book.Of)]++
					if s.Book.Of == check.OfHosts && (len(s.Book.Hosts) == 0 || s.Book.Times > 1) {
						t.Errorf("hosts %v, %d times", s.Book.Hosts, s.Book.Times)
					}
				case check.AlterReservation:
					drawn[fmt.Sprintf("later %t, by force %t", s.Book.Later, s.Book.Force)]++
				case check.MoveInside:
					drawn[fmt.Sprintf("moved, with a walltime %t", s.Lasting > 0)]++
				}
			}
		}
	}
	if len(drawn) != 4+4+2 {
		t.Errorf("drawn are %v", drawn)
	}
	for what, n := range drawn {
		if n < 10 {
			t.Errorf("%s: %d", what, n)
		}
	}
}

// A run of few requests must not say nothing because chance drew no list.
func TestDraw_ListsAndLooks(t *testing.T) {
	p := Plan{Clients: 1, Ops: 26, Pause: time.Second, Longest: time.Second, Mix: []Share{{check.List, 1}, {check.Look, 1}}}
	for seed := range uint64(100) {
		kinds := make(map[check.Kind]int)
		for _, s := range p.Draw(rand.New(rand.NewPCG(seed, 1)))[0] {
			kinds[s.Kind]++
		}
		if kinds[check.List] < 2 || kinds[check.Look] < 3 {
			t.Fatalf("seed %d: %d lists and %d looks of 26 requests", seed, kinds[check.List], kinds[check.Look])
		}
	}
}

// What a client may conclude from an error must never be more than is true.
func TestOutcome(t *testing.T) {
	for _, test := range []struct {
		err  error
		want check.Outcome
	}{
		{nil, check.Done},
		{pbs.Refuse(pbs.UnknownJob), check.Refused},
		{fmt.Errorf("delete: %w", pbs.Refuse(pbs.HasFinished)), check.Refused},
		{transport.UnknownResult("id"), check.Unknown},
		{pbs.Refuse(pbs.SystemError), check.Unknown},
		{pbs.Errorf(pbs.InternalError, "Response timed out. Job rerun request still in progress for"), check.Unknown},
		{errors.New("stream broke"), check.Unknown},
		{pbs.Refuse(pbs.NoQuorum), check.Failed},
		{fmt.Errorf("%w: refused", client.ErrUnreachable), check.Failed},
	} {
		if got := outcome(test.err); got != test.want {
			t.Errorf("%v means %s, want %s", test.err, got, test.want)
		}
	}
}
