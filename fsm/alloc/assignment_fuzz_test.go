package alloc

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

// An assignment that is taken has a host and a request for each of its chunks, and names each of
// its hosts and vnodes once; written and read again it is the same.
func FuzzRead(f *testing.F) {
	f.Add("(a:ncpus=1)+(b:ncpus=2)", "a/0+b/1*2", "2:ncpus=1")
	f.Add("(a:ncpus=1+b:ncpus=1)", "a/0", "ncpus=2")
	f.Add("(a)+(a)", "a/0+a/1", "1+1")
	f.Add("(a)", "a/0", "2")
	f.Add("", "", "")
	f.Add("(a)", "a/0+a/1", "100000:ncpus=1")
	f.Fuzz(func(t *testing.T, vnodes, hosts, sel string) {
		g, err := read(vnodes, hosts, sel, nil)
		if err != nil {
			return
		}
		a, err := g.open()
		if err != nil {
			t.Fatal(err)
		}
		n := len(a.ExecVnode)
		if n == 0 || len(a.ExecHost) != n || len(a.chunks) != n || !a.Primary(0) {
			t.Fatalf("%q on %q for %q is %+v", vnodes, hosts, sel, a)
		}
		all := a.Hosts()
		if all[0] != a.ExecHost[0].Host || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
			t.Errorf("%q has the hosts %q", hosts, all)
		}
		seen := map[string]bool{}
		for name, host := range a.Vnodes {
			if seen[string(name)] || !slices.Contains(all, host) {
				t.Errorf("%q on %q: %s at %s, again or elsewhere", vnodes, hosts, name, host)
			}
			seen[string(name)] = true
		}
		again := Grant{SchedSelect: sel}
		v, _ := g.ExecVnode.MarshalText()
		h, _ := g.ExecHost.MarshalText()
		err = errors.Join(again.ExecVnode.UnmarshalText(v), again.ExecHost.UnmarshalText(h))
		if err != nil || !reflect.DeepEqual(again, g) {
			t.Errorf("%+v is read again as %+v, %v", g, again, err)
		}
	})
}
