package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// site is a table with a boolean and a consumable of its own beside PBS's.
type site struct{}

func (site) Resource(name string) (resource.Def, bool) {
	switch name {
	case "foo":
		return resource.Def{Name: name, Type: resource.Boolean, Flags: resource.AtHost}, true
	case "lic":
		return resource.Def{Name: name, Type: resource.Long, Flags: resource.AtHost | resource.PerVnode}, true
	}
	return resource.Lookup(name)
}

func TestParseSelect(t *testing.T) {
	for text, want := range map[string]string{
		"3:ncpus=2:mem=1gb":             "3:ncpus=2:mem=1gb",
		"ncpus=2":                       "1:ncpus=2",
		"3":                             "3",
		"3:ncpus=2+1:host=a:foo=True":   "3:ncpus=2+1:host=a:foo=True",
		"ncpus=3:mem=2gb+ncpus=2":       "1:ncpus=3:mem=2gb+1:ncpus=2",
		"007:ncpus=1":                   "7:ncpus=1",
		"1:vnode=hosta[0]":              "1:vnode=hosta[0]",
		`1:software="My App"`:           `1:software="My App"`,
		`1:software='My App'`:           `1:software="My App"`,
		`1:software="a+b:c=d"`:          `1:software="a+b:c=d"`,
		`1:software='say "x"'`:          `1:software='say "x"'`,
		`1:software="plain"`:            `1:software=plain`,
		"2:ncpus=1:mem=10mb+1:ncpus=2":  "2:ncpus=1:mem=10mb+1:ncpus=2",
		"1:ncpus=1:aoe=a,b":             "1:ncpus=1:aoe=a,b",
		"131072:ncpus=1":                "131072:ncpus=1",
		"1:no_such_resource=anything/x": "1:no_such_resource=anything/x",
	} {
		s, err := ParseSelect(text)
		if err != nil || s.String() != want {
			t.Errorf("%s becomes %s, %v, want %s", text, s, err, want)
		}
	}
}

func TestParseSelect_Refused(t *testing.T) {
	const malformed = "Illegal attribute or resource value Resource_List.select"
	for text, want := range map[string]string{
		"":                             malformed,
		"1:ncpus=1+":                   malformed,
		"+1:ncpus=1":                   malformed,
		"1:ncpus=1++1:ncpus=1":         malformed,
		"1:":                           malformed,
		":ncpus=1":                     malformed,
		"0:ncpus=1":                    malformed,
		"-1:ncpus=1":                   malformed,
		"1x:ncpus=1":                   malformed,
		"1:ncpus":                      malformed,
		"1:ncpus=":                     malformed,
		"1:=1":                         malformed,
		"1:ncpus=1=2":                  malformed,
		"1:ncpus=1 + 1:ncpus=2":        malformed,
		`1:software="My App`:           malformed,
		`1:software=""`:                malformed,
		`1:software="a"b`:              malformed,
		"1:a=b\nc":                     malformed,
		"1:a=\xff":                     malformed,
		"1:a=\x00":                     malformed,
		"(1:ncpus=1)":                  malformed,
		"131073":                       malformed,
		"99999999999999999999:ncpus=1": malformed,
		"131072+1":                     malformed,
		strings.Repeat("1+", 1<<21):    malformed,
		"1" + strings.Repeat(":a=1", 5): "duplicated resource within a section of a select specification, " +
			"resource is: a",
	} {
		_, err := ParseSelect(text)
		if err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := ParseSelect("1:ncpus=1:ncpus=2"); pbs.CodeOf(err) != pbs.DuplicateResource {
		t.Errorf("a repeated resource: %v", err)
	}
}

func TestComplete(t *testing.T) {
	defaults := resource.List{{Name: "mem", Value: "1mb"}, {Name: "ncpus", Value: "1"}}
	for text, want := range map[string]string{
		"3:ncpus=2:mem=1gb":           "3:ncpus=2:mem=1gb",
		"2":                           "2:mem=1mb:ncpus=1",
		"mem=10m":                     "1:mem=10mb:ncpus=1",
		"1:foo=t:mem=100+ncpus=2":     "1:foo=True:mem=100b:ncpus=1+1:ncpus=2:mem=1mb",
		"1:foo=0:ncpus=02:mem=1":      "1:foo=False:ncpus=2:mem=1b",
		"2:ncpus=1:mem=10mb+1:host=a": "2:ncpus=1:mem=10mb+1:host=a:mem=1mb:ncpus=1",
	} {
		sel, err := ParseSelect(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Complete(sel, defaults, site{})
		if err != nil || got.String() != want {
			t.Errorf("%s becomes %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestComplete_Refused(t *testing.T) {
	for text, want := range map[string]struct {
		code pbs.Code
		text string
	}{
		"1:nosuch=1":      {15035, "Unknown resource: nosuch"},
		"1:walltime=1":    {15108, `Resource invalid in "select" specification: walltime`},
		"1:nodect=1":      {15108, `Resource invalid in "select" specification: nodect`},
		"1:ncpus=abc":     {15014, "Illegal attribute or resource value Resource_List.select"},
		"1:ncpus=-1":      {15014, "Illegal attribute or resource value Resource_List.select"},
		"1:foo=maybe":     {15014, "Illegal attribute or resource value Resource_List.select"},
		"1:mem=9000000pb": {15014, "Illegal attribute or resource value Resource_List.select"},
	} {
		sel, err := ParseSelect(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Complete(sel, nil, site{})
		if pbs.CodeOf(err) != want.code || err.Error() != want.text {
			t.Errorf("%s: %v (%d), want %v", text, err, pbs.CodeOf(err), want)
		}
	}
}

func TestComplete_BoundedAsTheParserIs(t *testing.T) {
	var defaults resource.List
	for i := range maxItems {
		defaults = append(defaults, resource.Item{Name: fmt.Sprintf("b%03d", i), Value: "1"})
	}
	sel, _ := ParseSelect("2:ncpus=1")
	if _, err := Complete(sel, defaults, anything{}); pbs.CodeOf(err) != pbs.BadAttributeValue {
		t.Errorf("%d resources in a chunk: %v", maxItems+1, err)
	}
	got, err := Complete(sel, defaults[1:], anything{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseSelect(got.String()); err != nil {
		t.Errorf("%d resources in a chunk cannot be read again: %v", maxItems, err)
	}
}

// anything is a table in which every name is a long of hosts.
type anything struct{}

func (anything) Resource(name string) (resource.Def, bool) {
	return resource.Def{Name: name, Type: resource.Long, Flags: resource.AtHost}, true
}

func TestComplete_LeavesItsArgumentsAlone(t *testing.T) {
	sel, _ := ParseSelect("1:foo=t")
	defaults := resource.List{{Name: "ncpus", Value: "01"}}
	if _, err := Complete(sel, defaults, site{}); err != nil {
		t.Fatal(err)
	}
	if sel.String() != "1:foo=t" || defaults[0].Value != "01" {
		t.Errorf("the select is now %s, the defaults %v", sel, defaults)
	}
}

func TestSum(t *testing.T) {
	for text, want := range map[string]string{
		"3:ncpus=2:mem=1gb":                     "mem=3gb ncpus=6 nodect=3",
		"1:ncpus=64":                            "ncpus=64 nodect=1",
		"2:ncpus=1:mem=10mb+1:ncpus=2":          "mem=20mb ncpus=4 nodect=3",
		"1:ncpus=1:mem=10240kb+1:ncpus=2":       "mem=10240kb ncpus=3 nodect=2",
		"1:mem=1gb+1:mem=512mb:foo=True:host=a": "mem=1536mb nodect=2",
		"2:ncpus=4:mpiprocs=4:ompthreads=2":     "mpiprocs=8 ncpus=8 nodect=2",
		"4:lic=3":                               "lic=12 nodect=4",
		"5":                                     "nodect=5",
	} {
		sel, err := ParseSelect(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Sum(sel, site{})
		if err != nil || words(got) != want {
			t.Errorf("%s sums to %s, %v, want %s", text, words(got), err, want)
		}
	}
}

func words(l resource.List) string {
	var out []string
	for _, item := range l {
		out = append(out, item.Name+"="+item.Value)
	}
	return strings.Join(out, " ")
}

func TestSum_Overflow(t *testing.T) {
	sel, _ := ParseSelect("2:ncpus=9223372036854775807")
	_, err := Sum(sel, site{})
	if err == nil || err.Error() != "Illegal attribute or resource value Resource_List.ncpus" {
		t.Errorf("got %v", err)
	}
}

func TestFromList(t *testing.T) {
	sel, place := FromList(resource.Sorted([]resource.Item{
		{Name: "ncpus", Value: "4"}, {Name: "walltime", Value: "01:00:00"}, {Name: "mem", Value: "2gb"}, {Name: "nosuch", Value: "1"},
	}), site{})
	if sel.String() != "1:mem=2gb:ncpus=4" || place.String() != "pack" {
		t.Errorf("got %s, %s", sel, place)
	}
}

func TestParsePlace(t *testing.T) {
	for text, want := range map[string]string{
		"free": "free", "scatter": "scatter", "vscatter:excl": "vscatter:excl", "pack:shared": "pack:shared",
		"excl": "excl", "excl:scatter": "scatter:excl", "scatter:exclhost:group=switch": "scatter:exclhost:group=switch",
		"group=host": "group=host",
	} {
		p, err := ParsePlace(text)
		if err != nil || p.String() != want {
			t.Errorf("%s becomes %s, %v, want %s", text, p, err, want)
		}
	}
	for _, text := range []string{
		"", "nosuch", "free:pack", "excl:shared", "scatter:", ":", "group=", "group=a:group=b", "group=a=b", "Free", "free excl", "group=2",
	} {
		_, err := ParsePlace(text)
		if err == nil || err.Error() != "Illegal attribute or resource value Resource_List.place" {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got := (Place{}).String(); got != "free" {
		t.Errorf("nothing said prints as %s", got)
	}
}

func TestParseExecVnode(t *testing.T) {
	const text = "(hosta[1]:ncpus=1:mem=10240kb+hosta[2]:ncpus=1)+(hostb:ncpus=1)+(hostd)"
	got, err := ParseExecVnode(text)
	want := ExecVnode{
		{Parts: []ExecPart{
			{Vnode: "hosta[1]", Items: resource.List{{Name: "ncpus", Value: "1"}, {Name: "mem", Value: "10240kb"}}},
			{Vnode: "hosta[2]", Items: resource.List{{Name: "ncpus", Value: "1"}}},
		}},
		{Parts: []ExecPart{{Vnode: "hostb", Items: resource.List{{Name: "ncpus", Value: "1"}}}}},
		{Parts: []ExecPart{{Vnode: "hostd"}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) || got.String() != text {
		t.Fatalf("got %s, %v", got, err)
	}
	again, _ := ParseExecVnode("(b:ncpus=1)+(a:ncpus=1)+(b:ncpus=1)")
	if names := again.Vnodes(); !slices.Equal(names, []pbs.VnodeName{"b", "a"}) {
		t.Errorf("vnodes are %v", names)
	}
}

func TestParseExecVnode_Refused(t *testing.T) {
	for _, text := range []string{
		"", "hosta", "(", ")", "()", "(a", "(a)(b)", "(a)+", "+(a)", "(a)+b", "((a))", "(a:ncpus)", "(a:ncpus=1:ncpus=2)",
		"(a+)", "(a b)", "(a:x=\"y)", "(a:)", "(:ncpus=1)", "(a,b)", "(a)\n",
	} {
		_, err := ParseExecVnode(text)
		if err == nil || err.Error() != "Illegal attribute or resource value exec_vnode" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseExecHost(t *testing.T) {
	for text, want := range map[string]string{
		"hosta/0*2+hostb/0*2+hostc/0*2": "hosta/0*2+hostb/0*2+hostc/0*2",
		"hosta/1+hostb/12":              "hosta/1+hostb/12",
		"hosta/0*1":                     "hosta/0",
		"hosta/0*0":                     "hosta/0*0",
	} {
		e, err := ParseExecHost(text)
		if err != nil || e.String() != want {
			t.Errorf("%s becomes %s, %v", text, e, err)
		}
	}
	for _, text := range []string{"", "a", "a/", "/0", "a/x", "a/-1", "a/0*", "a/0*x", "a/0+", "a/0*2*3", "a/0/1", "a b/0", "a/+1"} {
		if e, err := ParseExecHost(text); err == nil {
			t.Errorf("%q becomes %s", text, e)
		}
	}
}

// selects draws selects of any shape.
func selects(t *rapid.T) Select {
	value := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9_./-]{1,8}`),
		rapid.StringMatching(`[a-z0-9 +:=()]{1,8}`),
		rapid.StringMatching(`[a-z'+: ]{1,8}`),
		rapid.StringMatching(`[a-z"+: ]{1,8}`),
	)
	return Select{Chunks: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Chunk {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9_]{0,5}`), 0, 4, rapid.ID).Draw(t, "names")
		c := Chunk{Count: rapid.IntRange(1, 1000).Draw(t, "count")}
		for _, name := range names {
			c.Items = append(c.Items, resource.Item{Name: name, Value: value.Draw(t, "value")})
		}
		return c
	}), 1, 5).Draw(t, "chunks")}
}

func TestProperty_SelectIsReadAsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := selects(t)
		got, err := ParseSelect(want.String())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s becomes %s, %v", want, got, err)
		}
	})
}

func TestProperty_ExecVnodeIsReadAsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want ExecVnode
		for _, c := range selects(t).Chunks {
			name := rapid.StringMatching(`[a-z][a-z0-9.\[\]-]{0,8}`).Draw(t, "vnode")
			want = append(want, ExecChunk{Parts: []ExecPart{{Vnode: pbs.VnodeName(name), Items: c.Items}}})
		}
		got, err := ParseExecVnode(want.String())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s becomes %s, %v", want, got, err)
		}
	})
}

func TestProperty_CompletingTwiceChangesNothing(t *testing.T) {
	defaults := resource.List{{Name: "mem", Value: "1mb"}, {Name: "ncpus", Value: "1"}}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[1-9]?(:?(ncpus|lic)=[0-9]{1,3})?(:mem=[0-9]{1,4}[kmg]?b?)?(:foo=[tf01])?`).Draw(t, "chunk")
		sel, err := ParseSelect(text)
		if err != nil {
			return
		}
		once, err := Complete(sel, defaults, site{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		twice, err := Complete(once, defaults, site{})
		if err != nil || twice.String() != once.String() {
			t.Fatalf("%s becomes %s, then %s, %v", text, once, twice, err)
		}
		if _, err := Sum(once, site{}); err != nil {
			t.Fatalf("sum of %s: %v", once, err)
		}
	})
}
