package spool

import (
	"errors"
	"os"
	"testing"
)

// An order that changes a task that is there costs one sync, whatever else is saved of it.
func TestDelivery_OneSync(t *testing.T) {
	syncs := 0
	s := open(t, Options{Home: t.TempDir(), NoSync: true, Fault: func(step Step, _ string) error {
		if step == Sync || step == SyncDir {
			syncs++
		}
		return nil
	}})
	k := key("1.srv", 1)
	if err := errors.Join(s.EnterEpoch(7), s.SaveTask(k, record{"accepted"}, true), s.SaveTask(k, record{"runs"}, false)); err != nil {
		t.Fatal(err)
	}
	syncs = 0
	if err := errors.Join(s.Orders(7, 2, 5), s.SaveTask(k, record{"released"}, true), s.Answer(7, map[uint64]*Refusal{5: nil}, NoneOpen)); err != nil {
		t.Fatal(err)
	}
	if syncs != 1 {
		t.Errorf("%d syncs, want 1", syncs)
	}
}

// What was remembered of orders and a crash of the host has torn is forgotten, and the spool is
// what it was.
func TestOpen_TornOrders(t *testing.T) {
	home := t.TempDir()
	s := open(t, Options{Home: home})
	if err := errors.Join(s.EnterEpoch(7), s.Orders(7, 3, 1), s.Answer(7, map[uint64]*Refusal{1: nil}, NoneOpen)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.recentPath())
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		if err := os.WriteFile(s.recentPath(), text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(t, Options{Home: home})
		if again.ID() != s.ID() || again.Epoch() != 7 {
			t.Fatalf("after %d bytes it is %s in epoch %d", n, again.ID(), again.Epoch())
		}
		if _, answered, _ := again.Answered(1); answered && n < len(text)-1 { // the last byte ends the line
			t.Fatalf("an answer was read of %d bytes of %d", n, len(text))
		}
	}
}
