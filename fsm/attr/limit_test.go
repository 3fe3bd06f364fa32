package attr

import "testing"

func TestLimits_ChangeOneEntry(t *testing.T) {
	const text = "[u:PBS_GENERIC=2],[u:ann=5],[o:PBS_ALL=10]"
	d, _ := Lookup(Server, "max_run")
	got, err := d.Parse(` [u:PBS_GENERIC = 2], [u:"ann"=5],[o:PBS_ALL=10]`)
	if err != nil || got != text {
		t.Fatalf("parsed %q, %v", got, err)
	}
	if all := LimitsOf(text); len(all) != 3 || all[1] != (Limit{'u', "ann", "5"}) {
		t.Errorf("entries %v", all)
	}
	for _, c := range []struct{ got, want string }{
		{WithLimits(text, "[u:ann=7],[g:staff=1]"), "[u:PBS_GENERIC=2],[u:ann=7],[o:PBS_ALL=10],[g:staff=1]"},
		{WithLimits("", "[u:ann=7]"), "[u:ann=7]"},
		{WithoutLimits(text, "[u:ann=1]"), "[u:PBS_GENERIC=2],[o:PBS_ALL=10]"},
		{WithoutLimits("[u:ann=7]", "[u:ann=7]"), ""},
		{NamesOfLimits("[u:ann], [g:staff=3],[p:x]"), "[u:ann=0], [g:staff=3],[p:x=0]"},
		{NamesOfLimits("[u:ann"), "[u:ann"},
		{NamesOfLimits(""), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// Whatever was taken as limits can be read again, entry by entry, and says the same.
func FuzzLimits(f *testing.F) {
	for _, seed := range []string{"[u:PBS_GENERIC=2],[u:ann=5],[o:PBS_ALL=10]", `[g:"a b"=1]`, "[u:a=1]]", "[o:x=1]", "[u:a=b=1]", ""} {
		f.Add(seed)
	}
	d, _ := Lookup(Server, "max_run")
	f.Fuzz(func(t *testing.T, text string) {
		value, err := d.Parse(text)
		if err != nil {
			return
		}
		if again, err := d.Parse(value); err != nil || again != value {
			t.Errorf("%q is read again as %q, %v", value, again, err)
		}
		if got := WithLimits("", value); got != value {
			t.Errorf("%q has the entries %q", value, got)
		}
		if left := WithoutLimits(value, value); left != "" {
			t.Errorf("%q without itself is %q", value, left)
		}
	})
}

// Destinations that were taken can be taken again.
func FuzzDestinations(f *testing.F) {
	for _, seed := range []string{"a,b@srv", "a, b", "@srv", "a@", ",", "q1,q1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if list, ok := parseDestinations(text); ok {
			if again, ok := parseDestinations(list); !ok || again != list {
				t.Errorf("%q is read again as %q", list, again)
			}
		}
	})
}
