package state

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
)

// TestTx_DroppedLeavesNoTrace: transactions of one entry write to the same trees,
// and one that is not committed leaves them as they were, whatever it read and
// wrote; views that were published never change.
func TestTx_DroppedLeavesNoTrace(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, twin := NewStore(), NewStore() // the twin never sees what is dropped
		type published struct {
			view *View
			text string
		}
		var seen []published
		for index := range rapid.Uint64Range(1, 6).Draw(r, "entries") {
			s.Begin(index, 1, pbs.Time(index))
			twin.Begin(index, 1, pbs.Time(index))
			for range rapid.IntRange(1, 5).Draw(r, "transactions") {
				tx, other := s.Tx(), twin.Tx()
				commit := rapid.Bool().Draw(r, "commit")
				for range rapid.IntRange(0, 6).Draw(r, "writes") {
					write := drawWrite(r)
					write(tx)
					if commit {
						write(other)
					}
				}
				if commit {
					s.Commit(tx)
					twin.Commit(other)
				}
			}
			v := s.Publish()
			if got, want := dumped(v), dumped(twin.Publish()); got != want {
				r.Fatalf("the state is\n%s\nwant\n%s", got, want)
			}
			if err := v.Check(); err != nil {
				r.Fatal(err)
			}
			seen = append(seen, published{v, dumped(v)})
		}
		for _, p := range seen {
			if got := dumped(p.view); got != p.text {
				r.Fatalf("a view changed from\n%s\nto\n%s", p.text, got)
			}
		}
	})
}

// drawWrite draws what is done in the same way to one transaction or two.
func drawWrite(r *rapid.T) func(tx *Tx) {
	seq := rapid.Uint64Range(0, 5).Draw(r, "seq")
	id := pbs.NewJobID(seq, "srv")
	state := rapid.SampledFrom([]pbs.JobState{pbs.Queued, pbs.Queued, pbs.Held, pbs.Finished}).Draw(r, "state")
	comment := rapid.SampledFrom([]string{"", "no cpus (R: 1)", "no cpus (R: 2)", "no"}).Draw(r, "comment")
	return rapid.SampledFrom([]func(tx *Tx){
		func(tx *Tx) {
			tx.EditCluster().NextJob = 9
			tx.PutQueue(&Queue{Name: "workq"})
			tx.PutJob(&Job{ID: id, Seq: seq, State: state, Comment: comment, Queue: "workq", Priority: int32(seq % 2)})
		},
		func(tx *Tx) { tx.DeleteJob(id) },
		func(tx *Tx) { tx.PutScript(Script{Job: id, Body: []byte(comment)}) },
		func(tx *Tx) { tx.Remember(&Request{ID: pbs.RequestID(comment)}) },
		func(tx *Tx) { tx.Order(Order{Host: "h", Job: id}) },
		func(tx *Tx) { // writes to the table that it walks
			want, walked := tx.JobCount(), 0
			defer func() {
				if walked != want {
					r.Fatalf("a walk over %d jobs saw %d", want, walked)
				}
			}()
			for j := range tx.Jobs() {
				walked++
				next := *j
				next.Comment += "."
				tx.PutJob(&next)
				if next.Seq <= seq {
					tx.DeleteJob(next.ID)
				}
			}
		},
	}).Draw(r, "write")
}

func dumped(v *View) string {
	text := fmt.Sprintf("digest %x\n", v.Digest())
	for _, s := range v.Sections() {
		for rec := range s.Records {
			text += fmt.Sprintf("%d %+v\n", s.Tag, rec)
		}
	}
	for c, j := range v.Classes() {
		text += fmt.Sprintf("%+v:", *c)
		for ok := true; ok; j, ok = v.NextOf(c, j) {
			text += " " + string(j.ID)
		}
		text += "\n"
	}
	return text
}

// TestClasses: every queued job is in one class, in the order of Before.
func TestClasses(t *testing.T) {
	s := NewStore()
	s.Begin(1, 1, 1)
	tx := s.Tx()
	put := func(seq uint64, sel, request string, priority int32) {
		j := &Job{ID: pbs.NewJobID(seq, "srv"), Seq: seq, State: pbs.Queued, SchedSelect: sel, Priority: priority}
		if request != "" {
			tx.SetWait(j, Wait{Code: WaitShort, Resource: "ncpus", Request: request})
		}
		tx.PutJob(j)
	}
	put(0, "1:ncpus=1", "1", 0)
	put(1, "1:ncpus=2", "", 0)
	put(2, "1:ncpus=1", "2", 0)
	put(3, "1:ncpus=1", "2", 7)
	put(4, "1:ncpus=1", "", 0)
	put(4, "1:ncpus=1", "3", 0)
	s.Commit(tx)
	var got []string
	v := s.Publish()
	for c, j := range v.Classes() {
		line := c.Select + " " + c.Wait.Resource + ":"
		for ok := true; ok; j, ok = v.NextOf(c, j) {
			line += " " + j.ID.Number()
		}
		got = append(got, line)
	}
	if want := []string{"1:ncpus=1 ncpus: 3 0 2 4", "1:ncpus=2 : 1"}; !slices.Equal(got, want) {
		t.Errorf("classes are %q, want %q", got, want)
	}
}

// TestTables_DisownAll: a tree that disown forgot would change under its readers.
func TestTables_DisownAll(t *testing.T) {
	tabs := newTables()
	owned := func(set bool) (names []string) {
		v := reflect.ValueOf(&tabs).Elem()
		for i := range v.NumField() {
			f := v.Field(i)
			if f.Kind() != reflect.Struct || !f.FieldByName("owned").IsValid() {
				continue
			}
			flag := (*bool)(f.FieldByName("owned").Addr().UnsafePointer())
			if *flag = *flag || set; *flag {
				names = append(names, v.Type().Field(i).Name)
			}
		}
		return names
	}
	if n := len(owned(true)); n < 19 {
		t.Fatalf("the test finds %d trees", n)
	}
	tabs.disown()
	if still := owned(false); len(still) > 0 {
		t.Errorf("still owned: %v", still)
	}
}
