package alloc

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

func TestKeep(t *testing.T) {
	jk := []string{"ncpus=1", "ncpus=2", "ncpus=2", "ncpus=3:mpiprocs=2", "ncpus=3:mpiprocs=2"}
	all := []string{
		"ncpus=1", "ncpus=2:model=abc:longres=7:sizres=7k:fltres=7.1", "ncpus=2:model=def:bigmem=true:longres=9:sizres=9k:fltres=9.1",
		"ncpus=3:model=def:bigmem=true:longres=9:sizres=9k:fltres=9.1", "ncpus=3:model=xyz:longres=10:sizres=10k:fltres=10.1",
	}
	for _, c := range []struct {
		name, wish string
		chunks     []string
		hosts, sel string
		sums       map[string]string
	}{
		{"RK-1", "select=ncpus=2+ncpus=3:mpiprocs=2", jk, "", "1:ncpus=1+1:ncpus=2+1:ncpus=3:mpiprocs=2", map[string]string{"mpiprocs": "2", "ncpus": "6", "nodect": "3"}},
		{"RK-3", "select=ncpus=2:model=def+ncpus=3:model=def", []string{"ncpus=1", "ncpus=2:model=abc", "ncpus=2:model=def", "ncpus=3:model=def", "ncpus=3:model=xyz"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:model=def+1:ncpus=3:model=def", map[string]string{"ncpus": "6", "nodect": "3"}},
		{"RK-4", "select=2:bigmem=true", []string{"ncpus=1", "ncpus=2:bigmem=true", "ncpus=2", "ncpus=3:bigmem=true", "ncpus=3"}, "h1 h2 h4", "1:ncpus=1+1:ncpus=2:bigmem=True+1:ncpus=3:bigmem=True", nil},
		{"RK-5", "select=ncpus=2:longres=9+ncpus=3:longres=9", []string{"ncpus=1", "ncpus=2:longres=7", "ncpus=2:longres=9", "ncpus=3:longres=9", "ncpus=3:longres=10"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:longres=9+1:ncpus=3:longres=9", map[string]string{"longres": "18", "ncpus": "6"}},
		{"RK-6", "select=2:longres=9", []string{"ncpus=1", "ncpus=2:longres=7", "ncpus=2:longres=9", "ncpus=3:longres=9", "ncpus=3:longres=10"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:longres=9+1:ncpus=3:longres=9", map[string]string{"longres": "18", "ncpus": "6"}},
		{"RK-7", "select=2:sizres=9k", []string{"ncpus=1", "ncpus=2:sizres=7k", "ncpus=2:sizres=9k", "ncpus=3:sizres=9k", "ncpus=3:sizres=10k"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:sizres=9kb+1:ncpus=3:sizres=9kb", map[string]string{"sizres": "18kb"}},
		{"RK-8", "select=ncpus=2:fltres=9.1+ncpus=3:fltres=9.1", []string{"ncpus=1", "ncpus=2:fltres=7.1", "ncpus=2:fltres=9.1", "ncpus=3:fltres=9.1", "ncpus=3:fltres=10.1"}, "h1 h3 h4", "1:ncpus=1+1:ncpus=2:fltres=9.1+1:ncpus=3:fltres=9.1", map[string]string{"fltres": "18.2"}},
		{
			"RK-9", "select=" + all[2] + "+" + all[3], all, "h1 h3 h4",
			"1:ncpus=1+1:ncpus=2:model=def:bigmem=True:longres=9:sizres=9kb:fltres=9.1+1:ncpus=3:model=def:bigmem=True:longres=9:sizres=9kb:fltres=9.1",
			map[string]string{"longres": "18", "sizres": "18kb", "fltres": "18.2", "ncpus": "6", "nodect": "3"},
		},
		{"RK-12", "2", jk, "h1 h3 h2", "1:ncpus=1+2:ncpus=2", map[string]string{"ncpus": "5", "nodect": "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := k5(t, c.chunks...)
			w, err := ParseWish(c.wish, defs)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Keep(a, w, nil, defs)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.Kept.Hosts(), " "); c.hosts != "" && got != c.hosts {
				t.Errorf("kept %s, want %s", got, c.hosts)
			}
			if got := s.Kept.SchedSelect; got != c.sel {
				t.Errorf("select %s, want %s", got, c.sel)
			}
			for name, value := range c.sums {
				if got, _ := s.Kept.Resources.Get(name); got != value {
					t.Errorf("Resource_List.%s = %s, want %s", name, got, value)
				}
			}
		})
	}
}

// RK-10, RK-15: chunks over several vnodes stay whole when all of them is wanted.
func TestKeep_SuperChunks(t *testing.T) {
	six := func(h string) string { return fmt.Sprintf("(%s[0]:ncpus=2+%s[1]:ncpus=2+%s[2]:ncpus=2)", h, h, h) }
	nine := func(h string) string { return fmt.Sprintf("(%s[0]:ncpus=3+%s[1]:ncpus=3+%s[2]:ncpus=3)", h, h, h) }
	a := job(t, "(h1:ncpus=1)+"+six("h2")+"+"+six("h3")+"+"+nine("h4")+"+"+nine("h5"), "h1/0+h2/0*0+h3/0*0+h4/0*0+h5/0*0",
		"1:ncpus=1+2:ncpus=6+2:ncpus=9:mpiprocs=2")
	for wish, sel := range map[string]string{
		"select=ncpus=6+ncpus=9:mpiprocs=2": "1:ncpus=1+1:ncpus=6+1:ncpus=9:mpiprocs=2",
		"2":                                 "1:ncpus=1+2:ncpus=6",
		"select=ncpus=5":                    "1:ncpus=1+1:ncpus=6",
	} {
		w, err := ParseWish(wish, defs)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Keep(a, w, nil, defs)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Kept.SchedSelect; got != sel {
			t.Errorf("-k %s: select %s, want %s", wish, got, sel)
		}
		if wish == "select=ncpus=5" {
			if got := s.Kept.ExecVnode.String(); got != "(h1:ncpus=1)+(h3[0]:ncpus=2+h3[1]:ncpus=2+h3[2]:ncpus=1)" {
				t.Errorf("-k %s: kept %s", wish, got)
			}
			if got := s.ReleasedVnodes().String(); !strings.Contains(got, "(h3[2]:ncpus=1)") {
				t.Errorf("-k %s: released %s, want the rest of the cut vnode there", wish, got)
			}
		}
	}
}

func TestKeep_Refusals(t *testing.T) {
	a := k5(t, "ncpus=1", "ncpus=2", "ncpus=2", "ncpus=3", "ncpus=3")
	for wish, refusal := range map[string]struct {
		code pbs.Code
		text string
	}{
		"0":                           {pbs.InvalidRequest, `only a "select=" string is valid in -k option`},
		"place=scatter":               {pbs.InvalidRequest, `only a "select=" string is valid in -k option`},
		"select=":                     {pbs.BadSelect, "illegal -k value"},
		"select=ncpus=x":              {pbs.BadSelect, "illegal -k value: illegal value for ncpus"},
		"select=ncpus=2:unkownres=3":  {pbs.UnknownResource, "Unknown resource: unkownres"},
		"select=ncpus=4":              {pbs.SystemError, "Server returned error 15010 for job"},
		"5":                           {pbs.SystemError, "Server returned error 15010 for job"},
		"select=ncpus=3+2:ncpus=3":    {pbs.SystemError, "Server returned error 15010 for job"},
		"select=ncpus=1:model=absent": {pbs.SystemError, "Server returned error 15010 for job"},
	} {
		w, err := ParseWish(wish, defs)
		if err == nil {
			_, err = Keep(a, w, nil, defs)
		}
		if pbs.CodeOf(err) != refusal.code || err == nil || err.Error() != refusal.text {
			t.Errorf("-k %s: %d %v, want %d %s", wish, pbs.CodeOf(err), err, refusal.code, refusal.text)
		}
	}
	_, err := Keep(a, Wish{Chunks: []spec.Chunk{{Count: 1, Items: resource.List{{Name: "ncpus", Value: "9"}, {Name: "model", Value: "q"}}}}, Text: "ncpus=9:model=q"}, nil, defs)
	u, ok := errors.AsType[*Unsatisfied](err)
	if !ok {
		t.Fatal(err)
	}
	if got := strings.Join(u.Lines(defs), "\n"); got != "could not satisfy select chunk (ncpus=9 ssi=0 mem=0 vmem=0 naccels=0 accel_mem=0)\n"+
		"(model=q)\nNEED chunks for keep_select (ncpus=9:model=q)\nHAVE chunks from job's exec_vnode: "+a.ExecVnode.String() {
		t.Error(got)
	}
}

func TestKeep_AllChangesNothing(t *testing.T) {
	a := k5(t, "ncpus=1", "ncpus=2", "ncpus=2")
	w, err := ParseWish("2", defs)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Keep(a, w, nil, defs); err != nil || !s.Whole() {
		t.Errorf("released %v, %v", s.Released, err)
	}
}

func TestKeep_FailedVnodesSatisfyNothing(t *testing.T) {
	a := k5(t, "ncpus=1", "ncpus=2", "ncpus=2")
	w, _ := ParseWish("1", defs)
	s, err := Keep(a, w, names("h3"), defs)
	if err != nil || s.Kept.ExecVnode.String() != "(h1:ncpus=1)+(h2:ncpus=2)" {
		t.Errorf("kept %s, %v", s.Kept.ExecVnode, err)
	}
}
