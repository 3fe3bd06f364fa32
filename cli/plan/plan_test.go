package plan

import (
	"strings"
	"testing"
	"time"
)

func sample() *Plan {
	now := time.Date(2027, 5, 3, 9, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	p := &Plan{Now: now, Until: at(240), Rows: []string{"hosta", "hostb", "hostc", "hostd", "hoste"}, State: map[string]string{"hoste": "offline"}}
	p.Hold(Run, "1.srv", "(hosta:ncpus=4)", at(-30), at(60))
	p.Hold(Reservation, "R2.srv", "(hostb:ncpus=8)+(hostc:ncpus=8)", at(120), at(180))
	p.Hold(Expected, "3.srv", "(hosta:ncpus=8)", at(60), time.Time{})
	p.Hold(Run, "4.srv", "(hosta:ncpus=1)", at(-90), at(-1)) // over
	p.Hold(Reservation, "R5.srv", "(hosta:ncpus=1)", at(241), at(300))
	p.Hold(Run, "6.srv", "no assignment", at(0), at(1))
	return p
}

// TestText draws runs, reservations and what is expected, each vnode with its own; those that look alike share a row.
func TestText(t *testing.T) {
	var b strings.Builder
	if err := Text(&b, sample(), 64); err != nil {
		t.Fatal(err)
	}
	const want = `VNODE           09:00                                      13:00
hosta           ############++++++++++++++++++++++++++++++++++++
hostb .. hostc  ........................RRRRRRRRRRRR............
hoste           xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
1 other has nothing to do

# runs   R reserved   + expected to start   x takes nothing
# 1.srv            from 2027-05-03 08:30:00 until 2027-05-03 10:00:00, on hosta
+ 3.srv            from 2027-05-03 10:00:00 with no walltime, on hosta
R R2.srv           from 2027-05-03 11:00:00 until 2027-05-03 12:00:00, on hostb and 1 more
`
	if b.String() != want {
		t.Errorf("drawn\n%s\nwant\n%s", b.String(), want)
	}
}

// TestText_Suspended: a job that waits to go on takes nothing of what others have, or are to have.
func TestText_Suspended(t *testing.T) {
	p := sample()
	p.Hold(Suspended, "7.srv", "(hostb:ncpus=8)", p.Now, time.Time{})
	var b strings.Builder
	if err := Text(&b, p, 64); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nhostb  ----------------------------RRRRRRRRRRRRRR---------------\n", "   - suspended job   x takes", "\n- 7.srv            from 2027-05-03 09:00:00 until nobody knows when, on hostb\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

// TestText_OverMidnight: a plan that ends on another day says on which.
func TestText_OverMidnight(t *testing.T) {
	p := sample()
	p.Until = p.Now.Add(24 * time.Hour)
	var b strings.Builder
	if err := Text(&b, p, 64); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(b.String(), "\n"); strings.Join(strings.Fields(first), " ") != "VNODE May 3 09:00 May 4 09:00" {
		t.Errorf("the axis is %q", first)
	}
}

// TestText_Hostile: names that users choose do not move the cursor.
func TestText_Hostile(t *testing.T) {
	p := sample()
	p.Bars[0].Of = "1\x1b[2J"
	var b strings.Builder
	if err := Text(&b, p, 10); err != nil || strings.Contains(b.String(), "\x1b") {
		t.Errorf("drawn with an escape, %v", err)
	}
}

// TestText_Nothing says that nothing is planned.
func TestText_Nothing(t *testing.T) {
	var b strings.Builder
	if err := Text(&b, &Plan{Now: time.Unix(0, 0), Until: time.Unix(60, 0), Rows: []string{"hosta"}}, 80); err != nil || !strings.Contains(b.String(), "nothing is planned") {
		t.Errorf("drawn %q, %v", b.String(), err)
	}
}

// TestSVG holds each bar with what it is.
func TestSVG(t *testing.T) {
	var b strings.Builder
	if err := SVG(&b, sample()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`class="run"`, `class="reservation"`, `class="expected"`, `class="closed"`, "R2.srv: ncpus=8", "hostb .. hostc"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the picture lacks %s", want)
		}
	}
}
