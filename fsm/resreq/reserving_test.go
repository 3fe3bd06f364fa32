package resreq

import "testing"

// Of a job that runs only what it reserves can change: whatever else is said must be as it is.
func TestReserving(t *testing.T) {
	for _, c := range []struct{ own, other, want string }{
		{"", "rusage[mem=5]", "rusage[mem=5]"},
		{"select[mem>100] order[mem] span[ptile=2] rusage[mem=50]", "rusage[mem=20:swp=1]", "select[mem>100] order[mem] rusage[mem=20:swp=1] span[ptile=2]"},
		{"rusage[mem=50] span[hosts=1]", "select[type==any] rusage[mem=20] span[hosts=1]", "rusage[mem=20] span[hosts=1]"},
		{"rusage[mem=50] same[model]", "type==any", "same[model]"},
		{"2*{rusage[mem=10]}+1*{span[hosts=1]}", "2*{rusage[mem=5]}+1*{rusage[mem=1]}", "2*{rusage[mem=5]}+1*{rusage[mem=1] span[hosts=1]}"},
		{"rusage[mem=50]", "select[mem>5] rusage[mem=20]", ""},
		{"select[mem>5]", "select[mem>6]", ""},
		{"order[mem]", "order[-mem]", ""},
		{"span[ptile=2]", "span[ptile=1]", ""},
		{"same[model]", "same[type]", ""},
		{"cu[type=rack]", "cu[type=rack:maxcus=1]", ""},
		{"rusage[mem=50]", "1*{rusage[mem=5]}+1*{rusage[mem=1]}", ""},
		{"2*{rusage[mem=10]}+1*{span[hosts=1]}", "rusage[mem=5]", ""},
		{"2*{rusage[mem=10]}+1*{span[hosts=1]}", "1*{rusage[mem=5]}+2*{rusage[mem=1]}", ""},
	} {
		site := Site{UnitTypes: []string{"rack"}}
		own, err := Parse(c.own, site)
		if c.own == "" {
			own, err = Requirement{}, nil
		}
		other, err2 := Parse(c.other, site)
		if err != nil || err2 != nil {
			t.Fatal(c, err, err2)
		}
		got, ok := own.Reserving(other)
		if ok != (c.want != "") || ok && got.String() != c.want {
			t.Errorf("%s with %s: %s, %t; want %s", c.own, c.other, got, ok, c.want)
		}
	}
}
