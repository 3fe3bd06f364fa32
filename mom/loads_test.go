package mom

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rampart/mom/load"
	"rampart/transport/api"
)

// TestLoads: the servers are told of the load when they know nothing, then of what has moved, as often as they wish.
func TestLoads(t *testing.T) {
	const now, seldom, often = api.LoadWish_LOAD_WISH_NOW, api.LoadWish_LOAD_WISH_SELDOM, api.LoadWish_LOAD_WISH_OFTEN
	var s loads
	at := time.Unix(1000, 0)
	after := func(d time.Duration) time.Time {
		at = at.Add(d)
		return at
	}
	told := func(d time.Duration, wish api.LoadWish) int {
		msg := s.due(after(d))
		if s.answered(msg, wish, at) && msg != nil {
			t.Errorf("a renewal at once, for what was told just now")
		}
		return len(msg.GetIndices())
	}
	if n := told(0, now); n != 0 {
		t.Errorf("before anything is known: %d", n)
	}
	if !s.set(kernel, load.Values{"r1m": 1, "mem": 100}, at) {
		t.Error("the first values wait")
	}
	if n := told(0, seldom); n != 2 {
		t.Errorf("the first values: %d", n)
	}
	if s.set(kernel, load.Values{"r1m": 2, "mem": 100}, after(5*time.Second)) || told(0, seldom) != 0 {
		t.Error("a move that nobody goes by was told")
	}
	if n := told(time.Minute, often); n != 2 {
		t.Errorf("the move after a minute: %d", n)
	}
	if s.set(kernel, load.Values{"r1m": 2.05, "mem": 100}, after(5*time.Second)) || told(0, often) != 0 {
		t.Error("less than a step was told")
	}
	if !s.set(kernel, load.Values{"r1m": 2.5, "mem": 100}, after(5*time.Second)) || told(0, often) != 2 {
		t.Error("a step was not told")
	}
	if s.set(kernel, load.Values{"r1m": 3, "mem": 100}, after(time.Second)) {
		t.Error("told at once again within the time of a renewal")
	}
	if told(0, often) != 2 {
		t.Error("a step does not go with the next renewal")
	}
	s.set(kernel, load.Values{"r1m": 3.05, "mem": 100}, at)
	if told(5*time.Second, often) != 0 || told(time.Minute, often) != 2 {
		t.Error("less than a step is told after a minute")
	}
	// Another leader knows nothing.
	if msg := s.due(after(time.Second)); msg != nil || !s.answered(msg, now, at) {
		t.Error("another leader waits for its time")
	}
	if n := told(0, seldom); n != 2 {
		t.Errorf("another leader is told %d", n)
	}
	// Somebody begins to go by it: what has moved meanwhile is told at once.
	s.set(kernel, load.Values{"r1m": 3, "mem": 50}, after(5*time.Second))
	if msg := s.due(at); msg != nil || !s.answered(msg, often, at) || told(0, often) != 2 {
		t.Error("who begins to go by load waits")
	}
	s.set(kernel, load.Values{"r1m": 3.05, "mem": 50}, at)
	// The site's program has the last word, and when it is gone the kernel's counts.
	s.set(elim, load.Values{"r1m": 9, "bandwidth": 5}, at)
	if n := told(time.Minute, often); n != 3 || s.told["r1m"] != 9 {
		t.Errorf("%d, %v", n, s.told)
	}
	s.set(elim, nil, after(5*time.Second))
	if n := told(0, often); n != 2 || s.told["r1m"] != 3.05 {
		t.Errorf("%d, %v", n, s.told)
	}
	// An older replica knows of no load.
	if told(time.Minute, 0); told(time.Minute, 0) != 0 {
		t.Error("an older replica is told")
	}
}

// A scripted program tells what it is sent, until it is ended.
type scripted struct {
	command string
	says    chan load.Values
}

func (s *scripted) Run(ctx context.Context, tell func(load.Values)) {
	for {
		select {
		case <-ctx.Done():
			return
		case v := <-s.says:
			tell(v)
		}
	}
}

// TestElim: what the program of $elim prints goes to the servers, and is taken back when the configuration has no program any more.
func TestElim(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		started := make(chan *scripted, 10)
		w.config.Elim = func(command string, _ func(string)) load.Source {
			s := &scripted{command, make(chan load.Values)}
			started <- s
			return s
		}
		w.servers.wish = api.LoadWish_LOAD_WISH_OFTEN
		config := filepath.Join(w.home, "mom_priv", "config")
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := w.mom.Reload(); err != nil {
				t.Fatal(err)
			}
			sleep(time.Second)
		}
		told := func() map[string]float64 {
			all := map[string]float64{}
			for _, x := range w.servers.load().GetIndices() {
				all[x.GetName()] = x.GetValue()
			}
			return all
		}
		w.up()
		write("$elim /site/elim -x\n")
		program := <-started
		program.says <- load.Values{"bandwidth": 2.5}
		sleep(2 * leaseEvery)
		if got := told(); program.command != "/site/elim -x" || !maps.Equal(got, map[string]float64{"bandwidth": 2.5}) {
			t.Errorf("%s: the servers know %v", program.command, got)
		}
		write("$elim /site/other\n")
		if again := <-started; again.command != "/site/other" {
			t.Errorf("started was %s", again.command)
		}
		sleep(2 * leaseEvery)
		if got := told(); len(got) != 0 {
			t.Errorf("a program that is gone still says %v", got)
		}
		write("")
		if err := new(settings).directive("$elim  "); err == nil || len(started) != 0 {
			t.Errorf("%v, %d started", err, len(started))
		}
	})
}
