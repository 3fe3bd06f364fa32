package resreq

import (
	"fmt"
	"testing"
)

func TestConditions(t *testing.T) {
	site := Site{Resources: map[string]Resource{
		"big": {Name: "big", Kind: Boolean}, "color": {Name: "color", Kind: Text}, "lic": {Name: "lic", Kind: Numeric},
	}}
	for _, c := range []struct{ text, want, more string }{
		{"", "[]", ""},
		{"type==any", "[]", ""},
		{"select[big && color=red]", "[{big  false} {color red false}]", ""},
		{"select[!big && (color!=red)]", "[{big  true} {color red true}]", ""},
		{"select[!(!big) && type==X86]", "[{big  false} {type X86 false}]", ""},
		{"select[!(color==red)]", "[{color red true}]", ""},
		{"select[!(big && color==red)]", "[]", "!(big && color==red)"},
		{"select[big || color==red]", "[]", "big || color==red"},
		{"select[big && mem>5]", "[]", "mem>5"},
		{"select[lic]", "[]", "lic"},
		{"select[defined(big)]", "[]", "defined(big)"},
	} {
		r, err := Parse(c.text, site)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		all, more := r.Terms[0].Select.Conditions(site)
		if got := fmt.Sprint(all); got != c.want || more != c.more {
			t.Errorf("%s: %s, %q, want %s, %q", c.text, got, more, c.want, c.more)
		}
	}
}
