package state

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"pgregory.net/rapid"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// What is known of promises is what the reservations say, whatever became of them.
func TestProperty_Promises(t *testing.T) {
	vnodes := []pbs.VnodeName{"a", "b", "c"}
	rapid.Check(t, func(r *rapid.T) {
		s := NewStore()
		r.Repeat(map[string]func(*rapid.T){
			"put": func(r *rapid.T) {
				tx := s.Tx()
				resv := &Reservation{Seq: rapid.Uint64Range(1, 4).Draw(r, "seq"), Length: pbs.Time(rapid.IntRange(1, 20).Draw(r, "length"))}
				resv.ID = pbs.NewReservationID('S', resv.Seq, "srv")
				at := pbs.Time(rapid.IntRange(0, 50).Draw(r, "start"))
				for n := range rapid.IntRange(1, 4).Draw(r, "occurrences") {
					nodes := ""
					for range rapid.IntRange(0, 3).Draw(r, "chunks") {
						nodes += fmt.Sprintf("+(%s:ncpus=%d)", rapid.SampledFrom(vnodes).Draw(r, "vnode"), rapid.IntRange(1, 3).Draw(r, "ncpus"))
					}
					resv.Occurrences = append(resv.Occurrences, Occurrence{Start: at, Nodes: nodesOf(strings.TrimPrefix(nodes, "+"))})
					if n == 0 { // which an alteration may have made longer than the others
						resv.Start, resv.End = at, at+pbs.Time(rapid.IntRange(1, 60).Draw(r, "first"))
					}
					at += pbs.Time(rapid.IntRange(-5, 30).Draw(r, "apart"))
				}
				tx.PutReservation(resv)
				if rapid.Bool().Draw(r, "taken back") {
					return
				}
				s.Commit(tx)
			},
			"delete": func(r *rapid.T) {
				tx := s.Tx()
				for resv := range tx.Reservations() {
					if rapid.Bool().Draw(r, "delete") {
						tx.DeleteReservation(resv)
						break
					}
				}
				s.Commit(tx)
			},
			"": func(r *rapid.T) {
				v := s.Publish()
				from := pbs.Time(rapid.IntRange(0, 100).Draw(r, "from"))
				until := from + pbs.Time(rapid.IntRange(1, 50).Draw(r, "long"))
				var all []string
				for _, name := range vnodes {
					want := promisedOf(v, name)
					all = append(all, texts(want)...)
					if got := texts(slices.Collect(v.PromisesOf(name))); !slices.Equal(got, texts(want)) {
						r.Fatalf("of %s\n%v, want\n%v", name, got, texts(want))
					}
					in := slices.DeleteFunc(slices.Clone(want), func(p *Promise) bool { return !p.Overlaps(from, until) })
					if got := texts(slices.Collect(v.PromisesIn(name, from, until))); !slices.Equal(got, texts(in)) {
						r.Fatalf("of %s in [%d,%d)\n%v, want\n%v", name, from, until, got, texts(in))
					}
					var ids []pbs.ReservationID
					for _, p := range want {
						ids = append(ids, p.Reservation.ID)
					}
					var on []pbs.ReservationID
					for resv := range v.ReservationsOn(name) {
						on = append(on, resv.ID)
					}
					if !slices.Equal(on, slices.Compact(ids)) {
						r.Fatalf("on %s: %v, want %v", name, on, slices.Compact(ids))
					}
				}
				if got := texts(slices.Collect(v.Promises())); !slices.Equal(got, all) {
					r.Fatalf("all\n%v, want\n%v", got, all)
				}
				if v.Promising() != (len(all) > 0) {
					r.Fatalf("promising: %v", v.Promising())
				}
			},
		})
	})
}

// nodesOf reads an assignment.
func nodesOf(text string) (nodes spec.ExecVnode) {
	if err := nodes.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return nodes
}

// promisedOf is what a vnode is promised, in the simplest words.
func promisedOf(v *View, name pbs.VnodeName) (all []*Promise) {
	for r := range v.Reservations() {
		for n, o := range r.Occurrences {
			var sum int
			for part := range strings.SplitSeq(o.Nodes.String(), "+") {
				var of string
				var ncpus int
				if _, err := fmt.Sscanf(part, "(%1s:ncpus=%d)", &of, &ncpus); err == nil && of == string(name) {
					sum += ncpus
				}
			}
			if sum > 0 {
				from, until := r.Times(n)
				all = append(all, &Promise{Reservation: r, Vnode: name, Occurrence: n, From: from, Until: until, Items: resource.List{}.Set("ncpus", fmt.Sprint(sum))})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Promise) int { return cmp.Compare(a.Reservation.Seq, b.Reservation.Seq) })
	return all
}

func texts(all []*Promise) (lines []string) {
	for _, p := range all {
		lines = append(lines, fmt.Sprint(p.Reservation.ID, p.Reservation, p.Vnode, p.Occurrence, p.From, p.Until, p.Items))
	}
	return lines
}

// What several chunks have of a vnode adds up, in whatever order they name their resources.
func TestPromises_AddUp(t *testing.T) {
	s := NewStore()
	tx := s.Tx()
	resv := &Reservation{ID: pbs.NewReservationID('R', 1, "srv"), Seq: 1, Start: 1, End: 2}
	resv.Occurrences = []Occurrence{{Start: 1, Nodes: nodesOf("(a:ncpus=1:mem=1kb)+(a:ncpus=2:mem=3kb)+(a:mem=1kb)")}}
	tx.PutReservation(resv)
	s.Commit(tx)
	var got []string
	for p := range s.Publish().PromisesOf("a") {
		got = append(got, fmt.Sprint(p.Items))
	}
	if want := "[{mem 5kb} {ncpus 3}]"; len(got) != 1 || got[0] != want {
		t.Errorf("promised %v, want %s", got, want)
	}
}

// An identifier of another kind is no reservation's, whatever its number is.
func TestReservation_OtherIdentifiers(t *testing.T) {
	s := NewStore()
	tx := s.Tx()
	for _, seq := range []uint64{0, 1} {
		tx.PutReservation(&Reservation{ID: pbs.NewReservationID('R', seq, "srv"), Seq: seq, Start: 1, End: 2})
	}
	s.Commit(tx)
	for id, want := range map[pbs.ReservationID]bool{"R0.srv": true, "R1.srv": true, "0.srv": false, "5.srv": false, "11.srv": false, "S1.srv": false, "": false} {
		if _, ok := s.Publish().Reservation(id); ok != want {
			t.Errorf("%q: %v, want %v", id, ok, want)
		}
	}
}

// The vnodes of an occurrence are kept as text, and read back once for those in a row that have the same.
func TestLoader_SharesAssignments(t *testing.T) {
	has := []string{"(a:ncpus=1)+(b:ncpus=1)", "(a:ncpus=1)+(b:ncpus=1)", "", "(b:ncpus=1)", "(b:ncpus=1)"}
	resv := &Reservation{ID: pbs.NewReservationID('S', 1, "srv"), Seq: 1}
	for i, text := range has {
		resv.Occurrences = append(resv.Occurrences, Occurrence{Start: pbs.Time(i), Nodes: nodesOf(text)})
	}
	enc, err := Encoding().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	file, err := enc.Marshal(resv)
	if err != nil || !bytes.Contains(file, []byte(has[0])) {
		t.Fatalf("%q, %v", file, err)
	}
	dec, err := cbor.DecOptions{TextUnmarshaler: cbor.TextUnmarshalerTextString}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	l := NewLoader()
	rec, err := Decode(32, func(rec any) error { return dec.Unmarshal(file, rec) })
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Put(rec); err != nil {
		t.Fatal(err)
	}
	r, ok := l.tx.Reservation(resv.ID)
	if !ok {
		t.Fatal("not there")
	}
	for i, text := range has {
		if got := r.Occurrences[i].Nodes.String(); got != text {
			t.Errorf("occurrence %d has %q, want %q", i, got, text)
		}
	}
	for _, i := range []int{1, 4} {
		if &r.Occurrences[i].Nodes[0] != &r.Occurrences[i-1].Nodes[0] {
			t.Errorf("occurrences %d and %d have copies of their own", i-1, i)
		}
	}
	all := slices.Collect(r.Assignments)
	if len(all) != 3 || len(all[1]) > 0 || !all[2].Has("b") {
		t.Errorf("yielded %v", all)
	}
}
