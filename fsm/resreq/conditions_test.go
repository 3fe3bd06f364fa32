package resreq

import (
	"fmt"
	"testing"
)

func TestSplit(t *testing.T) {
	site := Site{Resources: map[string]Resource{
		"big": {Name: "big", Kind: Boolean}, "color": {Name: "color", Kind: Text}, "lic": {Name: "lic", Kind: Numeric},
	}}
	for _, c := range []struct{ text, want, more string }{
		{"", "[]", ""},
		{"type==any", "[]", ""},
		{"select[big && color=red]", "[{big  false} {color red false}]", ""},
		{"select[!big && (color!=red)]", "[{big  true}]", "(color!=red)"},
		{"select[!(!big) && type==X86]", "[{big  false} {type X86 false}]", ""},
		{"select[!(color==red)]", "[]", "!(color==red)"},
		{"select[!(big && color==red)]", "[]", "!(big && color==red)"},
		{"select[big || color==red]", "[]", "big || color==red"},
		{"select[big && mem>5]", "[{big  false}]", "mem>5"},
		{"select[big && (mem>5 && (swp>3 || lic))]", "[{big  false}]", "(mem>5) && ((swp>3 || lic))"},
		{"select[lic]", "[]", "lic"},
		{"select[defined(big)]", "[]", "defined(big)"},
	} {
		r, err := Parse(c.text, site)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		all, rest := r.Terms[0].Select.Split(site)
		more := ""
		if rest.Given() {
			more = rest.String()
		}
		if got := fmt.Sprint(all); got != c.want || more != c.more {
			t.Errorf("%s: %s, %q, want %s, %q", c.text, got, more, c.want, c.more)
		}
	}
}

// The type of the host that a job came from stands where it says local, and nowhere else.
func TestLocal(t *testing.T) {
	for text, want := range map[string]string{
		"select[type==local]":                           "select[type==x86]",
		"select[(type==local || mem>5) && type!=local]": "select[(type==x86 || mem>5) && type!=x86]",
		"2*{type==local}+1*{hname==local}":              "2*{select[type==x86]}+1*{select[hname==local]}",
		"select[hname==local] rusage[mem=5]":            "select[hname==local] rusage[mem=5]",
	} {
		r, err := Parse(text, Site{})
		if err != nil {
			t.Fatal(err)
		}
		before := r.String()
		got, some := r.Local("x86")
		if got.String() != want || some != (before != want) || r.String() != before {
			t.Errorf("%s: %s, %v, want %s; it is %s now", text, got, some, want, r)
		}
	}
}
