package spool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rampart/fsm/pbs"
)

func open(t *testing.T, o Options) *Spool {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func key(job string, run pbs.RunCount) TaskKey { return TaskKey{Job: pbs.JobID(job), Run: run} }

type record struct{ Text string }

func TestOpen_IDIsRandomAndStays(t *testing.T) {
	home := t.TempDir()
	first := open(t, Options{Home: home})
	if again := open(t, Options{Home: home}); again.ID() != first.ID() || len(first.ID()) != 32 {
		t.Errorf("ids %q and %q", first.ID(), again.ID())
	}
	if other := open(t, Options{Home: t.TempDir()}); other.ID() == first.ID() {
		t.Error("two spools have one id")
	}
}

func TestTasks_SavedListedDropped(t *testing.T) {
	s := open(t, Options{Home: t.TempDir()})
	k := key("12[3].srv.example.org", 2)
	for i, text := range []string{"one", "two"} {
		if err := s.SaveTask(k, record{text}, i == 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.TaskDir(key("13.srv", 1)), 0o700); err != nil {
		t.Fatal(err) // a crash before the first record: the order comes again
	}
	all, err := s.Tasks()
	if err != nil || len(all) != 1 || all[0].Key != k || string(all[0].Data) != `{"Text":"two"}` {
		t.Fatalf("tasks %+v, %v", all, err)
	}
	if err := os.WriteFile(filepath.Join(s.TaskDir(k), taskFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err = s.Tasks(); err != nil || len(all) != 1 || all[0].Data != nil {
		t.Errorf("spoilt record: %+v, %v", all, err)
	}
	if err := s.Drop(k); err != nil {
		t.Fatal(err)
	}
	if all, err = s.Tasks(); err != nil || len(all) != 0 {
		t.Errorf("after drop: %+v, %v", all, err)
	}
}

func TestTasks_LastWholeLineCounts(t *testing.T) {
	s := open(t, Options{Home: t.TempDir(), NoSync: true})
	k := key("1.srv", 1)
	long := strings.Repeat("x", compactAt/8)
	for i := range 30 {
		if err := s.SaveTask(k, record{fmt.Sprint(i, " ", long)}, i == 0); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(s.TaskDir(k), taskFile)
	data, err := os.ReadFile(path)
	if err != nil || len(data) > 2*compactAt {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if err := os.WriteFile(path, data[:len(data)-1-len(long)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	var r record
	all, err := s.Tasks()
	if err != nil || len(all) != 1 || json.Unmarshal(all[0].Data, &r) != nil || !strings.HasPrefix(r.Text, "28 ") {
		t.Errorf("read %.20s, %v", r.Text, err)
	}
	if err := s.Drop(k); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveTask(k, record{"late"}, false); err == nil {
		t.Error("a dropped task was saved")
	}
}

func TestFacts_NumbersAreContiguousAcrossRestarts(t *testing.T) {
	home := t.TempDir()
	s := open(t, Options{Home: home})
	for i := range 3 {
		f := Fact{Task: key(fmt.Sprintf("%d.srv", i), 1), Ended: &Ended{ExitStatus: i}}
		for range 2 { // a task that repeats itself
			if err := s.Append(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if facts, _ := s.Pending(2); len(facts) != 2 || facts[0].Seq != 1 || facts[1].Seq != 2 {
		t.Fatalf("pending %+v", facts)
	}
	if err := s.Acknowledge(3); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Home: home})
	if err := s.Acknowledge(3); err != nil {
		t.Fatal(err)
	}
	if facts, _ := s.Pending(9); len(facts) != 0 {
		t.Errorf("acknowledged facts came back: %+v", facts)
	}
	for i := range 2 {
		if err := s.Append(Fact{Task: key(fmt.Sprintf("%d.srv", 10+i), 1), Started: &Started{Session: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	if facts, _ := s.Pending(9); len(facts) != 2 || facts[0].Seq != 4 || facts[1].Seq != 5 {
		t.Errorf("after a restart: %+v", facts)
	}
	if err := s.Acknowledge(9); err == nil {
		t.Error("an old copy of the spool was not noticed")
	}
}

func TestFacts_TornTailIsCut(t *testing.T) {
	home := t.TempDir()
	s := open(t, Options{Home: home})
	for i := range 2 {
		if err := s.Append(Fact{Task: key(fmt.Sprintf("%d.srv", i), 1), Started: &Started{Session: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(home, "mom_priv", "reports", segment(1))
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first := strings.IndexByte(string(whole), '\n') + 1
	for n := range whole {
		if err := os.WriteFile(name, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, Options{Home: home, NoSync: true})
		want := 0
		if n >= first {
			want = 1
		}
		if facts, _ := s.Pending(9); len(facts) != want {
			t.Fatalf("cut at %d: %d facts, want %d", n, len(facts), want)
		}
		if err := s.Append(Fact{Task: key("9.srv", 1), Started: &Started{}}); err != nil {
			t.Fatal(err)
		}
		if facts, _ := open(t, Options{Home: home}).Pending(9); len(facts) != want+1 || facts[want].Task.Job != "9.srv" {
			t.Fatalf("cut at %d, then one more: %+v", n, facts)
		}
	}
}

func TestFacts_ManyAtOnceShareSyncs(t *testing.T) {
	home := t.TempDir()
	syncs := 0
	s := open(t, Options{Home: home, NoSync: true, Fault: func(step Step, _ string) error {
		if step == Sync {
			syncs++
		}
		return nil
	}})
	var wg sync.WaitGroup
	const n = 200
	for i := range n {
		wg.Go(func() {
			if err := s.Append(Fact{Task: key(fmt.Sprintf("%d.srv", i), 1), Ended: &Ended{}}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	facts, _ := open(t, Options{Home: home}).Pending(2 * n)
	if len(facts) != n || facts[n-1].Seq != n {
		t.Errorf("%d facts on disk", len(facts))
	}
	t.Logf("%d facts with %d syncs", n, syncs)
}

func TestFacts_JournalShrinks(t *testing.T) {
	home := t.TempDir()
	s := open(t, Options{Home: home, NoSync: true})
	long := strings.Repeat("x", shrinkAt/4)
	for i := range 5 {
		if err := s.Append(Fact{Task: key(fmt.Sprintf("%d.srv", i), 1), Ended: &Ended{Comment: long}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Acknowledge(5); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(home, "mom_priv", "reports", "*"))
	if len(files) != 1 || filepath.Base(files[0]) != segment(6) {
		t.Errorf("files %v", files)
	}
	s = open(t, Options{Home: home})
	if err := s.Append(Fact{Task: key("9.srv", 1), Started: &Started{}}); err != nil {
		t.Fatal(err)
	}
	if facts, _ := s.Pending(9); len(facts) != 1 || facts[0].Seq != 6 {
		t.Errorf("facts %+v", facts)
	}
}

// That a fact was sent says nothing: it stays until a commit has it (L9).
func TestPending_StaysUntilAcknowledged(t *testing.T) {
	s := open(t, Options{Home: t.TempDir()})
	for _, job := range []string{"1.srv", "2.srv"} {
		if err := s.Append(Fact{Task: key(job, 1), Started: &Started{}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if facts, _ := s.Pending(9); len(facts) != 2 || facts[0].Seq != 1 {
			t.Fatalf("pending %+v", facts)
		}
	}
	if err := s.Acknowledge(1); err != nil {
		t.Fatal(err)
	}
	if facts, _ := s.Pending(9); len(facts) != 1 || facts[0].Seq != 2 {
		t.Errorf("after the first was acknowledged: %+v", facts)
	}
}

// A fact that is repeated is one; that files go is another one than that the last hooks run.
func TestFacts_Repeated(t *testing.T) {
	s := open(t, Options{Home: t.TempDir()})
	for _, hooks := range []bool{true, false, true, false} {
		if err := s.Append(Fact{Task: key("1.srv", 1), Exiting: &Exiting{Hooks: hooks}}); err != nil {
			t.Fatal(err)
		}
	}
	if facts, _ := s.Pending(9); len(facts) != 2 || !facts[0].Exiting.Hooks || facts[1].Exiting.Hooks {
		t.Errorf("pending %+v", facts)
	}
}

func TestPending_WakesAtTheNextFact(t *testing.T) {
	s := open(t, Options{Home: t.TempDir()})
	_, more := s.Pending(1)
	if err := s.Append(Fact{Task: key("1.srv", 1), Started: &Started{}}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-more:
	default:
		t.Error("nobody was woken")
	}
}

func TestOrders_AnswersEpochTermLowest(t *testing.T) {
	home := t.TempDir()
	s := open(t, Options{Home: home})
	step := func(name string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	step("before the registration", s.Orders(7, 1, 1), ErrNewEpoch)
	step("enter", s.EnterEpoch(7), nil)
	step("first", s.Orders(7, 3, 1), nil)
	step("answer", s.Answer(7, map[uint64]*Refusal{1: nil, 2: {Code: 15016, Message: "no"}}, NoneOpen), nil)
	step("earlier term", s.Orders(7, 2, 1), ErrOldTerm)
	s = open(t, Options{Home: home})
	if r, answered, forgotten := s.Answered(2); !answered || forgotten || r == nil || r.Code != 15016 {
		t.Errorf("answer after a restart: %v %v %v", r, answered, forgotten)
	}
	if r, answered, _ := s.Answered(1); !answered || r != nil {
		t.Errorf("accepted order after a restart: %v %v", r, answered)
	}
	step("the first is confirmed", s.Orders(7, 3, 2), nil)
	if _, answered, forgotten := s.Answered(1); answered || !forgotten {
		t.Error("a confirmed order is not forgotten")
	}
	step("a late delivery", s.Orders(7, 3, 1), nil)
	s = open(t, Options{Home: home})
	if _, _, forgotten := s.Answered(1); !forgotten {
		t.Error("the lowest open order was forgotten")
	}
	step("earlier term after a restart", s.Orders(7, 2, 1), ErrOldTerm)
	step("new epoch", s.EnterEpoch(8), nil)
	step("orders of the old epoch", s.Orders(7, 3, 2), ErrNewEpoch)
	step("orders of the new epoch", s.Orders(8, 1, 1), nil)
	if _, answered, forgotten := s.Answered(2); answered || forgotten {
		t.Error("an answer of the old epoch was given in the new one")
	}
}

// TestCrash_EveryPoint strikes at every step of every change: what was there before
// stays, or the change is there as a whole, and the spool opens again.
func TestCrash_EveryPoint(t *testing.T) {
	changes := map[string]func(*Spool) error{
		"order":  func(s *Spool) error { return s.SaveTask(key("1.srv", 1), record{"new"}, true) },
		"task":   func(s *Spool) error { return s.SaveTask(key("1.srv", 1), record{"new"}, false) },
		"fact":   func(s *Spool) error { return s.Append(Fact{Task: key("1.srv", 1), Ended: &Ended{ExitStatus: 1}}) },
		"answer": func(s *Spool) error { return s.Answer(7, map[uint64]*Refusal{1: nil}, NoneOpen) },
		"drop":   func(s *Spool) error { return s.Drop(key("1.srv", 1)) },
		"script": func(s *Spool) error {
			return s.SaveScript(key("1.srv", 1), func(w io.Writer) error {
				_, err := io.WriteString(w, "ne")
				_, more := io.WriteString(w, "w")
				return errors.Join(err, more)
			})
		},
	}
	crash := errors.New("crash")
	for name, change := range changes {
		for point := 0; ; point++ {
			home := t.TempDir()
			before := open(t, Options{Home: home, NoSync: true})
			if err := errors.Join(before.SaveTask(key("1.srv", 1), record{"old"}, true), before.EnterEpoch(7)); err != nil {
				t.Fatal(err)
			}
			seen, where := 0, ""
			ready := false
			s := open(t, Options{Home: home, NoSync: true, Fault: func(step Step, path string) error {
				if !ready {
					return nil
				}
				if seen++; seen == point+1 {
					where = fmt.Sprintf("%s of %s", step, filepath.Base(path))
				}
				if seen > point {
					return crash
				}
				return nil
			}})
			ready = true
			err := change(s)
			if where == "" {
				if err != nil {
					t.Errorf("%s without a crash: %v", name, err)
				}
				break
			}
			if !errors.Is(err, crash) {
				t.Errorf("%s at %s: %v", name, where, err)
			}
			checkWhole(t, name+" at "+where, home)
		}
	}
}

func checkWhole(t *testing.T, what, home string) {
	t.Helper()
	s, err := Open(Options{Home: home, NoSync: true})
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	tasks, err := s.Tasks()
	if err != nil || len(tasks) > 1 {
		t.Errorf("%s: tasks %v, %v", what, tasks, err)
	}
	for _, rec := range tasks {
		var r record
		if err := json.Unmarshal(rec.Data, &r); err != nil || r.Text != "old" && r.Text != "new" {
			t.Errorf("%s: record %q, %v", what, rec.Data, err)
		}
	}
	if s.Epoch() != 7 {
		t.Errorf("%s: epoch %d", what, s.Epoch())
	}
	facts, _ := s.Pending(9)
	for i, f := range facts {
		if f.Seq != uint64(i+1) || f.Ended == nil {
			t.Errorf("%s: facts %+v", what, facts)
		}
	}
	if err := s.Append(Fact{Task: key("2.srv", 1), Started: &Started{}}); err != nil {
		t.Errorf("%s: next fact: %v", what, err)
	}
	if next, _ := s.Pending(9); next[len(next)-1].Seq != uint64(len(facts)+1) {
		t.Errorf("%s: a gap in the numbers: %+v", what, next)
	}
}

func TestAnswered_PassedOverIsVoid(t *testing.T) {
	home := t.TempDir()
	s := open(t, Options{Home: home, NoSync: true})
	if err := errors.Join(s.EnterEpoch(7), s.Orders(7, 1, 1), s.Answer(7, map[uint64]*Refusal{1: nil, 3: nil}, NoneOpen)); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Home: home, NoSync: true})
	for order, want := range map[uint64]bool{1: false, 2: true, 3: false, 4: false} {
		if _, _, void := s.Answered(order); void != want {
			t.Errorf("order %d: void is %v", order, void)
		}
	}
	if err := s.EnterEpoch(8); err != nil {
		t.Fatal(err)
	}
	if _, _, void := s.Answered(2); void {
		t.Error("an order of the new epoch is void")
	}
}

func TestAnswer_FullDiskRemembersRefusals(t *testing.T) {
	full := false
	s := open(t, Options{Home: t.TempDir(), NoSync: true, Fault: func(Step, string) error {
		if full {
			return errors.New("no space")
		}
		return nil
	}})
	if err := s.EnterEpoch(7); err != nil {
		t.Fatal(err)
	}
	full = true
	if err := s.Answer(7, map[uint64]*Refusal{1: nil, 2: {Message: "no"}}, NoneOpen); err == nil {
		t.Error("a full disk was not told")
	}
	if _, answered, void := s.Answered(1); answered || void {
		t.Error("an acceptance is remembered that is not on disk, or cannot come again")
	}
	if _, answered, _ := s.Answered(2); !answered {
		t.Error("the refusal is not remembered")
	}
}

func TestNodeFile_WorldReadable(t *testing.T) {
	s := open(t, Options{Home: t.TempDir()})
	if err := s.SaveNodeFile("1.srv", "hosta\n"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.NodeFile("1.srv"))
	if err != nil || info.Mode().Perm() != 0o644 || !strings.HasSuffix(s.NodeFile("1.srv"), "aux/1.srv") {
		t.Errorf("%v, %v", info, err)
	}
}

// TestSaveScript_Fails: a script that does not come whole leaves nothing behind, and it is known whose fault it was.
func TestSaveScript_Fails(t *testing.T) {
	refused, full := errors.New("refused"), errors.New("full")
	for name, c := range map[string]struct {
		at   Step
		want error
		disk bool
	}{
		"fetching fails": {"", refused, false}, "there is no room": {Write, full, true}, "it cannot be made": {Create, full, true}, "nor renamed": {Rename, full, true},
	} {
		struck := false
		s := open(t, Options{Home: t.TempDir(), Fault: func(step Step, _ string) error {
			if struck && step == c.at {
				return full
			}
			return nil
		}})
		k := key("1.srv", 1)
		if err := s.SaveTask(k, record{"x"}, true); err != nil {
			t.Fatal(err)
		}
		struck = true
		err := s.SaveScript(k, func(w io.Writer) error {
			if _, err := w.Write([]byte("half")); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			if c.at == "" {
				return refused
			}
			return nil
		})
		if !errors.Is(err, c.want) || errors.Is(err, ErrDisk) != c.disk {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := filepath.Glob(s.Script(k) + "*"); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", name, left, err)
		}
	}
}
