package pbs_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

func TestParseJobID(t *testing.T) {
	for in, want := range map[string]string{
		"12": "12.srv", "12.srv": "12.srv", "12.other": "12.other", "12@s2": "12.srv", "12.srv@s2": "12.srv", "0": "0.srv",
	} {
		if id, err := pbs.ParseJobID(in, "srv"); err != nil || string(id) != want {
			t.Errorf("ParseJobID(%q) = %q, %v; want %q", in, id, err, want)
		}
	}
	for _, in := range []string{"", "x", "nosuch", "12x", "-1", "+1", "1.", ".srv", "99999999999999999999", "1.a b", "1\x00", "1.\xff"} {
		if id, err := pbs.ParseJobID(in, "srv"); pbs.CodeOf(err) != pbs.BadJobID {
			t.Errorf("ParseJobID(%q) = %q, %v; want a refusal", in, id, err)
		}
	}
}

func FuzzParseJobID(f *testing.F) {
	f.Add("12.srv@s1")
	f.Fuzz(func(t *testing.T, in string) {
		id, err := pbs.ParseJobID(in, "srv")
		if err != nil {
			return
		}
		if again, err := pbs.ParseJobID(string(id), "srv"); err != nil || again.Seq() != id.Seq() {
			t.Errorf("%q reads as %q, which reads as %q, %v", in, id, again, err)
		}
	})
}

// TestAfter_Table is L5: the legal moves, all pairs of state and event, as a picture.
func TestAfter_Table(t *testing.T) {
	const want = `
     hold release run started delete rerun ended requeue begin wait due exiting kept
Q    H    -       R   -       F      -     -     -       B     W    -   -       -
H    H    Q       -   -       F      -     -     -       -     -    -   -       -
W    H    -       -   -       F      -     -     -       -     -    Q   -       -
R    R    R       -   R       E      E     F     Q       -     -    -   E       -
E    E    E       -   E       E      -     F     Q       -     -    -   E       R
F    -    -       -   -       -      -     -     -       -     -    -   -       -
B    H    -       -   -       -      -     F     -       -     -    -   -       -
`
	var b strings.Builder
	b.WriteString("\n    ")
	for _, e := range pbs.Events() {
		b.WriteString(" " + e.String())
	}
	b.WriteString("\n")
	for _, s := range pbs.JobStates() {
		line := fmt.Sprintf("%-4s", s)
		for _, e := range pbs.Events() {
			to := "-"
			if next, err := s.After(e); err == nil {
				to = next.Letter()
			}
			line += fmt.Sprintf(" %-*s", len(e.String()), to)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if b.String() != want {
		t.Errorf("the table of legal moves is %s", b.String())
	}
}

func TestAfter_Refusals(t *testing.T) {
	if _, err := pbs.Finished.After(pbs.EventDelete); !errors.Is(err, pbs.Refuse(pbs.HasFinished)) {
		t.Errorf("a finished job: %v", err)
	}
	if _, err := pbs.Queued.After(pbs.EventStarted); !errors.Is(err, pbs.Refuse(pbs.BadState)) {
		t.Errorf("an illegal move: %v", err)
	}
}

func TestHolds(t *testing.T) {
	for in, want := range map[string]string{"n": "n", "u": "u", "ou": "uo", "uos": "uos", "p": "p"} {
		if h, err := pbs.ParseHolds(in); err != nil || h.String() != want {
			t.Errorf("ParseHolds(%q) = %s, %v; want %s", in, h, err, want)
		}
	}
	for _, in := range []string{"", "x", "un", "nu"} {
		if h, err := pbs.ParseHolds(in); err == nil {
			t.Errorf("ParseHolds(%q) = %s", in, h)
		}
	}
}

// TestCodes_ExitStatus: what scripts see (specification: cli-contract section 1).
func TestCodes_ExitStatus(t *testing.T) {
	for code, want := range map[pbs.Code]int{
		pbs.UnknownJob: 153, pbs.HasFinished: 35, pbs.Unauthorized: 159, pbs.RunningAttribute: 167, pbs.UnknownQueue: 170, pbs.UnknownResource: 187,
	} {
		if got := code.ExitStatus(); got != want {
			t.Errorf("%d exits with %d, want %d", code, got, want)
		}
	}
	if pbs.CodeOf(fmt.Errorf("delete: %w", pbs.Refuse(pbs.UnknownJob))) != pbs.UnknownJob || pbs.CodeOf(nil) != 0 || pbs.CodeOf(errors.New("x")) != pbs.SystemError {
		t.Error("CodeOf does not find the code in the chain")
	}
}

func TestNames_Valid(t *testing.T) {
	for name, want := range map[string][2]bool{
		"workq": {true, true}, "q-1.a_b": {true, true}, "hostb[0]": {false, true}, "": {false, false}, "[0]": {false, false},
		"a b": {false, false}, "a\x01": {false, false}, "a:b": {false, false}, "a+b": {false, false}, "(a)": {false, false}, "-a": {false, false},
	} {
		if got := [2]bool{pbs.QueueName(name).Valid(), pbs.VnodeName(name).Valid()}; got != want {
			t.Errorf("%q: queue, vnode %v, want %v", name, got, want)
		}
	}
}

func TestTime_After(t *testing.T) {
	for _, c := range []struct {
		at, long, want pbs.Time
		ok             bool
	}{
		{5, 3, 8, true},
		{5, -7, -2, true},
		{0, math.MaxInt64, math.MaxInt64, true},
		{math.MaxInt64 - 3, 3, math.MaxInt64, true},
		{math.MaxInt64 - 3, 4, 0, false},
		{1, math.MaxInt64, 0, false},
		{1 << 62, 1 << 62, 0, false},
	} {
		if got, ok := c.at.After(c.long); got != c.want || ok != c.ok {
			t.Errorf("%d after %d: %d %v, want %d %v", c.long, c.at, got, ok, c.want, c.ok)
		}
	}
}
