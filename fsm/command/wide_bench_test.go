package command

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A wide job has a chunk on each of many hosts.
type wide struct {
	*writer
	job   pbs.JobID
	hosts int
	facts []uint64
}

// newWide starts a job on the hosts; its program runs where running says so.
func newWide(b *testing.B, hosts int, running bool, place string, more ...attr.Entry) *wide {
	b.Helper()
	w := &wide{writer: newWriter(b), hosts: hosts, facts: make([]uint64, hosts)}
	var on strings.Builder
	for n := range hosts {
		w.must(&HostUp{Host: host(n), Address: string(host(n)) + ":1", BootID: "b", SpoolID: "s", Vnodes: []ReportedVnode{
			{Name: pbs.VnodeName(host(n)), Available: resource.List{{Name: "mem", Value: "1gb"}, {Name: "ncpus", Value: "2"}}},
		}})
		if n > 0 {
			on.WriteByte('+')
		}
		fmt.Fprintf(&on, "(%s:ncpus=2:mem=1048576kb)", host(n))
	}
	w.job = pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	list := attr.List(nil).Set("Resource_List", "select", fmt.Sprintf("%d:ncpus=2:mem=1gb", hosts)).Set("Resource_List", "place", place)
	for _, e := range more {
		list = list.Set(e.Name, e.Resource, e.Value)
	}
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list})
	w.must(&StartJob{Job: w.job, ExecVnode: on.String()})
	w.confirm()
	if running {
		w.must(&JobStarted{Source: w.fact(0), Job: w.job, RunCount: 1, Session: 7})
	}
	return w
}

func host(n int) pbs.HostName { return pbs.HostName(fmt.Sprintf("host%d", n)) }

func (w *wide) fact(n int) Source {
	w.facts[n]++
	return Source{Host: host(n), Spool: "s", Seq: w.facts[n]}
}

// answer is the confirmation of the mother superior's oldest order.
func (w *wide) answer() *OrderConfirmed {
	for o := range w.View().Orders(host(0)) {
		return &OrderConfirmed{Host: host(0), Order: o.ID, Used: resource.List{{Name: "cput", Value: "00:00:35"}}}
	}
	w.t.Fatal("the mother superior has no order")
	return nil
}

func (w *wide) confirm() { w.must(w.answer()) }

// measure applies a command again and again, and takes it back; then it stays. What is told is
// the time of a core, whoever else uses the machine.
func (w *wide) measure(b *testing.B, name string, c Command) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		var used time.Duration
		for b.Loop() {
			tx, before := w.Tx(), coreTime(b)
			if err := c.Apply(tx, Meta{At: w.Clock(), Index: w.index, Term: 1}, &state.Result{}); err != nil {
				b.Fatal(err)
			}
			used += coreTime(b) - before
		}
		b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "core-ms/op")
	})
	w.must(c)
}

func coreTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// What each replica has to do for a job that gives half of its 10,000 hosts back.
func BenchmarkReleaseNodes_10000Hosts(b *testing.B) {
	for _, place := range []string{"scatter", "scatter:excl"} {
		b.Run(place, func(b *testing.B) {
			const hosts = 10_000
			w := newWide(b, hosts, true, place)
			w.measure(b, "asked", &ReleaseNodes{Job: w.job, Keep: "select=4999:ncpus=2"})
			w.measure(b, "done", w.answer())
			w.leave(b, hosts/2)
		})
	}
}

// leave measures the confirmations of released hosts, as many in an entry as it holds. They come once,
// so what is told is of the first operation.
func (w *wide) leave(b *testing.B, hosts int) {
	b.Helper()
	n, used := 0, time.Duration(0)
	b.Run("left", func(b *testing.B) {
		before := coreTime(b)
		for n < hosts {
			w.index++
			e := Entry{Time: pbs.Time(w.index)}
			for len(e.Proposals) < MaxCommands && n < hosts {
				e.Proposals = append(e.Proposals, Proposal{Commands: []Command{&JobEnded{Source: w.fact(n + 1), Job: w.job, RunCount: 1}}})
				n++
			}
			Run(w.Store, w.index, 1, e)
			w.Publish()
			used = coreTime(b) - before
		}
		b.ReportMetric(float64(used.Microseconds())/1000/float64(hosts), "core-ms/host")
	})
}

// What each replica has to do for a start that asked for a twentieth more than it needs.
func BenchmarkPruneJob_10500Hosts(b *testing.B) {
	const hosts, needed = 10_500, 10_000
	w := newWide(b, hosts, false, "scatter", attr.Entry{Name: "tolerate_node_failures", Value: "all"})
	var bad []pbs.HostName
	for n := 7; len(bad) < hosts-needed; n += 21 {
		bad = append(bad, host(n))
	}
	w.measure(b, "asked", &PruneJob{Job: w.job, RunCount: 1, Host: host(0), Keep: fmt.Sprintf("%d:ncpus=2:mem=1gb", needed), Bad: bad})
	w.measure(b, "done", w.answer())
}

// What each replica has to do for each of 10,000 jobs that are to wait for one, as many in an entry as come
// together.
func BenchmarkSubmitJob_10000Dependents(b *testing.B) {
	for _, together := range []int{1, 64} {
		b.Run(fmt.Sprint(together), func(b *testing.B) {
			w := newWriter(b)
			submit := func(depend string) Proposal {
				list := attr.List(nil).Set("Resource_List", "select", "1:ncpus=1")
				if depend != "" {
					list = list.Set("depend", "", depend)
				}
				return Proposal{Commands: []Command{&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Attributes: list}}}
			}
			parent := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
			w.must(submit("").Commands[0])
			const jobs = 10_000
			n, used := 0, time.Duration(0)
			before := coreTime(b)
			for n < jobs {
				w.index++
				e := Entry{Time: pbs.Time(w.index)}
				for range together {
					e.Proposals = append(e.Proposals, submit("afterok:"+string(parent)))
				}
				Run(w.Store, w.index, 1, e)
				w.Publish()
				n, used = n+together, coreTime(b)-before
			}
			b.ReportMetric(float64(used.Microseconds())/float64(n), "core-us/job")
		})
	}
}
