package command

import (
	"testing"

	"rampart/fsm/attr"
)

// A formula is refused when a name in it stands for nothing, or for no number.
func TestFormula_Names(t *testing.T) {
	w := newWriter(t)
	w.must(&RaiseLevel{Level: FeatureLevel})
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

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
