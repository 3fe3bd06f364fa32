package fsm_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"rampart/fsm"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// TestLaws_SameLogSameState is L4 and L7: of two replicas that apply the same
// random commands, one goes through a snapshot in the middle; index by index their
// digests are equal, and the laws hold after every entry.
func TestLaws_SameLogSameState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := drawLog(t)
		restart := rapid.IntRange(0, len(logs)-1).Draw(t, "restart")
		steady, other := fsm.New(fsm.Options{Check: true}), fsm.New(fsm.Options{Check: true})
		for i, l := range logs {
			if i == restart {
				other = throughSnapshot(t, other)
			}
			a, b := steady.Apply(l), other.Apply(l)
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("entry %d: outcomes differ:\n%v\n%v", l.Index, a, b)
			}
			if steady.View().Digest() != other.View().Digest() {
				t.Fatalf("entry %d: digests differ", l.Index)
			}
		}
	})
}

func throughSnapshot(t *rapid.T, f *fsm.FSM) *fsm.FSM {
	var file bytes.Buffer
	if err := snapshot.Write(&file, f.View()); err != nil {
		t.Fatal(err)
	}
	next := fsm.New(fsm.Options{Check: true})
	if err := next.Restore(io.NopCloser(&file)); err != nil {
		t.Fatal(err)
	}
	return next
}

// drawLog draws a log: the init, some hosts, then anything.
func drawLog(t *rapid.T) []*raft.Log {
	d := &drawer{t: t, now: pbs.Time(1_800_000_000 * time.Second), acked: map[pbs.HostName]uint64{}}
	d.add(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	d.add(d.hostUp("a"))
	d.add(d.hostUp("b"))
	for range rapid.IntRange(1, 60).Draw(t, "length") {
		d.add(d.command())
	}
	return d.logs
}

type drawer struct {
	t     *rapid.T
	logs  []*raft.Log
	now   pbs.Time
	acked map[pbs.HostName]uint64
}

func (d *drawer) add(c command.Command) {
	d.now += pbs.Time(rapid.IntRange(-5, 300).Draw(d.t, "seconds")) * pbs.Time(time.Second)
	p := command.Proposal{Asker: pbs.User{Name: "ann", Host: "a"}, Commands: []command.Command{c}}
	if rapid.Bool().Draw(d.t, "remembered") {
		p.ID = requestID(d.now, rapid.IntRange(0, 9).Draw(d.t, "id"))
	}
	data, err := command.Encode(command.Entry{Time: d.now, Proposals: []command.Proposal{p}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.logs = append(d.logs, &raft.Log{Index: uint64(len(d.logs) + 1), Term: 1, Type: raft.LogCommand, Data: data})
}

// requestID returns a UUIDv7 of the given moment.
func requestID(at pbs.Time, n int) pbs.RequestID {
	ms := uint64(at) / uint64(time.Millisecond)
	return pbs.RequestID(fmt.Sprintf("%08x-%04x-7000-8000-%012x", ms>>16, ms&0xffff, n))
}

func (d *drawer) hostUp(name pbs.HostName) *command.HostUp {
	return &command.HostUp{
		Host: name, Address: string(name) + ":1", BootID: "b", SpoolID: "s" + string(name),
		Vnodes: []command.ReportedVnode{{Name: pbs.VnodeName(name), Available: resource.List{{Name: "mem", Value: "4gb"}, {Name: "ncpus", Value: "3"}}}},
	}
}

func (d *drawer) job() pbs.JobID {
	brackets := rapid.SampledFrom([]string{"", "", "[]", "[1]", "[2]", "[1-2]"}).Draw(d.t, "brackets")
	return pbs.JobID(fmt.Sprintf("%d%s.srv", rapid.Uint64Range(0, 8).Draw(d.t, "job"), brackets))
}

func (d *drawer) host() pbs.HostName {
	return rapid.SampledFrom([]pbs.HostName{"a", "b"}).Draw(d.t, "host")
}

func (d *drawer) run() pbs.RunCount {
	return pbs.RunCount(rapid.IntRange(1, 3).Draw(d.t, "run"))
}

func (d *drawer) source() command.Source {
	h := d.host()
	if rapid.IntRange(0, 4).Draw(d.t, "repeat") > 0 {
		d.acked[h]++
	}
	return command.Source{Host: h, Spool: "s" + string(h), Seq: d.acked[h]}
}

// command draws one of the kinds that move jobs about, legal or not.
func (d *drawer) command() command.Command {
	draw := rapid.SampledFrom([]func() command.Command{
		d.submit, d.submit, d.start, d.start, d.start,
		func() command.Command {
			return &command.JobStarted{Source: d.source(), Job: d.job(), RunCount: d.run(), Session: 9}
		},
		func() command.Command {
			return &command.JobEnded{
				Source: d.source(), Job: d.job(), RunCount: d.run(), ExitStatus: int32(rapid.IntRange(-3, 3).Draw(d.t, "exit")),
				NeverStarted: rapid.Bool().Draw(d.t, "never"), Lost: rapid.Bool().Draw(d.t, "lost"),
			}
		},
		func() command.Command {
			return &command.DeleteJob{Job: d.job(), Force: rapid.Bool().Draw(d.t, "force"), History: rapid.Bool().Draw(d.t, "history")}
		},
		func() command.Command {
			return &command.RerunJob{Job: d.job(), Force: rapid.Bool().Draw(d.t, "force")}
		},
		func() command.Command { return &command.HoldJob{Job: d.job(), Holds: pbs.HoldUser} },
		func() command.Command { return &command.ReleaseJob{Job: d.job(), Holds: pbs.HoldUser} },
		func() command.Command { return &command.SignalJob{Job: d.job(), Signal: "USR1"} },
		func() command.Command {
			return &command.PreemptJob{
				Job: d.job(), RunCount: d.run(), Method: rapid.SampledFrom([]string{"S", "C", "R", "D"}).Draw(d.t, "method"), For: d.job(),
			}
		},
		func() command.Command {
			return &command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{
				Name: "fair_share", Value: rapid.SampledFrom([]string{"True", "False"}).Draw(d.t, "share"),
			}}}}
		},
		func() command.Command {
			return &command.AlterJob{Job: d.job(), Changes: []command.AttrChange{
				{Entry: attr.Entry{Name: "Resource_List", Resource: "ncpus", Value: "2"}},
				{Entry: attr.Entry{Name: "Priority", Value: "5"}},
			}}
		},
		func() command.Command {
			return &command.AlterJob{Job: d.job(), Changes: []command.AttrChange{{Entry: attr.Entry{Name: "depend", Value: d.depend()}}}}
		},
		func() command.Command {
			return &command.AlterJob{Job: d.job(), Changes: []command.AttrChange{{Entry: attr.Entry{
				Name: "Job_Name", Value: rapid.SampledFrom([]string{"STDIN", "other"}).Draw(d.t, "name"),
			}}}}
		},
		func() command.Command { return &command.ReleaseJob{Job: d.job(), Holds: pbs.HoldSystem | pbs.HoldUser} },
		func() command.Command {
			return &command.OrderConfirmed{
				Host: d.host(), Order: pbs.OrderID(rapid.Uint64Range(1, 12).Draw(d.t, "order")),
				Refusal: rapid.SampledFrom([]*pbs.Error{nil, pbs.Refuse(pbs.SystemError)}).Draw(d.t, "refusal"),
			}
		},
		func() command.Command { return d.hostUp(d.host()) },
		func() command.Command { return &command.HostDown{Host: d.host()} },
		func() command.Command { return &command.TimeTick{} },
		func() command.Command {
			return &command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{
				Name: "job_history_enable", Value: rapid.SampledFrom([]string{"True", "False"}).Draw(d.t, "history"),
			}}}}
		},
		func() command.Command {
			return &command.ManageVnode{Verb: command.VerbSet, Vnode: pbs.VnodeName(d.host()), Changes: []command.AttrChange{{Entry: attr.Entry{
				Name: "resources_available", Resource: "ncpus", Value: rapid.SampledFrom([]string{"0", "1", "4"}).Draw(d.t, "ncpus"),
			}}}}
		},
		func() command.Command {
			return &command.UsageSample{Host: d.host(), Jobs: []command.JobUsage{{Job: d.job(), RunCount: d.run(), Used: resource.List{{Name: "cput", Value: "00:00:09"}}}}}
		},
		func() command.Command {
			return &command.SetWaits{Waits: []state.Wait{{Code: state.WaitBusy}}, Jobs: []command.JobWait{{Job: d.job()}}}
		},
		d.manage, d.manage,
	}).Draw(d.t, "kind")
	return draw()
}

func (d *drawer) submit() command.Command {
	c := &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Queue: d.queue(), Script: []byte("true\n")}
	for _, e := range []attr.Entry{
		{Name: "Resource_List", Resource: "select", Value: rapid.SampledFrom([]string{"1:ncpus=1", "2:ncpus=1:mem=1gb", "1:ncpus=3"}).Draw(d.t, "select")},
		{Name: "Resource_List", Resource: "place", Value: rapid.SampledFrom([]string{"free", "pack", "free:excl"}).Draw(d.t, "place")},
		{Name: "Hold_Types", Value: rapid.SampledFrom([]string{"n", "n", "u"}).Draw(d.t, "holds")},
		{Name: "Rerunable", Value: rapid.SampledFrom([]string{"True", "True", "False"}).Draw(d.t, "rerunable")},
		{Name: "array_indices_submitted", Value: rapid.SampledFrom([]string{"", "", "1-2", "1-3"}).Draw(d.t, "array")},
		{Name: "depend", Value: d.depend()},
		{Name: "Execution_Time", Value: rapid.SampledFrom([]string{"", "", "1800000100", "1800009000"}).Draw(d.t, "time")},
	} {
		if e.Value != "" {
			c.Attributes = c.Attributes.Set(e.Name, e.Resource, e.Value)
		}
	}
	return c
}

// depend draws what a job waits for; most wait for nothing.
func (d *drawer) depend() string {
	if rapid.IntRange(0, 2).Draw(d.t, "waits") > 0 {
		return ""
	}
	kind := rapid.SampledFrom([]string{"after", "afterok", "afternotok", "afterany", "beforeok", "beforeany", "on", "singleton", "runone", "runone"}).Draw(d.t, "depend")
	switch kind {
	case "on":
		return "on:2"
	case "singleton":
		return kind
	}
	return kind + ":" + string(d.job())
}

func (d *drawer) start() command.Command {
	h := d.host()
	return &command.StartJob{Job: d.job(), ExecVnode: rapid.SampledFrom([]string{
		fmt.Sprintf("(%s:ncpus=1)", h), fmt.Sprintf("(%s:ncpus=1:mem=1048576kb)+(%s:ncpus=1:mem=1048576kb)", h, h),
		fmt.Sprintf("(%s:ncpus=3)", h), "(a:ncpus=1)+(b:ncpus=1)",
	}).Draw(d.t, "exec_vnode")}
}

// TestLaws_RepeatReturnsFirstAnswer is L8: a repeated request changes nothing and is
// answered as at first; another request under its id is refused.
func TestLaws_RepeatReturnsFirstAnswer(t *testing.T) {
	s := state.NewStore()
	now := pbs.Time(1_800_000_000 * time.Second)
	asked := func(index uint64, at pbs.Time, id pbs.RequestID, body uint64, c command.Command) command.Outcome {
		t.Helper()
		p := command.Proposal{ID: id, Asker: pbs.User{Name: "ann", Host: "a"}, Body: body, Commands: []command.Command{c}}
		data, err := command.Encode(command.Entry{Time: at, Proposals: []command.Proposal{p}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := command.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := command.Run(s, index, 1, e)
		s.Publish()
		return out[0]
	}
	apply := func(index uint64, at pbs.Time, id pbs.RequestID, c command.Command) command.Outcome {
		t.Helper()
		return asked(index, at, id, 0, c)
	}
	submit := func(name string) command.Command {
		return &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Attributes: attr.List(nil).Set("Job_Name", "", name)}
	}
	apply(1, now, "", &command.InitCluster{ID: "c", Name: "srv"})
	id := requestID(now, 1)
	first := apply(2, now, id, submit("x"))
	again := apply(3, now+pbs.Time(9*time.Minute), id, submit("x"))
	if !again.Repeated || again.Result != first.Result {
		t.Errorf("the repeat was answered %+v, the first request %+v", again, first)
	}
	if n := s.View().JobCount(); n != 1 {
		t.Errorf("%d jobs after a repeated qsub, want 1", n)
	}
	if out := apply(4, now, id, submit("y")); pbs.CodeOf(out.Err()) != pbs.ReusedRequest {
		t.Errorf("another request under the same id: %v", out.Err())
	}
	// What was asked makes a repeat, not the commands that it led to.
	if out := asked(7, now, requestID(now, 4), 17, submit("x")); out.Err() != nil || out.Repeated {
		t.Errorf("a new request: %+v", out)
	}
	if out := asked(8, now, requestID(now, 4), 17, submit("by other defaults")); !out.Repeated || out.Err() != nil {
		t.Errorf("its repeat, after the defaults changed: %+v", out)
	}
	if out := asked(9, now, requestID(now, 4), 18, submit("x")); pbs.CodeOf(out.Err()) != pbs.ReusedRequest {
		t.Errorf("something else asked under its id: %v", out.Err())
	}
	if out := apply(5, now, requestID(now-pbs.Time(11*time.Minute), 2), submit("z")); pbs.CodeOf(out.Err()) != pbs.ExpiredRequest {
		t.Errorf("an id that is too old: %v", out.Err())
	}
	if out := apply(6, now, requestID(now+pbs.Time(30*time.Minute), 3), submit("z")); pbs.CodeOf(out.Err()) != pbs.ExpiredRequest {
		t.Errorf("an id from the future: %v", out.Err())
	}
}

// TestLaws_MadClock is about time (design section 4): an entry that is more than an
// hour ahead is refused as a whole, the start of a term may go anywhere, and time
// never runs backwards.
func TestLaws_MadClock(t *testing.T) {
	s := state.NewStore()
	now := pbs.Time(1_800_000_000 * time.Second)
	year := pbs.Time(365 * 24 * time.Hour)
	run := func(index uint64, at pbs.Time, c command.Command) command.Outcome {
		out, _ := command.Run(s, index, 1, command.Entry{Time: at, Proposals: []command.Proposal{{Commands: []command.Command{c}}}})
		s.Publish()
		return out[0]
	}
	run(1, now, &command.InitCluster{ID: "c", Name: "srv"})
	if out := run(2, now+year, &command.TimeTick{}); out.Refusal == nil {
		t.Error("an entry a year ahead was accepted")
	}
	if got := s.View().Now(); got != now {
		t.Errorf("the clock moved to %d, want %d", got, now)
	}
	if out := run(3, now+year, &command.TermStarted{Leader: "s1"}); out.Refusal != nil {
		t.Errorf("the start of a term a year later: %v", out.Refusal)
	}
	run(4, now, &command.TimeTick{})
	if got := s.View().Now(); got != now+year {
		t.Errorf("the clock moved back to %d", got)
	}
}
