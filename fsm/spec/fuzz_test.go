package spec

import (
	"fmt"
	"strings"
	"testing"
)

// fixedPoint fails if what was printed is not read as the same again.
func fixedPoint[T fmt.Stringer](t *testing.T, text string, parse func(string) (T, error)) {
	t.Helper()
	first, err := parse(text)
	if err != nil {
		return
	}
	second, err := parse(first.String())
	if err != nil || second.String() != first.String() {
		t.Fatalf("%q prints as %q, which becomes %q, %v", text, first, second, err)
	}
}

func FuzzParseSelect(f *testing.F) {
	for _, seed := range []string{
		"3:ncpus=2:mem=1gb", "ncpus=1+ncpus=2", "3", `1:software="a+b:c"`, `1:s='x"y'`, "1:ncpus=1+", "1:a=1:a=2", "", "0",
		"1:vnode=hosta[0]", "131073", `1:a="`, "1:é=ü",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fixedPoint(t, text, ParseSelect)
		sel, err := ParseSelect(text)
		if err != nil {
			return
		}
		complete, err := Complete(sel, nil, site{})
		if err != nil {
			return
		}
		fixedPoint(t, complete.String(), ParseSelect)
		if again, err := Complete(complete, nil, site{}); err != nil || again.String() != complete.String() {
			t.Fatalf("%q is completed to %q, then to %q, %v", text, complete, again, err)
		}
		if _, err := Sum(complete, site{}); err != nil && !strings.HasPrefix(err.Error(), "Illegal attribute") {
			t.Fatalf("sum of %q: %v", complete, err)
		}
	})
}

func FuzzParsePlace(f *testing.F) {
	for _, seed := range []string{"free", "scatter:excl:group=host", "excl:pack", "", ":", "group="} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fixedPoint(t, text, ParsePlace) })
}

func FuzzParseExecVnode(f *testing.F) {
	for _, seed := range []string{
		"(hosta:ncpus=2:mem=1048576kb)+(hostb:ncpus=2)", "(a:ncpus=1+b:ncpus=2)+(c)", "(a", "()", `(a:s="x)y")`, "(a)(b)", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fixedPoint(t, text, ParseExecVnode) })
}

func FuzzParseExecHost(f *testing.F) {
	for _, seed := range []string{"hosta/0*2+hostb/0*2", "a/0", "a/0*1", "a/", "", "a/0+"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { fixedPoint(t, text, ParseExecHost) })
}
