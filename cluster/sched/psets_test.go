package sched_test

import (
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// resource creates a custom resource of vnodes.
func (b *bench) resource(name, kind string) {
	b.t.Helper()
	var flag, of command.AttrChange
	flag.Entry.Name, flag.Entry.Value, of.Entry.Name, of.Entry.Value = "flag", "h", "type", kind
	b.do(&command.ManageResource{Verb: command.VerbCreate, Name: name, Changes: []command.AttrChange{of, flag}})
}

// A job has its vnodes in one placement set of its own group, of its queue's node_group_key, or of the server's.
func TestPlacementSets(t *testing.T) {
	alternating := []string{"a:foo=A", "b:foo=B", "c:foo=A", "d:foo=B"}
	for _, c := range []struct {
		name   string
		vnodes []string // each with 2 cpus, if it does not say otherwise
		set    []string // of the server, of workq, of the scheduler
		run    []string // has run before
		job    string
		want   string // vnodes, or the comment
	}{
		{"keys that are not enabled", alternating, []string{"node_group_enable=False", "node_group_key=foo"}, nil, "select=2:ncpus=1 place=vscatter", "a b"},
		{"the server's key", alternating, []string{"node_group_key=foo"}, nil, "select=2:ncpus=1 place=vscatter", "a c"},
		{"the queue's key wins", alternating, []string{"node_group_key=bar", "workq.node_group_key=foo"}, nil, "select=2:ncpus=1 place=scatter", "a c"},
		{
			"the job's group wins",
			[]string{"a:foo=A,bar=1", "b:foo=B,bar=1", "c:foo=A,bar=2"},
			[]string{"node_group_key=foo"},
			nil,
			"select=2:ncpus=1 place=scatter:group=bar", "a b",
		},
		{"a key that no resource has", alternating, []string{"node_group_key=nosuch"}, nil, "select=2:ncpus=1 place=scatter", "a b"},
		{"the smallest that fits", []string{"a:foo=A", "b:foo=A", "c:foo=A", "d:foo=B", "e:foo=B"}, []string{"node_group_key=foo"}, nil, "select=2:ncpus=1 place=scatter", "d e"},
		{
			"of one number of cpus, by memory",
			[]string{"a:foo=A,mem=4gb", "b:foo=B,mem=2gb"},
			[]string{"node_group_key=foo"},
			nil, "select=1:ncpus=1", "b",
		},
		{"of one size, where less is free", alternating, []string{"node_group_key=foo"}, []string{"(b:ncpus=1)"}, "select=1:ncpus=1", "b"},
		{"one chunk, too", []string{"a:foo=A", "b:foo=A", "c:foo=B"}, []string{"node_group_key=foo"}, nil, "select=1:ncpus=1", "c"},
		{"several keys", []string{"a:foo=A,bar=1", "b:foo=B,bar=1", "c:foo=B,bar=2"}, []string{`node_group_key="foo,bar"`}, nil, "select=2:ncpus=2 place=scatter", "b c"},
		{
			"a set of any of the keys",
			[]string{"a:foo=A,bar=1", "b:foo=B,bar=1", "c:foo=B,bar=1"},
			[]string{`node_group_key="foo,bar"`},
			nil,
			"select=3:ncpus=2 place=scatter", "a b c",
		},
		{"several values", []string{"a:foo=A", "b:tags=x", "c:tags=x+y", "d:tags=y"}, []string{"node_group_key=tags", "sched.only_explicit_psets=True"}, []string{"(b:ncpus=2)"}, "select=2:ncpus=1 place=scatter", "c d"},
		{"vnodes without a value are a set", []string{"a:foo=A", "b:", "c:"}, []string{"node_group_key=foo"}, nil, "select=2:ncpus=1 place=scatter", "b c"},
		{
			"only_explicit_psets",
			[]string{"a:", "b:", "c:foo=A", "d:foo=A", "e:foo=A"},
			[]string{"node_group_key=foo", "sched.only_explicit_psets=True"},
			nil,
			"select=2:ncpus=1 place=scatter", "c d",
		},
		{"too big for any spans them", alternating, []string{"node_group_key=foo"}, nil, "select=3:ncpus=1 place=scatter", "a b c"},
		{
			"do_not_span_psets", alternating,
			[]string{"node_group_key=foo", "sched.do_not_span_psets=True"},
			nil, "select=3:ncpus=1 place=scatter",
			"Can Never Run: can't fit in the largest placement set, and can't span psets",
		},
		{
			"the job's own group is never spanned", alternating, nil, nil, "select=3:ncpus=1 place=scatter:group=foo",
			"Can Never Run: can't fit in the largest placement set, and can't span psets",
		},
		{
			"waits for its set", alternating,
			[]string{"node_group_key=foo"},
			[]string{"(a:ncpus=2)", "(b:ncpus=1)"},
			"select=2:ncpus=2 place=scatter",
			"Not Running: Placement set foo=A has too few free resources",
		},
		{
			"more than there is at all", alternating,
			[]string{"node_group_key=foo", "sched.do_not_span_psets=True"},
			nil, "select=9:ncpus=1",
			"Can Never Run: Insufficient amount of resource: ncpus (R: 9 A: 8 T: 8)",
		},
		{
			"more than a host has", alternating,
			[]string{"node_group_key=foo", "sched.do_not_span_psets=True"},
			nil, "select=1:ncpus=3",
			"Can Never Run: Insufficient amount of resource: ncpus (R: 3 A: 2 T: 2)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.resource("foo", "string")
			b.resource("bar", "string")
			b.resource("tags", "string_array")
			for _, text := range c.vnodes {
				name, offer, _ := strings.Cut(text, ":")
				b.host(name, strings.TrimSuffix(name+":ncpus=2,"+offer, ","))
				if values, ok := strings.CutPrefix(offer, "tags="); ok {
					b.offer(name, "tags", strings.ReplaceAll(values, "+", ","))
				}
			}
			b.limit("node_group_enable=True")
			for _, text := range c.set {
				if of, ok := strings.CutPrefix(text, "sched."); ok {
					b.scheduler(of)
				} else {
					b.limit(text)
				}
			}
			for _, where := range c.run {
				b.do(&command.StartJob{Job: b.submit("select=1:ncpus=1"), ExecVnode: where})
			}
			b.submit(c.job)
			if got := outcome(b.plan()); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// offer sets what a vnode has of a resource.
func (b *bench) offer(vnode, name, value string) {
	b.t.Helper()
	change := command.AttrChange{}
	change.Entry.Name, change.Entry.Resource, change.Entry.Value = "resources_available", name, value
	b.do(&command.ManageVnode{Verb: command.VerbSet, Vnode: pbs.VnodeName(vnode), Changes: []command.AttrChange{change}})
}

// outcome returns the vnodes of the one start of a plan, or the one comment.
func outcome(p sched.Plan) string {
	if len(p.Starts) == 0 {
		return p.Comments[0].Why.Comment()
	}
	var all []string
	for chunk := range strings.SplitSeq(p.Starts[0].ExecVnode, "+") {
		name, _, _ := strings.Cut(strings.Trim(chunk, "()"), ":")
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// A planner that has seen the sets follows their keys and the values of vnodes.
func TestPlacementSets_Follow(t *testing.T) {
	b := newBench(t)
	b.resource("foo", "string")
	for _, h := range []string{"a:foo=A", "b:foo=B", "c:foo=A", "d:foo=B"} {
		name, offer, _ := strings.Cut(h, ":")
		b.host(name, name+":ncpus=2,"+offer)
	}
	b.submit("select=2:ncpus=1 place=scatter")
	planner := sched.NewPlanner()
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "a b"},
		{func() { b.limit("node_group_enable=True", "node_group_key=foo") }, "a c"},
		{func() { b.offer("a", "foo", "B") }, "a b"},
		{func() { b.offer("b", "foo", "C") }, "a d"},
		{func() { b.offer("d", "foo", "D") }, "a b"}, // spans: no set has two any more
		{func() { b.offer("c", "foo", "D") }, "c d"},
		{func() { b.limit("node_group_enable=False") }, "a b"},
	} {
		c.change()
		if got := outcome(planner.Plan(b.store.View(), start)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// The vnodes of one host may be in several sets.
func TestPlacementSets_WithinAHost(t *testing.T) {
	b := newBench(t)
	b.resource("foo", "string")
	b.host("hosta", "hosta[0]:ncpus=1,foo=A", "hosta[1]:ncpus=1,foo=B", "hosta[2]:ncpus=1,foo=A", "hosta[3]:ncpus=1,foo=B")
	b.limit("node_group_enable=True", "node_group_key=foo")
	b.submit("select=2:ncpus=1 place=vscatter")
	b.submit("select=1:ncpus=2 place=pack")
	p := b.plan()
	p.Comments = nil
	if got, want := text(p), "start 0 (hosta[0]:ncpus=1)+(hosta[2]:ncpus=1)\nstart 1 (hosta[1]:ncpus=1+hosta[3]:ncpus=1)"; got != want {
		t.Errorf("planned\n%s\nwant\n%s", got, want)
	}
}
