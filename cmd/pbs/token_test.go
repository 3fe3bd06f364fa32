package main

import "testing"

// TestLoginToken_IsNoEnrolmentToken: commands ask as who they are on a host whose environment lets a
// daemon join.
func TestLoginToken_IsNoEnrolmentToken(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "eyJhbGciOiJFUzI1NiJ9.e30.AAAA": "eyJhbGciOiJFUzI1NiJ9.e30.AAAA", " eyJ.e.A\n": "eyJ.e.A",
		"rampart1.mom.x.y": "", "rampart2.mom.x.y": "", " rampart1.replica.x.y": "",
	} {
		if got := loginToken(text); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
