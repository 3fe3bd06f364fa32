package task

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// What is read as an object is written as JSON that is the same object, in ASCII, and is read and
// written as the same again; merged with itself it stays what it is.
func FuzzParseObject(f *testing.F) {
	for _, s := range []string{
		`{"a": 1, "b": [1.50, true, null], "c": {"d": "\u00e9\ud83d\ude00"}}`, `{"a": 1, "a": 2}`, `{"a": -0, "b": -0.0, "c": 1e400, "d": 1E5, "e": 1e-7}`,
		`{} {}`, `[1]`, `{"a": "\n\t\"\\\u007f"}`, `{"a": 12345678901234567890123}`, `{"\ud800": "\udc00"}`, "{\"a\": \"\xff\"}", strings.Repeat(`{"a":`, 600), `{"a":}`, `{`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := parseObject(s)
		if err != nil {
			if got := canonical(s); got != s {
				t.Errorf("%q is no object and becomes %q", s, got)
			}
			return
		}
		if !json.Valid([]byte(s)) {
			t.Errorf("%q is no JSON and was taken", s)
		}
		text := o.String()
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q is written as %q", s, text)
		}
		if len(o.names) != len(o.values) || !slices.Equal(slices.Sorted(slices.Values(o.names)), slices.Sorted(maps.Keys(o.values))) {
			t.Errorf("%q has the names %q and the values %q", s, o.names, o.values)
		}
		if got, misfits := union("", []valueOf{{value: s}, {value: s}}); got != canonical(s) || len(misfits) > 0 {
			t.Errorf("%q with itself is %q, %v", s, got, misfits)
		}
		for _, value := range o.values {
			if value == "-0" {
				t.Errorf("%q is written as %q: Python has no whole number -0", s, text)
			}
		}
		if strings.Contains(text, "Infinity") {
			return // Python's word, which JSON does not have
		}
		again, err := parseObject(text)
		if err != nil || again.String() != text {
			t.Errorf("%q is written as %q, and that as %q, %v", s, text, again, err)
		}
	})
}

// A job finds the variables that its submitter gave, whatever is in their values.
func FuzzSplitVariables(f *testing.F) {
	f.Add("A=1,B=a\\,b,PBS_O_HOME=/home/ann", "A", "x,y\\z=")
	f.Add(",=,\\", "B", "\\")
	f.Add("A", "", "")
	f.Add("A=1\\", "a b", "\n")
	f.Fuzz(func(t *testing.T, list, name, value string) {
		for _, v := range splitVariables(list) {
			if v.name == "" || strings.Contains(v.name, "=") {
				t.Errorf("%q has %+v", list, v)
			}
		}
		if name == "" || strings.ContainsAny(name, "=,\\") {
			return
		}
		item := name + "=" + strings.NewReplacer(`\`, `\\`, ",", `\,`).Replace(value)
		want := []variable{{name, value}, {"Z", "1"}}
		if got := splitVariables(item + ",Z=1"); !slices.Equal(got, want) {
			t.Errorf("%q has %+v, not %+v", item, got, want)
		}
		if got, ok := attr.Variable(item+",Z=1", name); name != "Z" && (!ok || got != value) {
			t.Errorf("the servers read %s in %q as %q, %v", name, item, got, ok)
		}
	})
}

// A signal is one of the host's, or refused; how its name is spelt makes no other one of it.
func FuzzParseSignal(f *testing.F) {
	for _, name := range []string{"SIGTERM", "kill", "9", "64", "65", "-1", "+9", "007", "SIG", "SIGSIGKILL", "suspend", "admin-resume", "NULL", "RTMIN", "", "ſigint"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		sig, err := ParseSignal(name)
		if err != nil {
			if pbs.CodeOf(err) != pbs.BadSignal || sig != 0 {
				t.Errorf("%q is refused as %v, %v", name, sig, err)
			}
			return
		}
		if sig < 0 || sig > 64 {
			t.Errorf("%q is signal %d", name, sig)
		}
		if again, err := ParseSignal(fmt.Sprint(int(sig))); err != nil || again != sig {
			t.Errorf("%q is %d, and that is %d, %v", name, sig, again, err)
		}
		if sig == 0 || strings.HasPrefix(name, "SIG") {
			return
		}
		if again, err := ParseSignal("SIG" + name); err == nil && again != sig {
			t.Errorf("%q is %d, and with SIG %d", name, sig, again)
		}
	})
}

// A path is reached under a $usecp line's place, at the host it is of, or on this host at a full
// path; the first line that fits counts.
func FuzzRoute(f *testing.F) {
	f.Add("*", "/home", "/nfs/home", "hosta", "/home/ann/x")
	f.Add("*.org", "/", "/", "a.org", "x")
	f.Add("hosta", "/data/", "/d/", "hostb", "/data/x")
	f.Add("", "", "", "", "../x")
	f.Fuzz(func(t *testing.T, pattern, from, to, host, path string) {
		s := &Site{Host: "here", Settings: func() Settings {
			return Settings{UseCopy: []UseCopy{{Host: pattern, From: from, To: to}, {Host: "*", From: from, To: "/second"}}}
		}}
		p := s.staging().route(Account{Home: "/home/ann"}, host, path)
		rest, below := strings.CutPrefix(path, from)
		suffix, wild := strings.CutPrefix(pattern, "*")
		meant := pbs.SameHost(pattern, host) || wild && strings.HasSuffix(host, suffix)
		switch {
		case below && meant && p != (place{path: to + rest}):
			t.Errorf("%q of %q is at %+v, not under %q", path, host, p, to)
		case below && !meant && p != (place{path: "/second" + rest}):
			t.Errorf("%q of %q is at %+v", path, host, p)
		case !below && p.host == "" && !filepath.IsAbs(p.path):
			t.Errorf("%q of %q is at %+v here", path, host, p)
		case !below && p.host != "" && p != (place{host, path}):
			t.Errorf("%q of %q is at %+v", path, host, p)
		}
	})
}
