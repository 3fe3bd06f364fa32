package pbs

import "testing"

func TestSplitAddress(t *testing.T) {
	for address, want := range map[string][2]string{
		"":                  {"", ""},
		"h1":                {"h1", ""},
		"h1:15002":          {"h1", "15002"},
		"10.0.0.1:15002":    {"10.0.0.1", "15002"},
		"[::1]:15002":       {"::1", "15002"},
		"[fe80::1%en0]:1":   {"fe80::1%en0", "1"},
		"[2001:db8::1]":     {"2001:db8::1", ""},
		"2001:db8::1":       {"2001:db8::1", ""},
		"[::ffff:10.0.0.1]": {"::ffff:10.0.0.1", ""},
	} {
		if host, port := SplitAddress(address); [2]string{host, port} != want {
			t.Errorf("%s: %q, %q", address, host, port)
		}
	}
}
