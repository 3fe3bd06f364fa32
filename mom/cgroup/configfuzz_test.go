package cgroup

import (
	"slices"
	"testing"
)

// A configuration file is taken or refused.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"cgroup": {"memory": {"enabled": true, "default": "256mb", "reserve_amount": "1gb"}}}`,
		`{"cgroup": {"devices": {"enabled": true, "allow": ["b *:* rwm", ["mic/scif", "rwm"], ["nvidiactl", "rwm", "*"]]}}}`,
		`{"cgroup_prefix": "../x"}`, `{"cgroup": {"devices": {"allow": [7]}}}`, `{"exclude_hosts": "hosta"}`, "[]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parse(text)
		if err == nil && c.Prefix == "" {
			t.Errorf("%q: no folder", text)
		}
	})
}

// The kernel's sets of numbers are written as they were read.
func FuzzParseList(f *testing.F) {
	for _, text := range []string{"0-3,8", "", "5-", "-5", "3-1", "0-99999999999", "1,1,1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list := parseList(text)
		if again := parseList(formatList(list)); !slices.Equal(again, list) {
			t.Errorf("%q is %v, and read again %v", text, list, again)
		}
	})
}
