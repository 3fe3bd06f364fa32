package state

import (
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// Whoever is mailed is somebody that the job names, and can neither be an option of the mail
// program nor a line of the letter's head.
func FuzzMailUsers(f *testing.F) {
	f.Add("ann@hosta, bob", "joe")
	f.Add("-oQ/tmp,ann", "joe")
	f.Add(",, -x,\ta\n", "-joe")
	f.Add("", "joe\nBcc: x")
	f.Add("ann\rb", "")
	f.Fuzz(func(t *testing.T, list, owner string) {
		of := pbs.User{Name: owner, Host: "hosta"}
		to, _ := mailUsers(list, of)
		named := strings.Split(list, ",")
		if list == "" {
			named = strings.Split(of.String(), ",")
		}
		for _, user := range to {
			if user == "" || user[0] == '-' || strings.ContainsAny(user, "\r\n,") {
				t.Errorf("%q of %q mails to %q", list, owner, user)
			}
			if !slices.ContainsFunc(named, func(n string) bool { return strings.TrimSpace(n) == user }) {
				t.Errorf("%q of %q mails to %q", list, owner, user)
			}
		}
		if cap(to) != len(to) {
			t.Errorf("a list with room for more: the next one would be written into it")
		}
	})
}
