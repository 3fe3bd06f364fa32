package sched_test

import "testing"

// RSV-01: each host gives once what several slots of a job share; without it a host gets none of them.
func TestLayout_Once(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=2,mem=100mb")
	c.host("hostb", "hostb:ncpus=4,mem=50mb")
	c.host("hostc", "hostc:ncpus=4,mem=60mb")
	c.asking("j", "3:ncpus=1:mem=60mb", "lsf_layout=1:once=mem")
	c.asking("many", "5:ncpus=1:mem=60mb", "lsf_layout=1:once=mem")
	c.asking("apart", "4:ncpus=1:mem=50mb")
	c.want("T0", "j: runs (hosta:ncpus=1:mem=61440kb)+(hosta:ncpus=1)+(hostc:ncpus=1:mem=61440kb)", "many: nothing", "apart: nothing")
}

// RSV-01: a span holds among the slots of its term, which may stand beside those of others.
func TestLayout_Scatter(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=5,mem=100mb")
	c.host("hostb", "hostb:ncpus=2,mem=100mb")
	c.asking("j", "1:ncpus=1+2:ncpus=2", "lsf_layout=1 2:scatter 2:scatter") // of a select that was altered since
	c.want("altered", "j: runs (hosta:ncpus=1)+(hosta:ncpus=2)+(hosta:ncpus=2)")
	c.kill(c.names["j"])
	c.asking("rest", "1:ncpus=2+1:ncpus=1", "lsf_layout=1:scatter 1:scatter")
	c.want("rest", "rest: runs (hosta:ncpus=2)+(hostb:ncpus=1)")
	c.kill(c.names["rest"])
	c.asking("k", "1:ncpus=1+2:ncpus=2", "lsf_layout=1 2:scatter")
	c.asking("l", "2:ncpus=2", "lsf_layout=1:scatter")
	c.want("T0", "k: runs (hosta:ncpus=1)+(hosta:ncpus=2)+(hostb:ncpus=2)", "l: nothing")
}

// RSV-01: who has a unit to himself waits until nobody is there, and keeps others from all of it.
func TestLayout_Unit(t *testing.T) {
	c := newTurning(t)
	c.host("hosta", "hosta:ncpus=2,arch=one")
	c.host("hostb", "hostb:ncpus=2,arch=one")
	c.asking("there", "1:ncpus=1:host=hostb")
	c.asking("j", "1:ncpus=1", "Resource_List.place=free:exclhost:group=arch", "lsf_layout=1 unit")
	c.want("T0", "there: runs (hostb:ncpus=1)", "j: nothing")
	c.kill(c.names["there"])
	c.want("later", "j: runs (hosta:ncpus=1)+(hostb:ncpus=0)")
	c.asking("other", "1:ncpus=1")
	c.want("then", "other: nothing")
}

// Hosts agree in each of several resources; those that lack one are with nobody. What is kept while the job waits is of one such group, too.
func TestLayout_Same(t *testing.T) {
	c := newTurning(t)
	c.resource("color", "string")
	c.host("hosta", "hosta:ncpus=2,arch=one,color=red")
	c.host("hostb", "hostb:ncpus=2,arch=one,color=blue")
	c.host("hostc", "hostc:ncpus=2,arch=two,color=red")
	c.host("hostd", "hostd:ncpus=4,arch=one")
	c.host("hoste", "hoste:ncpus=1,arch=two,color=red")
	c.asking("j", "3:ncpus=1", "Resource_List.place=free:group=arch", "lsf_layout=1 same=color")
	c.asking("more", "4:ncpus=1", "Resource_List.place=free:group=arch", "lsf_layout=1 same=color")
	c.asking("one", "4:ncpus=1", "Resource_List.place=free:group=arch")
	c.want("T0", "j: runs (hostc:ncpus=1)+(hostc:ncpus=1)+(hoste:ncpus=1)", "more: nothing", "one: runs (hosta:ncpus=1)+(hosta:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)")
}

// A job is in as few compute units as can be, and in no more than it says; of each but one it has as many slots as it says, or of each as
// many chunks.
func TestLayout_Units(t *testing.T) {
	for _, c := range []struct{ layout, sel, want string }{
		{"1 cus=arch:max=3", "2:ncpus=1", "(hosta:ncpus=1)+(hosta:ncpus=1)"},
		{"1 cus=arch:max=2", "7:ncpus=1", "(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)"},
		{"1 cus=arch:max=2", "8:ncpus=1", ""},
		{"1 cus=arch:max=3", "8:ncpus=1", "(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)+(hosta:ncpus=1)"},
		{"1 1 cus=arch:max=2", "2:ncpus=2+1:ncpus=1", "(hostd:ncpus=2)+(hostd:ncpus=2)+(hostb:ncpus=1)"},
		{"1 cus=arch:usable=3", "7:ncpus=1", "(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)"},
		{"1 cus=arch:usable=4", "8:ncpus=1", ""},
		{"1 cus=arch:balance", "4:ncpus=1", "(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)"},
		{"1 cus=arch:balance", "5:ncpus=1", "(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)"},
		{"1 cus=arch:balance", "7:ncpus=1", "(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)"},
		{"1 cus=arch:balance", "8:ncpus=1", "(hostd:ncpus=1)+(hostd:ncpus=1)+(hostd:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)+(hosta:ncpus=1)+(hosta:ncpus=1)"},
		{"1 cus=arch:balance", "9:ncpus=1", ""},
		{"1 cus=arch:max=1:balance", "5:ncpus=1", ""},
	} {
		b := newTurning(t)
		b.host("hosta", "hosta:ncpus=2,arch=one")
		b.host("hostb", "hostb:ncpus=2,arch=two")
		b.host("hostc", "hostc:ncpus=1,arch=two")
		b.host("hostd", "hostd:ncpus=4,arch=three")
		b.host("hoste", "hoste:ncpus=4") // is in none
		b.asking("j", c.sel, "lsf_layout="+c.layout)
		want := "j: nothing"
		if c.want != "" {
			want = "j: runs " + c.want
		}
		b.want(c.layout+" "+c.sel, want)
	}
}

// What is kept for a job that waits is of hosts that it may have: of no more compute units than it takes, of one at most that is too small for
// it, of each its share, and of one group for each term.
func TestLayout_Kept(t *testing.T) {
	for _, c := range []struct {
		place, layout, sel string
		used               []string // hosts that have one cpu free
		want               string
	}{
		{"free", "1 cus=arch:max=2", "6:ncpus=1", []string{"hosta"}, "1/0*hosta 2/0*hostb 2/0*hostc"},
		{"free", "1 cus=arch:max=2:usable=3", "5:ncpus=1", []string{"hosta", "hostb", "hostc"}, "1/0*hosta 1/0*hostb 1/0*hostc"},
		{"free", "1 cus=arch:usable=4", "6:ncpus=1", []string{"hosta"}, "1/0*hosta 2/0*hostb 2/0*hostc"},
		{"free", "1 cus=arch:usable=4", "4:ncpus=1", []string{"hosta"}, "1/0*hosta 2/0*hostb 1/0*hostc"},
		{"free", "1 cus=arch:balance", "6:ncpus=1", []string{"hosta"}, "1/0*hosta 1/0*hostb 2/0*hostc 1/0*hostd"},
		{"free:group=color", "1 cus=arch:max=2", "4:ncpus=1", []string{"hostb", "hostc"}, "2/0*hosta 1/0*hostc"},
		{"free", "1:same=color 2:same=color 3", "3:ncpus=1+2:ncpus=1+1:ncpus=1", []string{"hosta", "hostd"}, "runs (hosta:ncpus=1)+(hostc:ncpus=1)+(hostc:ncpus=1)+(hostb:ncpus=1)+(hostb:ncpus=1)+(hoste:ncpus=1)"},
		{"free", "1:same=color 2:same=color 3", "3:ncpus=1+3:ncpus=1+4:ncpus=1", []string{"hosta", "hostb"}, "2/0*hoste 1/0*hosta 1/0*hostb 2/0*hostc 1/0*hostd"},
		{"pack:group=arch", "1", "2:ncpus=1", []string{"hosta", "hostb", "hostc"}, "1/0*hosta"},
	} {
		b := newTurning(t)
		b.resource("color", "string")
		b.making("normal", "slot_reserve=20")
		b.host("hoste", "hoste:ncpus=2")
		b.host("hosta", "hosta:ncpus=2,arch=one,color=red")
		b.host("hostb", "hostb:ncpus=2,arch=one,color=blue")
		b.host("hostc", "hostc:ncpus=2,arch=two,color=red")
		b.host("hostd", "hostd:ncpus=2,arch=three,color=blue")
		for _, h := range append(c.used, "hostd") {
			b.asking("on"+h, "1:ncpus=1:host="+h)
		}
		b.asking("j", c.sel, "Resource_List.place="+c.place, "lsf_layout="+c.layout)
		b.want(c.layout+" "+c.sel, "j: "+c.want)
	}
}
