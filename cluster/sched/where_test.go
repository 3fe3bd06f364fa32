package sched_test

import (
	"strings"
	"testing"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// asking submits a job with attributes that its requirement has brought.
func (c *turning) asking(name, sel string, attrs ...string) {
	c.t.Helper()
	list := attr.List{}.Set("Resource_List", "select", sel).Set("lsf_resreq", "", "x")
	for _, a := range attrs {
		n, v, _ := strings.Cut(a, "=")
		n, resource, _ := strings.Cut(n, ".")
		list = list.Set(n, resource, v)
	}
	out := c.commit(&command.SubmitJob{Owner: pbs.User{Name: "u1", Host: "hosta"}, Queue: "normal", Attributes: list})
	if out.Refusal != nil {
		c.t.Fatalf("submit %s: %v", sel, out.Refusal)
	}
	c.names[name] = out.Result.Job
	c.cycle()
}

// RSV-08, RSV-09: the first alternative is taken for which there is room.
func TestChoice(t *testing.T) {
	for mem, want := range map[string]string{"15": "(hosta:ncpus=1:mem=10240kb:swp=20480kb)", "25": "(hosta:ncpus=1:mem=20480kb)", "5": ""} {
		c := newTurning(t)
		c.host("hosta", "hosta:ncpus=10,mem="+mem+"mb,swp=100mb")
		c.asking("j", "1:ncpus=1:mem=20mb", "lsf_alternatives=1:ncpus=1:mem=20mb || 1:ncpus=1:mem=10mb:swp=20mb")
		if want = "runs " + want; mem == "5" {
			want = "nothing"
		}
		c.want(mem, "j: "+want)
	}
}

// A job that goes on from a checkpoint does so where that is kept: of its alternatives the one that is bound to those hosts counts.
func TestChoice_Checkpointed(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=10,mem=5mb,swp=100mb")
	c.asking("j", "1:ncpus=1:mem=20mb", "lsf_alternatives=1:ncpus=1:mem=20mb || 1:ncpus=1:mem=10mb:swp=20mb")
	j, _ := c.store.View().Job(c.names["j"])
	next := *j
	next.Checkpoint, next.SchedSelect = &state.Checkpoint{Host: "hosta", Select: j.SchedSelect}, j.SchedSelect+":host=hosta"
	tx := c.store.Tx()
	tx.PutJob(&next)
	c.store.Commit(tx)
	c.commit(&command.ManageVnode{Verb: command.VerbSet, Vnode: "hosta", Changes: []command.AttrChange{
		{Entry: attr.Entry{Name: "resources_available", Resource: "mem", Value: "15mb"}},
	}})
	if p := sched.Make(c.store.Publish(), c.now); len(p.Starts) != 0 {
		t.Errorf("it starts by %+v", p.Starts)
	}
}

// RSV-11, RSV-13: a selection by numbers sees what is available, whoever holds the rest; jobs of other selections do not wait with it.
func TestWhere(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=10,mem=1000mb,tmp=100mb")
	c.host("hostb", "hostb:ncpus=10,mem=500mb")
	c.asking("holds", "1:ncpus=1:tmp=50mb")
	c.asking("more", "1:ncpus=1", "lsf_select=tmp>50")
	c.asking("enough", "1:ncpus=1", "lsf_select=tmp>=50")
	c.asking("small", "1:ncpus=1", "lsf_select=maxmem<1000 && ncpus==10")
	c.asking("queue", "1:ncpus=1", "lsf_select=(mem>2000) && (ncpus>1)", "lsf_queue_select=mem>2000")
	c.want("T0", "holds: runs (hosta:ncpus=1:tmp=51200kb)", "more: nothing", "enough: runs (hosta:ncpus=1)", "small: runs (hostb:ncpus=1)", "queue: nothing")
	for name, want := range map[string]string{"more": "Insufficient amount of resource: lsf_select", "queue": "Insufficient amount of resource: lsf_queue_select"} {
		j, _ := c.store.View().Job(c.names[name])
		if j.Wait == nil || strings.TrimSpace(j.Wait.Text()) != want {
			t.Errorf("%s waits for %+v, want %s", name, j.Wait, want)
		}
	}
	c.kill(c.names["holds"])
	c.want("later", "more: runs (hosta:ncpus=1)", "queue: nothing")
}

// A selection sees what hosts report, and what the files of LSF say of them, also of a job that an operator starts, whom thresholds do not keep.
func TestWhere_SeesHosts(t *testing.T) {
	c := newLoaded(t)
	c.host("hosta", "hosta:ncpus=4")
	c.host("hostb", "hostb:ncpus=4")
	c.host("hostc", "hostc:ncpus=4")
	c.limiting(func(l *lsf.Config) {
		l.Hosts = []lsf.Host{
			{Name: "hostb", Model: "Intel", Type: "X86", Factor: 2000},
			{Name: "hostc", Listed: true, Thresholds: []lsf.Threshold{{Index: "r1m", Start: amountOf(1000)}}},
		}
	})
	c.says("hosta", "r1m", 100)
	c.says("hostb", "r1m", 900)
	c.says("hostc", "r1m", 5000)
	for name, sel := range map[string]string{"factor": "cpuf>1", "model": "model==Intel", "type": "type==X86", "load": "r1m>0.5", "status": "status==ok && r1m>0.2"} {
		c.asking(name, "1:ncpus=0", "lsf_select="+sel)
		c.want(sel, name+": runs (hostb:ncpus=0)")
	}
	c.asking("much", "1:ncpus=1", "lsf_select=r1m>4")
	c.want("load of a host that takes no jobs", "much: nothing")
	v := c.store.View()
	j, _ := v.Job(c.names["much"])
	if where, _, why := sched.PlaceOne(v, j, c.loads); where != "(hostc:ncpus=1)" {
		t.Errorf("by hand: %q, %q", where, why)
	}
	if where, _, _ := sched.PlaceOne(v, j, nil); where != "" {
		t.Errorf("where nobody hears hosts: %q", where)
	}
}

// A job that was submitted to a host group has no host while the group is not there (specification: reservation section 10.7).
func TestWhere_GroupThatIsGone(t *testing.T) {
	c := newTurning(t)
	groups := func(all ...lsf.HostGroup) {
		c.limiting(func(l *lsf.Config) { l.HostGroups = all })
		c.cycle()
	}
	c.host("hosta", "hosta:ncpus=2")
	c.host("hostb", "hostb:ncpus=2")
	c.asking("j", "1:ncpus=1", "lsf_asked_hosts=fast")
	c.want("no group", "j: nothing")
	groups(lsf.HostGroup{Name: "fast", Members: []string{"hostb"}})
	c.want("a group", "j: runs (hostb:ncpus=1)")
	groups(lsf.HostGroup{Name: "slow", Members: []string{"hostb"}})
	c.asking("next", "1:ncpus=1", "lsf_asked_hosts=fast")
	c.asking("named", "1:ncpus=1", "lsf_asked_hosts=hostb hostc")
	c.want("gone", "next: nothing", "named: runs (hostb:ncpus=1)")
}
