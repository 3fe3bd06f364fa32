package sched_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// Whatever is decided and started, Apply takes it, and no vnode is held beyond what it has at any time of the future (L15).
// A reservation of one chunk is denied only if no vnode has it.
func TestProperty_NothingIsPromisedTwice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := &clock{newBench(r), start}
		for i := range 3 {
			name := fmt.Sprintf("host%c", 'a'+i)
			offer := func(vnode string) string {
				sharing := rapid.SampledFrom([]string{"default_shared", "default_shared", "default_shared", "default_excl", "default_exclhost", "force_excl", "force_exclhost", "ignore_excl"}).Draw(r, "sharing")
				return fmt.Sprintf("%s:ncpus=%d,mem=%dgb,sharing=%s", vnode, rapid.IntRange(1, 6).Draw(r, "ncpus"), rapid.IntRange(1, 6).Draw(r, "mem"), sharing)
			}
			vnodes := []string{offer(name)}
			if i == 0 {
				vnodes = append(vnodes, offer(name+"[0]"))
			}
			c.host(name, vnodes...)
		}
		if rapid.Bool().Draw(r, "strict") {
			c.scheduler("strict_ordering=True")
			c.limit("backfill_depth=3")
		}
		kept := sched.NewPlanner()
		r.Repeat(map[string]func(*rapid.T){
			"reserve": c.drawReservation,
			"submit":  c.drawJob,
			"time": func(r *rapid.T) {
				c.wait(rapid.IntRange(1, 60).Draw(r, "seconds"))
				for j := range c.store.View().Running() {
					if j.Lasts(j.Started, j.Started) <= c.now {
						c.must(&command.DeleteJob{Job: j.ID, Force: true})
					}
				}
			},
			"offline": func(r *rapid.T) {
				if rapid.IntRange(0, 9).Draw(r, "rarely") == 0 {
					c.offline(pbs.VnodeName(rapid.SampledFrom([]string{"hosta", "hostb"}).Draw(r, "vnode")))
				}
			},
			"": func(r *rapid.T) { c.cycle(r, kept) },
		})
	})
}

func (c *clock) drawReservation(r *rapid.T) {
	place := rapid.SampledFrom([]string{"", " place=scatter", " place=pack", " place=excl", " place=scatter:exclhost"}).Draw(r, "place")
	request := fmt.Sprintf("select=%d:ncpus=%d%s%s", rapid.IntRange(1, 3).Draw(r, "chunks"), rapid.IntRange(0, 4).Draw(r, "ncpus"), drawMem(r), place)
	at := []int{rapid.IntRange(0, 100).Draw(r, "start")}
	long := rapid.IntRange(1, 60).Draw(r, "long")
	for range rapid.IntRange(0, 2).Draw(r, "more") {
		at = append(at, at[len(at)-1]+long+rapid.IntRange(0, 30).Draw(r, "apart"))
	}
	c.reserve(request, long, at...)
}

// drawMem adds memory to a chunk, or does not: of what a reservation does not name its jobs have what its vnodes have left.
func drawMem(r *rapid.T) string {
	if gb := rapid.IntRange(-3, 4).Draw(r, "mem"); gb >= 0 {
		return fmt.Sprintf(":mem=%dgb", gb)
	}
	return ""
}

func (c *clock) drawJob(r *rapid.T) {
	request := fmt.Sprintf("select=%d:ncpus=%d%s", rapid.IntRange(1, 2).Draw(r, "chunks"), rapid.IntRange(1, 4).Draw(r, "ncpus"), drawMem(r))
	request += rapid.SampledFrom([]string{"", " place=scatter", " place=free", " place=excl"}).Draw(r, "place")
	if long := rapid.IntRange(0, 100).Draw(r, "walltime"); long > 0 {
		request += fmt.Sprintf(" walltime=%d", long)
	}
	if soft := rapid.IntRange(-60, 60).Draw(r, "soft_walltime"); soft > 0 {
		request += fmt.Sprintf(" soft_walltime=%d", soft)
	}
	queues := []pbs.QueueName{""}
	for resv := range c.store.View().Reservations() {
		if q, ok := c.store.View().Queue(resv.ID.Queue()); ok && q.Enabled && resv.Placement().Sharing == "" {
			queues = append(queues, q.Name)
		}
	}
	list := (&command.SubmitJob{}).Attributes
	for word := range strings.FieldsSeq(request) {
		name, value, _ := strings.Cut(word, "=")
		list = list.Set("Resource_List", name, value)
	}
	c.attempt(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Queue: rapid.SampledFrom(queues).Draw(r, "queue"), Attributes: list})
}

// cycle commits a plan and looks whether it keeps the law.
func (c *clock) cycle(r *rapid.T, kept *sched.Planner) {
	p := sched.Make(c.store.View(), c.now)
	if again := kept.Plan(c.store.View(), c.now); !reflect.DeepEqual(again, p) {
		r.Fatalf("a planner that has seen what was before plans\n%+v\nwant\n%+v", again, p)
	}
	for _, d := range p.Decisions {
		resv, _ := c.store.View().Reservation(d.Reservation)
		if d.Why != "" && resv.State == pbs.ResvUnconfirmed && c.possible(resv) {
			r.Fatalf("%s is denied because %q, and would fit: %+v", resv.ID, d.Why, resv)
		}
		if out := c.attempt(d); out.Refusal != nil {
			r.Fatalf("%+v of %+v is refused: %v", d, resv, out.Refusal)
		}
	}
	for _, s := range p.Starts {
		if out := c.attempt(&command.StartJob{Job: s.Job, ExecVnode: s.ExecVnode}); out.Refusal != nil {
			r.Fatalf("%+v is refused: %v", s, out.Refusal)
		}
	}
	c.lawful(r)
}

// possible reports whether every occurrence of one chunk has a vnode.
func (c *clock) possible(resv *state.Reservation) bool {
	sel, _ := spec.ParseSelect(resv.Select)
	if sel.Total() != 1 || resv.Placement().Sharing != "" || len(resv.Occurrences) > 1 {
		return false
	}
	from, until := resv.Times(0)
	v := c.store.View()
	for other := range v.Reservations() {
		if other.Started() && other.End <= c.now {
			return false // nobody knows when its last jobs will have left
		}
	}
	for vn := range v.Vnodes() {
		none := func(*state.Promise) bool { return false }
		claim := resv.Claim()
		fits := vn.Flags == 0 && !v.HostInUse(vn, from) && c.hostTaken(vn, from, until) == "" && v.Overbooked(vn, state.Hold{From: from, Until: until, Items: sel.Chunks[0].Items, Alone: claim.AloneOn(vn)}, none) == nil
		for other := range v.VnodesOf(vn.Host) {
			fits = fits && (!claim.HostAloneOn(vn) || v.Overbooked(other, state.Hold{From: from, Until: until, Alone: true}, none) == nil)
		}
		if fits {
			return true
		}
	}
	return false
}

// lawful looks at every vnode whenever something begins.
func (c *clock) lawful(r *rapid.T) {
	v := c.store.View()
	for vn := range v.Vnodes() {
		instants := []pbs.Time{c.now}
		for p := range v.PromisesOf(vn.Name) {
			instants = append(instants, max(c.now, p.From))
		}
		for _, at := range instants {
			held, users, alone := map[string]int{}, 0, false
			add := func(list resource.List) {
				for _, it := range list {
					held[it.Name] += amount(list, it.Name)
				}
			}
			for _, run := range vn.Jobs {
				j, _ := v.Job(run.Job)
				share, begun := vn.ReservedFor(run.Reservation)
				resv, _ := v.Reservation(run.Reservation)
				switch {
				case begun:
					if min(j.Lasts(j.Started, c.now), resv.End) > at {
						add(share.Beyond(run.Items))
					}
				case j.Lasts(j.Started, c.now) > at:
					add(run.Items)
					users, alone = users+1, alone || run.Exclusive
				}
			}
			for p := range v.PromisesOf(vn.Name) {
				if p.From <= at && at < p.Until {
					add(p.Items)
					users, alone = users+1, alone || p.AloneOn(vn)
				}
			}
			if other := c.hostTaken(vn, at, at+1); other != "" && users > 0 {
				r.Fatalf("%s is used at +%ds though %s has the host for itself", vn.Name, (at-c.now)/secs(1), other)
			}
			for _, name := range []string{"ncpus", "mem"} {
				if most := amount(vn.Available(), name); held[name] > most || alone && users > 1 {
					r.Fatalf("%s holds %d %s of %d for %d users (alone: %v) at +%ds", vn.Name, held[name], name, most, users, alone, (at-c.now)/secs(1))
				}
			}
		}
	}
}

// hostTaken tells which reservation has in a time the host of a vnode for itself by another vnode.
func (c *clock) hostTaken(vn *state.Vnode, from, until pbs.Time) pbs.ReservationID {
	v := c.store.View()
	own := map[pbs.ReservationID]bool{}
	for p := range v.PromisesOf(vn.Name) {
		own[p.Reservation.ID] = true
	}
	for other := range v.VnodesOf(vn.Host) {
		for p := range v.PromisesOf(other.Name) {
			if other.Name != vn.Name && p.HostAloneOn(other) && p.Overlaps(from, until) && !own[p.Reservation.ID] {
				return p.Reservation.ID
			}
		}
	}
	return ""
}

// amount returns how many cpus, or gigabytes, a list has.
func amount(list resource.List, name string) int {
	text, _ := list.Get(name)
	n, _ := strconv.Atoi(strings.TrimSuffix(text, "gb"))
	return n
}
