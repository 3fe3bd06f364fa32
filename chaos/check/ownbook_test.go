package check

import "testing"

// Programs that write their own book say nothing if they are killed at once: that is no
// fault of a run that was deleted or sent back, and one of a run that came to its end.
func TestOneRunEach_OwnBook(t *testing.T) {
	ledger := func(kinds ...string) Replica {
		text := ""
		for _, k := range kinds {
			text += "11/21/2026 10:00:00;" + k + ";1.srv;x\n"
		}
		return Replica{Name: "s1", Ledger: map[string][]byte{"20261121": []byte(text)}}
	}
	for name, test := range map[string]struct {
		own    bool
		of     Replica
		broken bool
	}{
		"deleted at once":                {true, ledger("Q", "S", "D", "E"), false},
		"sent back at once":              {true, ledger("Q", "S", "R", "S", "D", "E"), false},
		"ended and never ran":            {true, ledger("Q", "S", "E"), true},
		"deleted, and the book is whole": {false, ledger("Q", "S", "D", "E"), true},
	} {
		e := &Evidence{OwnBook: test.own, Replicas: []Replica{test.of}}
		if got := OneRunEach.Judge(e); (len(got) > 0) != test.broken {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLegalMoves_RequeuedUnheard(t *testing.T) {
	text := "11/21/2026 10:00:00;Q;1.srv;x\n11/21/2026 10:00:00;R;1.srv;x\n11/21/2026 10:00:00;S;1.srv;x\n11/21/2026 10:00:00;E;1.srv;x\n"
	e := &Evidence{OwnBook: true, Replicas: []Replica{{Name: "s1", Ledger: map[string][]byte{"20261121": []byte(text)}}}}
	if got := LegalMoves.Judge(e); len(got) > 0 {
		t.Errorf("a run of which nobody heard, on a host that was given up: %v", got)
	}
}
