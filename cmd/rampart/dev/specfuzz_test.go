package dev

import "testing"

// A host of a development cluster has a name, and so has each of its vnodes.
func FuzzParseMom(f *testing.F) {
	for _, spec := range []string{"hosta", "hostb:ncpus=1,mem=1gb/hostb[0]:ncpus=1", "/", ":", "a:b", "a:=", "a/../b"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		m, err := ParseMom(spec)
		if err != nil {
			return
		}
		if m.Name == "" || len(m.Vnodes) == 0 || m.Vnodes[0].Name != m.Name {
			t.Errorf("%q is %+v", spec, m)
		}
		for _, v := range m.Vnodes {
			if v.Name == "" {
				t.Errorf("%q has a vnode without a name", spec)
			}
		}
	})
}
