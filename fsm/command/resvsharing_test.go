package command

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// share gives a vnode its sharing attribute.
func (w *reserving) share(vnode pbs.VnodeName, sharing string) {
	w.t.Helper()
	w.do(&ManageVnode{Verb: VerbSet, Vnode: vnode, Changes: []AttrChange{{Entry: attr.Entry{Name: "sharing", Value: sharing}}}})
}

// Whether a reservation has a vnode to itself is decided as for a job: the vnode may force or forbid it, else the place says (L15).
func TestReservation_AloneAsTheVnodeSays(t *testing.T) {
	for _, c := range []struct {
		sharing, place string
		alone          bool
	}{
		{"default_shared", "", false},
		{"default_shared", "shared", false},
		{"default_shared", "excl", true},
		{"default_shared", "exclhost", true},
		{"default_excl", "", true},
		{"default_excl", "shared", false},
		{"default_excl", "excl", true},
		{"default_exclhost", "", true},
		{"default_exclhost", "shared", false},
		{"force_excl", "", true},
		{"force_excl", "shared", true},
		{"force_exclhost", "shared", true},
		{"ignore_excl", "", false},
		{"ignore_excl", "excl", false},
		{"ignore_excl", "exclhost", false},
	} {
		t.Run(c.sharing+" "+c.place, func(t *testing.T) {
			w := newReserving(t)
			w.share("hosta", c.sharing)
			w.confirmed(100, 60, "1:ncpus=2", c.place, "(hosta:ncpus=2)")
			other := w.reserve(159, 60, "1:ncpus=2", "shared")
			if err := w.decide(other, "(hosta:ncpus=2)"); (err != nil) != (c.alone || strings.HasPrefix(c.sharing, "force_")) {
				t.Errorf("another reservation of the vnode: %v", err)
			}
			if err := w.decide(w.reserve(300, 60, "1:ncpus=2", c.place), "(hosta:ncpus=2)"); err != nil {
				t.Errorf("a reservation of another time: %v", err)
			}
			_, err := w.submit("workq", "(hosta:ncpus=2)", "select", "1:ncpus=2", "place", "shared", "walltime", "150")
			if (err != nil) != (c.alone || strings.HasPrefix(c.sharing, "force_")) {
				t.Errorf("a job that is not over in time: %v", err)
			}
			w.after(100)
			v, _ := w.View().Vnode("hosta")
			if got := strings.Contains(v.State(), "resv-exclusive"); got != c.alone {
				t.Errorf("while the reservation runs the vnode is %s", v.State())
			}
			_, err = w.submit("workq", "(hosta:ncpus=2)", "select", "1:ncpus=2", "place", "shared", "walltime", "10")
			if (err != nil) != (c.alone || strings.HasPrefix(c.sharing, "force_")) {
				t.Errorf("a job beside the reservation that runs: %v", err)
			}
		})
	}
}

// A reservation on a host that is for one at a time keeps others from its other vnodes, too.
func TestReservation_HostAloneAsTheVnodeSays(t *testing.T) {
	for sharing, alone := range map[string]bool{"default_shared": false, "force_excl": false, "force_exclhost": true, "default_exclhost": true, "ignore_excl": false} {
		w := newReserving(t)
		w.do(&HostUp{Host: "hostd", Address: "x:1", BootID: "b", SpoolID: "hostd", Vnodes: []ReportedVnode{
			{Name: "hostd", Available: resource.List{}.Set("ncpus", "8"), Sharing: sharing}, {Name: "hostd[0]", Available: resource.List{}.Set("ncpus", "8")},
		}})
		w.confirmed(100, 60, "1:ncpus=2", "", "(hostd:ncpus=2)")
		if err := w.decide(w.reserve(100, 60, "1:ncpus=2", ""), "(hostd[0]:ncpus=2)"); (err != nil) != alone {
			t.Errorf("%s: a reservation of the other vnode: %v", sharing, err)
		}
		w.confirmed(300, 60, "1:ncpus=2", "", "(hostd[0]:ncpus=2)")
		if err := w.decide(w.reserve(300, 60, "1:ncpus=2", ""), "(hostd:ncpus=2)"); (err != nil) != alone {
			t.Errorf("%s: a reservation beside one of the other vnode: %v", sharing, err)
		}
	}
}

// A vnode that becomes one for one at a time degrades the reservation that was promised last.
func TestReservation_VnodeBecomesExclusive(t *testing.T) {
	w := newReserving(t)
	first := w.confirmed(100, 60, "1:ncpus=2", "", "(hosta:ncpus=2)")
	last := w.confirmed(120, 60, "1:ncpus=2", "", "(hosta:ncpus=2)")
	w.share("hosta", "force_excl")
	w.wantState(first, pbs.ResvConfirmed, pbs.ResvConfirmed)
	w.wantState(last, pbs.ResvDegraded, pbs.ResvDegraded)
	w.share("hosta", "default_shared")
	w.wantState(last, pbs.ResvConfirmed, pbs.ResvConfirmed)
}

// A maintenance has its hosts to itself, whatever their vnodes say.
func TestReservation_MaintenanceIsAlone(t *testing.T) {
	for _, sharing := range []string{"default_shared", "force_excl", "ignore_excl"} {
		w := newReserving(t)
		w.share("hosta", sharing)
		w.do(&Reserve{
			Owner: ann, Starts: []pbs.Time{w.in(20)}, Length: 100e9, Hosts: []string{"hosta"},
			Attributes: attr.List{}.Set("Authorized_Users", "", "ann@login"),
		})
		w.after(20)
		if v, _ := w.View().Vnode("hosta"); v.State() != "resv-exclusive" {
			t.Errorf("%s: the vnode is %s", sharing, v.State())
		}
	}
}

// What has a whole host to itself keeps others from its other vnodes at any time: neither is a reservation confirmed there before a run
// is over that has the host, nor does one start that would have it while a reservation is to have a part (L15).
func TestReservation_HostOfAJob(t *testing.T) {
	newHost := func() *reserving {
		w := newReserving(t)
		w.do(&HostUp{Host: "hostd", Address: "x:1", BootID: "b", SpoolID: "hostd", Vnodes: []ReportedVnode{
			{Name: "hostd", Available: resource.List{}.Set("ncpus", "8"), Sharing: "default_exclhost"}, {Name: "hostd[0]", Available: resource.List{}.Set("ncpus", "8")},
		}})
		return w
	}
	run := func(w *reserving, place, walltime string) error {
		_, err := w.submit("workq", "(hostd:ncpus=2)", "select", "1:ncpus=2", "place", place, "walltime", walltime)
		return err
	}
	for place, alone := range map[string]bool{"exclhost": true, "free": true, "shared": false} {
		w := newHost()
		if err := run(w, place, "100"); err != nil {
			t.Fatal(err)
		}
		for from, fits := range map[int]bool{50: !alone, 101: true} {
			if err := w.decide(w.reserve(from, 10, "1:ncpus=2", ""), "(hostd[0]:ncpus=2)"); (err == nil) != fits {
				t.Errorf("%s: a reservation at %d beside the run: %v", place, from, err)
			}
		}
		w = newHost()
		w.confirmed(100, 60, "1:ncpus=2", "", "(hostd[0]:ncpus=2)")
		if err := run(w, place, "150"); (err != nil) != alone {
			t.Errorf("%s: a run into the reservation: %v", place, err)
		}
		if err := run(w, place, "90"); err != nil {
			t.Errorf("%s: a run before it: %v", place, err)
		}
	}
}
