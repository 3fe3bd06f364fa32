package resreq

import (
	"errors"
	"strings"
	"testing"
)

// site has what the cases of the chapter name.
var site = Site{
	Resources: map[string]Resource{
		"license": {Name: "license", Kind: Numeric, Consumable: true, Shared: true},
		"lic":     {Name: "lic", Kind: Numeric, Consumable: true, Shared: true},
		"bigmem":  {Name: "bigmem", Kind: Boolean},
		"os":      {Name: "os", Kind: Text},
	},
	UnitTypes: []string{"rack"},
}

func parsed(t *testing.T, text string) Requirement {
	t.Helper()
	r, err := Parse(text, site)
	if err != nil {
		t.Fatalf("%q: %s", text, explain(err))
	}
	return r
}

func explain(err error) string {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Explain()
	}
	return err.Error()
}

// What is accepted, and how it is printed.
func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// RSV-01
		{"rusage[mem=20, license=1:duration=2]", "rusage[mem=20,license=1:duration=2]"},
		{
			"select[mem>100 && type==any] order[-mem:r1m] rusage[mem=20||mem=10:swp=20] span[ptile=2] same[model]",
			"select[mem>100 && type==any] order[-mem:r1m] rusage[mem=20||mem=10:swp=20] span[ptile=2] same[model]",
		},
		{"type==any rusage[tmp=30:duration=30:decay=1]", "select[type==any] rusage[tmp=30:duration=30:decay=1]"},
		{"2*{rusage[mem=10]}+4*{span[ptile=2]}", "2*{rusage[mem=10]}+4*{span[ptile=2]}"},
		{"rusage[mem=1G]", "rusage[mem=1024]"},
		{"span[hosts=-1]", "span[hosts=-1]"},
		{"cu[type=rack:maxcus=1:excl]", "cu[type=rack:maxcus=1:excl]"},
		// the strings of the seed
		{"select[type==any] rusage[swp=100:mem=40:duration=60]", "select[type==any] rusage[swp=100:mem=40:duration=60]"},
		{"select[type==any] rusage[mem=20||mem=10:swp=20]", "select[type==any] rusage[mem=20||mem=10:swp=20]"},
		{"rusage[mem=40:swp=80:tmp=100]", "rusage[mem=40:swp=80:tmp=100]"},

		{"", ""},
		{" \t ", ""},
		{"order[r1m]select[mem>1]", "select[mem>1] order[r1m]"},
		{"cu[excl:balance:usablecuslots=3:pref=maxavail:type=rack]", "cu[type=rack:pref=maxavail:usablecuslots=3:balance:excl]"},
		{"span[hosts = 1]", "span[hosts=1]"},
		{"span[ptile=!]", "span[ptile='!']"},
		{"span[ptile='!',HP9K:8 , PC200 : 6]", "span[ptile='!',HP9K:8,PC200:6]"},
		{"same[type:model:type]", "same[type:model]"},
		// aliases, as they are known
		{"select[swap>1 && login<2 && logins<2 && idle>3 && cpu<4] order[cpu]", "select[swp>1 && ls<2 && ls<2 && it>3 && r1m<4] order[r1m]"},
		{"rusage[swap=5]", "rusage[swp=5]"},
		// amounts
		{"rusage[mem=0010.500]", "rusage[mem=10.5]"},
		{"rusage[mem=1K]", "rusage[mem=1K]"},
		{"rusage[mem=1024K:swp=2T:tmp=3M]", "rusage[mem=1:swp=2097152:tmp=3]"},
		{"rusage[r1m=0.5004]", "rusage[r1m=0.5]"},
		{"rusage[mem=1 G]", "rusage[mem=1024]"},
		// durations
		{"rusage[mem=1:duration=30m:decay=1]", "rusage[mem=1:duration=30:decay=1]"},
		{"rusage[mem=1:duration=1800s:decay=0]", "rusage[mem=1:duration=30]"},
		{"rusage[mem=1:duration=1h]", "rusage[mem=1:duration=60]"},
		{"rusage[mem=1:duration=90s]", "rusage[mem=1:duration=90s]"},
		{"rusage[mem=1:decay=1]", "rusage[mem=1]"},
		{"rusage[mem=1:swp=2:duration=5 && tmp=3, lic=4]", "rusage[mem=1:swp=2:duration=5,tmp=3:lic=4]"},
		// expressions
		{"mem=5", "select[mem==5]"},
		{"!(mem>5||swp<2)&&bigmem", "select[!(mem>5 || swp<2) && bigmem]"},
		{"(mem+1)*2>maxmem-3/1.50", "select[(mem+1)*2>maxmem-3/1.5]"},
		{"defined(lic)&&lic", "select[defined(lic) && lic]"},
		{"hname!=host-1.site && os='Debian GNU'", "select[hname!=host-1.site && os=='Debian GNU']"},
		{`os=="it's"`, `select[os=="it's"]`},
		{"(swp>10)&&(tmp>10)", "select[(swp>10) && (tmp>10)]"},
		{"((swp>10))", "select[((swp>10))]"},
		// terms without braces
		{"2*rusage[mem=10]+4*span[ptile=2]", "2*{rusage[mem=10]}+4*{span[ptile=2]}"},
		{"2*mem>100+3*{}", "2*{select[mem>100]}+3*{}"},
		{"2*(mem+3*swp)>100 + 1*type==any", "2*{select[(mem+3*swp)>100]}+1*{select[type==any]}"},
		{"2*{}+3*", "2*{}+3*{}"},
		{"2*mem>100", "select[2*mem>100]"},
		{"2*mem>100 rusage[mem=3]", "select[2*mem>100] rusage[mem=3]"},
		// RSV-12, ignored
		{"rusage[ncpus=1:mem=10]", "rusage[mem=10]"},
		{"rusage[ncpus=1]", ""},
		{"rusage[ncpus=1||mem=10]", "rusage[mem=10]"},
		{"rusage[os=1:mem=10]", "rusage[mem=10]"},
	} {
		r, err := Parse(c.text, site)
		if err != nil {
			t.Errorf("%q: %s", c.text, explain(err))
			continue
		}
		if got := r.String(); got != c.want {
			t.Errorf("%q prints as %q, want %q", c.text, got, c.want)
		}
		if again, err := Parse(c.want, site); err != nil || again.String() != r.String() {
			t.Errorf("%q, printed, becomes %q, %v", c.text, again, err)
		}
	}
}

// What is refused, with what was wrong, where, and what was expected.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ text, why string }{
		// RSV-02
		{"rusage[mem=20:mem=30]", "at character 15: a second amount of mem, expected each resource once"},
		{"rusage[nosuch=1]", `at character 8: unknown resource "nosuch", expected one that is built in or defined`},
		{"rusage[mem=10:duration=5:decay=2]", `at character 32: found "2", expected 0 or 1`},
		{"span[ptile=0]", `at character 12: found "0", expected a positive integer`},
		{"span[hosts=2]", `at character 12: found "2", expected 1 or -1`},
		{"rusage[mem=(4 3):duration=(1 2)]", `at character 12: found "(", expected a number`},
		{"select[mem>", "at character 12: found the end, expected a number, a resource, defined( or ("},
		{"2*{rusage[mem=1||swp=1]}+1*{span[hosts=1]}", "at character 1: a term of a compound requirement has || in rusage, expected one alternative"},

		{"2*{cu[excl]}+1*{}", "at character 1: a term of a compound requirement has a section cu, expected none"},
		{"2*{rusage[mem=1]}", "at character 18: found the end, expected + and another term"},
		{"0*{}+1*{}", `at character 1: found "0", expected a positive integer`},
		{"rusage[swap=1:swp=2]", "at character 15: a second amount of swp, expected each resource once"},
		{"rusage[lic=1G]", "at character 13: lic has the suffix G, expected one for mem, swp and tmp only"},
		{"rusage[mem=1g]", `at character 13: found "g", expected ]`},
		{"rusage[mem=99999999999999T]", `at character 12: "99999999999999" is too much, expected a smaller number`},
		{"rusage[mem=-1]", `at character 12: found "-", expected a number`},
		{"rusage[]", `at character 8: found "]", expected the name of a resource`},
		{"rusage[mem=1:duration=0]", `at character 23: found "0", expected a positive integer`},
		{"rusage[mem=1:duration=5d]", `at character 24: found "d", expected ]`},
		{"rusage[mem=1:decay=1:duration=5]", `at character 21: found ":", expected ]`},
		{"rusage[duration=5]", `at character 8: unknown resource "duration", expected one that is built in or defined`},
		{"select[mem>1] select[swp>1]", "at character 15: a second section select, expected each section once"},
		{"mem>1 select[swp>1]", "at character 7: a second section select, expected each section once"},
		{"span[hosts=1] mem>1", `at character 15: found "mem", expected a section, or the end`},
		{"mem>5 junk", `at character 7: found "junk", expected a section, or the end`},
		{"!!bigmem", `at character 2: found "!", expected a number, a resource, defined( or (`},
		{"(mem>1)+1", `at character 1: "(mem>1)" is true or false, expected a number`},
		{"1<(!mem)", `at character 3: "(!mem)" is true or false, expected a number`},
		{"os", "at character 3: found the end, expected a comparison, as os is a text"},
		{"os==", "at character 5: found the end, expected a name"},
		{"os=='x", "at character 5: a quote is not closed, expected '"},
		{"os=='\x01'", "at character 6: there is a control character in quotes"},
		{"mem>os", "at character 5: os is a text, expected a number"},
		{"mem>'5'", `at character 5: found "5", expected a number, a resource, defined( or (`},
		{"order[os]", "at character 7: os is a text, expected an index that can be ordered by"},
		{"order[]", `at character 7: found "]", expected the name of a resource`},
		{"same[nosuch]", `at character 6: unknown resource "nosuch", expected one that is built in or defined`},
		{"span[ptile='!',A:1,A:2]", "at character 20: a second number for A, expected one"},
		{"span[ptile=2,A:1]", `at character 13: found ",", expected ]`},
		{"span[ptile='!',3:1]", `at character 16: found "3", expected the name of a type or model of host`},
		{"span[ptile='x']", `at character 12: found "x", expected a positive integer, ! or '!'`},
		{"span[]", `at character 6: found "]", expected hosts or ptile`},
		{"cu[type=shelf]", `at character 9: found "shelf", expected a type of compute units`},
		{"cu[pref=none]", `at character 9: found "none", expected config, maxavail or minavail`},
		{"cu[excl:excl]", "at character 9: a second excl, expected each once"},
		{"cu[maxcus=0]", `at character 11: found "0", expected a positive integer`},
		{"cu[]", `at character 4: found "]", expected type, pref, maxcus, usablecuslots, balance or excl`},
		{"span[ptile=99999999999]", `at character 12: found "99999999999", expected a positive integer`},
		{"\xff", `at character 1: found "\xff", expected a number, a resource, defined( or (`},
		{strings.Repeat(" ", 4097), "at character 4097: the string has 4097 bytes, expected at most 4096"},
		{strings.Repeat("(", 4096), "at character 4097: found the end, expected a number, a resource, defined( or ("},
	} {
		_, err := Parse(c.text, site)
		var refusal *Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%q: %v, want a refusal", c.text, err)
			continue
		}
		if refusal.Error() != "Bad resource requirement syntax" || refusal.Explain() != refusal.Error()+": "+c.why {
			t.Errorf("%q:\n got %s\nwant %s", c.text, refusal.Explain(), c.why)
		}
	}
}

// RSV-12: what cannot be reserved is refused where the site is strict.
func TestStrict(t *testing.T) {
	strict := site
	strict.Strict = true
	_, err := Parse("rusage[ncpus=1:mem=10]", strict)
	want := "Bad resource requirement syntax: at character 8: ncpus cannot be reserved, expected a consumable resource"
	if err == nil || explain(err) != want {
		t.Errorf("%v", err)
	}
}

func TestRefusalTexts(t *testing.T) {
	for cause, want := range map[Cause]string{
		Syntax:            "Bad resource requirement syntax",
		QueueReservation:  "Cannot exceed queue's resource reservation",
		QueueLimit:        "Job cannot exceed queue level RESRSV_LIMIT limitation",
		QueueHardLimit:    "Cannot exceed queue's hard limit(s)",
		TooManyProcessors: "Too many processors requested",
		0:                 "?",
		99:                "?",
	} {
		r := &Refusal{Cause: cause}
		if r.Error() != want {
			t.Errorf("%d: %s", cause, r)
		}
	}
	if got := (&Refusal{Cause: QueueLimit}).PBS().Error(); got != "Job violates queue and/or server resource limits" {
		t.Errorf("PBS: %s", got)
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"licenseX": true, "a_1": true, strings.Repeat("a", 39): true, strings.Repeat("a", 40): false, "": false, "1a": false,
		"mem": false, "swap": false, "duration": false, "a:b": false, "a.b": false, "a(b": false, "a)b": false, "a[b": false,
		"a+b": false, "a-b": false, "a*b": false, "a/b": false, "a!b": false, "a&b": false, "a|b": false, "a<b": false, "a>b": false,
		"a@b": false, "a=b": false, "a b": false,
	} {
		if ValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "select[mem>100 && type==any] order[-mem:r1m] rusage[mem=20||mem=10:swp=20] span[ptile=2] same[model]",
		"2*{rusage[mem=10K]}+4*{span[ptile=2]}", "2*mem>100+3*(os=='a b')", "cu[type=rack:pref=config:maxcus=1:excl]",
		"rusage[mem=1:duration=90s:decay=1,lic=2&&tmp=1.5G]", "span[ptile='!',A:1]", "!(defined(lic))||(a)&&(b)", "((mem))&&(swp)",
		"rusage[mem=(4 3)]", "os!=x-1.y && it/0>3",
	} {
		f.Add(seed)
	}
	nothing := hostValues{}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text, site)
		if err != nil {
			if err.Error() != "Bad resource requirement syntax" || explain(err) == err.Error() {
				t.Fatalf("%q: %v does not say why", text, err)
			}
			return
		}
		again, err := Parse(r.String(), site)
		if err != nil || again.String() != r.String() {
			t.Fatalf("%q prints as %q, which becomes %q, %v", text, r, again, err)
		}
		combined, err := Merge(&r, &r, Queue{Requirement: &r}, false)
		if err != nil {
			return
		}
		if again, err := Parse(combined.String(), site); err != nil || again.String() != combined.String() {
			t.Fatalf("%q is merged to %q, which becomes %q, %v", text, combined, again, err)
		}
		for _, term := range r.Terms {
			Candidates(term.Simple, []hostValues{nothing}, "", site)
		}
	})
}

func FuzzParseLimits(f *testing.F) {
	for _, seed := range []string{"[mem=30,100]", "[mem={30,}100] [swp=5:lic=1,2]", "[mem=5,1]", "[", "mem=1", "[mem=0.0001]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits, _ := ParseLimits(text, site)
		again, invalid := ParseLimits(limits.String(), site)
		if len(invalid) > 0 || again.String() != limits.String() {
			t.Fatalf("%q prints as %q, which becomes %q, %v", text, limits, again, invalid)
		}
	})
}
