package command

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// A formula is refused when a name in it stands for nothing, or for no number.
func TestFormula_Names(t *testing.T) {
	w := newWriter(t)
	set := func(text string) error {
		return w.run(&ManageServer{Verb: VerbSet, Changes: []AttrChange{{Entry: attr.Entry{Name: "job_sort_formula", Value: text}}}})
	}
	for text, want := range map[string]string{
		"10*ncpus + walltime/3600 + job_priority + eligible_time": "",
		"fairshare_perc + queue_priority*mem":                     "",
		"nosuch + 1":                                              "Formula contains invalid keyword: nosuch",
		"arch*2":                                                  "Formula contains a resource of an invalid type: arch",
	} {
		err := set(text)
		if got := errorText(err); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A scheduler's formula is looked at as the server's is, and is the server's where both have one.
func TestFormula_OfSchedulers(t *testing.T) {
	const apart = "Server's job_sort_formula value is incompatible with sched's"
	w := newWriter(t)
	w.must(&ManageSched{Verb: VerbCreate, Name: "sc1"})
	unset := []AttrChange{{Op: OpUnset, Entry: attr.Entry{Name: "job_sort_formula"}}}
	server := func(set []AttrChange) Command { return &ManageServer{Verb: VerbSet, Changes: set} }
	sched := func(name string, set []AttrChange) Command {
		return &ManageSched{Verb: VerbSet, Name: name, Changes: set}
	}
	for i, c := range []struct {
		do   Command
		want string
	}{
		{sched("sc1", settings("job_sort_formula=nosuch")), "Formula contains invalid keyword: nosuch"},
		{sched("", settings("job_sort_formula=nosuch")), "Formula contains invalid keyword: nosuch"},
		{sched("sc1", settings("job_sort_formula=ncpus")), ""},
		{sched("", settings("job_sort_formula=2*ncpus")), ""},
		{server(settings("job_sort_formula=ncpus")), apart},
		{sched("", unset), ""},
		{server(settings("job_sort_formula=ncpus")), ""},
		{sched("", settings("job_sort_formula=2*ncpus")), apart},
		{sched("sc1", settings("job_sort_formula=2*ncpus")), apart},
		{server(settings("job_sort_formula=2*ncpus")), apart},
		{server(unset), ""},
		{sched("sc1", settings("job_sort_formula=2*ncpus")), ""},
	} {
		err := w.run(c.do)
		if errorText(err) != c.want || c.want == apart && pbs.CodeOf(err) != 15226 {
			t.Errorf("step %d: %v, want %q", i, err, c.want)
		}
	}
	if own, _ := w.View().For("sc1"); own.Server().SortFormula() != "2*ncpus" || w.View().Server().SortFormula() != "" {
		t.Errorf("sc1 has %q, the default one %q", own.Server().SortFormula(), w.View().Server().SortFormula())
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
