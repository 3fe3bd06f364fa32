package login

import (
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport"
)

// A token is somebody's only if it is one that was issued: no change of a letter makes another
// one of it, and no text of a stranger names anybody.
func FuzzVerifier(f *testing.F) {
	ca, err := transport.NewCA("c1", time.Now())
	if err != nil {
		f.Fatal(err)
	}
	token, _, err := Issue(ca, joe, time.Hour, time.Now())
	if err != nil {
		f.Fatal(err)
	}
	verify := Verifier(ca)
	f.Add("", 0, byte('A'))
	f.Add("a.b.c", 10, byte('.'))
	f.Add("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJpc3MiOiJjMSIsInN1YiI6ImpvZUBob3N0YSJ9.", 60, byte('='))
	f.Add("eyJhbGciOiJIUzI1NiJ9.e30.AAAA", 1<<20, byte('\n'))
	f.Fuzz(func(t *testing.T, text string, at int, letter byte) {
		if user, err := verify(text); (err == nil || user != pbs.User{}) && text != token {
			t.Errorf("%q is of %s, %v", text, user, err)
		}
		if user, err := verify(token); err != nil || user != joe {
			t.Fatalf("%q is of %s, %v", token, user, err)
		}
		changed := []byte(token)
		changed[(at%len(changed)+len(changed))%len(changed)] = letter
		// The last letter of a part holds bits that mean nothing.
		if user, err := verify(string(changed)); err == nil && (user != joe || strings.Count(string(changed), ".") != 2) {
			t.Errorf("%q is of %s", changed, user)
		}
	})
}
