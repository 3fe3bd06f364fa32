package sched_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// licensed makes a resource of hosts, of which several may share an amount.
func (c *turning) licensed() {
	c.at(0, &command.ManageResource{Verb: command.VerbCreate, Name: "lic", Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "type", Value: "long"}}, {Entry: attr.Entry{Name: "flag", Value: "nh"}},
	}})
}

// PER_JOB of a resource of which hosts share amounts (chapter reservation, section 4): each instance of which the job has a host gives the
// amount once, the other methods give it to each host and to each slot. Of the instances one is (10@[hosta hostb]), one (5@[hostc hostd]).
func TestPerJob(t *testing.T) {
	for _, c := range []struct {
		name, sel, layout, place, want string
	}{
		{"all of the instance, on two hosts of it", "2:ncpus=4:lic=10", "1:job=lic", "scatter", "runs (hosta:ncpus=4:lic=10)+(hostb:ncpus=4)"},
		{"on each of the hosts", "2:ncpus=4:lic=10", "1", "scatter", "nothing"},
		{"as many slots as there are", "8:ncpus=1:lic=10", "1:job=lic", "free", "runs (hosta:ncpus=1:lic=10)+(hosta:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)"},
		{"once of each host", "6:ncpus=1:lic=5", "1:once=lic", "free", "runs (hosta:ncpus=1:lic=5)+(hosta:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=1)+(hostb:ncpus=1:lic=5)+(hostb:ncpus=1)"},
		{"once of both instances", "3:ncpus=4:lic=5", "1:job=lic", "scatter", "runs (hosta:ncpus=4:lic=5)+(hostb:ncpus=4)+(hostc:ncpus=4:lic=5)"},
		{"what one instance has not", "3:ncpus=4:lic=6", "1:job=lic", "scatter", "nothing"},
		{"each term what it wants", "2:ncpus=2:lic=4+2:ncpus=2:lic=6", "1:job=lic 2:job=lic", "free", "runs (hosta:ncpus=2:lic=4)+(hosta:ncpus=2)+(hostb:ncpus=2:lic=6)+(hostb:ncpus=2)"},
		{"more than both terms can have", "2:ncpus=2:lic=5+2:ncpus=2:lic=6", "1:job=lic 2:job=lic", "free", "nothing"},
		{"as many on each host as it has slots", "6:ncpus=1:lic=10", "1:job=lic:ptile=!", "free", "runs (hosta:ncpus=1:lic=10)+(hosta:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)"},
		{"a host that has an amount of its own", "1:ncpus=1:lic=7:host=hoste+1:ncpus=1:lic=7", "1:job=lic 1:job=lic", "free", "runs (hoste:ncpus=1:lic=7)+(hosta:ncpus=1:lic=7)"},
	} {
		b := newTurning(t)
		b.licensed()
		b.host("hosta", "hosta:ncpus=4,lic=10")
		b.host("hostb", "hostb:ncpus=4,lic=@hosta")
		b.host("hostc", "hostc:ncpus=4,lic=5")
		b.host("hostd", "hostd:ncpus=4,lic=@hostc")
		b.host("hoste", "hoste:ncpus=1,lic=7")
		b.asking("j", c.sel, "Resource_List.place="+c.place, "lsf_layout="+c.layout)
		b.want(c.name, "j: "+c.want)
	}
}

// A job of PER_JOB waits only where there is no room for it, has the amount once of each instance that it has a host of, gives back what it
// has taken, and no instance gives more than it has. The planner that has seen all of it plans as a new one does.
func TestPerJob_Law(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := newTurning(r)
		c.licensed()
		groups := rapid.IntRange(1, 3).Draw(r, "instances")
		amount, instance, cpus := make([]int64, groups), map[pbs.VnodeName]int{}, map[pbs.VnodeName]int{}
		var hosts []pbs.VnodeName
		for g := range groups {
			amount[g] = rapid.Int64Range(0, 8).Draw(r, "amount")
			for k := range rapid.IntRange(1, 3).Draw(r, "hosts") {
				name := fmt.Sprintf("h%d%d", g, k)
				lic := fmt.Sprint(amount[g])
				if k > 0 {
					lic = fmt.Sprintf("@h%d0", g)
				}
				n := rapid.IntRange(1, 3).Draw(r, "cpus")
				hosts, instance[pbs.VnodeName(name)], cpus[pbs.VnodeName(name)] = append(hosts, pbs.VnodeName(name)), g, n
				c.host(name, fmt.Sprintf("%s:ncpus=%d,lic=%s", name, n, lic))
			}
		}
		used, free := make([]int64, groups), map[pbs.VnodeName]int{}
		count := func() {
			clear(used)
			for name, n := range cpus {
				free[name] = n
			}
			for j := range c.store.View().Jobs() {
				if j.State != pbs.Running {
					continue
				}
				has, on := map[int]int64{}, map[int]bool{}
				for _, chunk := range j.LastRun().ExecVnode {
					p := chunk.Parts[0]
					free[p.Vnode]--
					text, _ := p.Items.Get("lic")
					var n int64
					_, _ = fmt.Sscan(text, &n)
					has[instance[p.Vnode]] += n
					on[instance[p.Vnode]] = true
				}
				var asked int64
				_, _ = fmt.Sscanf(j.SchedSelect[len(j.SchedSelect)-1:], "%d", &asked)
				for g := range on {
					if used[g] += has[g]; has[g] != asked {
						r.Fatalf("%s has %d of instance %d, and asks for %d: %s", j.ID, has[g], g, asked, j.LastRun().ExecVnode)
					}
				}
			}
			for g := range groups {
				v, _ := c.store.View().Vnode(pbs.VnodeName(fmt.Sprintf("h%d0", g)))
				text, _ := c.store.View().InUse(v).Get("lic")
				var n int64
				_, _ = fmt.Sscan(text, &n)
				if n != used[g] || n > amount[g] {
					r.Fatalf("of %d of instance %d there are %d in use, and jobs have %d", amount[g], g, n, used[g])
				}
			}
		}
		for n := range rapid.IntRange(1, 8).Draw(r, "jobs") {
			if n > 2 && rapid.Bool().Draw(r, "ends") {
				for j := range c.store.View().Jobs() {
					if j.State == pbs.Running {
						c.kill(j.ID)
						break
					}
				}
			}
			count()
			chunks, asked := rapid.IntRange(2, 6).Draw(r, "chunks"), rapid.Int64Range(0, 4).Draw(r, "asks")
			room := 0
			for _, h := range hosts {
				if used[instance[h]]+asked <= amount[instance[h]] {
					room += free[h]
				}
			}
			name := fmt.Sprintf("j%d", n)
			c.asking(name, fmt.Sprintf("%d:ncpus=1:lic=%d", chunks, asked), "lsf_layout=1:job=lic")
			j, _ := c.store.View().Job(c.names[name])
			if runs := j.State == pbs.Running; runs != (room >= chunks) {
				r.Fatalf("%s of %d chunks, of %d each instance: runs %v, there is room for %d", name, chunks, asked, runs, room)
			} else if !runs {
				c.commit(&command.DeleteJob{Job: j.ID})
			}
			count()
		}
	})
}
