package alloc

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// taking is what one has of an account in the property.
type taking struct {
	items resource.List
	of    pbs.ReservationID
}

// accountOf is the model: what an account comes to that was charged with so much, in whatever order.
func accountOf(held []taking, shares []Reserved) Account {
	var a Account
	for _, s := range shares {
		a.Assigned, _ = resource.Add(a.Assigned, s.Items, defs)
		s.Used = nil
		for _, h := range held {
			if h.of == s.Reservation {
				s.Used, _ = resource.Add(s.Used, h.items, defs)
			}
		}
		a.Reserved = append(a.Reserved, s)
	}
	for _, h := range held {
		if _, inside := a.ReservedFor(h.of); !inside {
			a.Assigned, _ = resource.Add(a.Assigned, h.items, defs)
		}
	}
	return a
}

func (a Account) same(b Account) bool {
	if !resource.Equal(a.Assigned, b.Assigned, defs) || len(a.Reserved) != len(b.Reserved) {
		return false
	}
	for i, r := range a.Reserved {
		if o := b.Reserved[i]; r.Reservation != o.Reservation || r.Exclusive != o.Exclusive ||
			!resource.Equal(r.Items, o.Items, defs) || !resource.Equal(r.Used, o.Used, defs) {
			return false
		}
	}
	return true
}

// Whatever was charged and given back between, of reservations or not, an account has what its holders come to, and nothing when the last
// has given back. No account that somebody reads is written to.
func TestAccount_GivesBackExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Account
		var held []taking
		var shares []Reserved
		items := func() (list resource.List) {
			for _, name := range []string{"ncpus", "mem"} {
				if rapid.IntRange(0, 3).Draw(t, "has "+name) > 0 {
					list = append(list, resource.Item{Name: name, Value: fmt.Sprint(rapid.IntRange(0, 4000).Draw(t, name)) + map[string]string{"mem": "kb"}[name]})
				}
			}
			return list
		}
		step := func(next Account, err error) {
			if err != nil {
				t.Fatal(err)
			}
			a = next
			if want := accountOf(held, shares); !a.same(want) {
				t.Fatalf("the account is %v, its holders have %v", a, want)
			}
			sum := a.Charged(defs)
			for _, name := range []string{"ncpus", "mem"} {
				def, _ := defs.Resource(name)
				n, text := int64(0), ""
				for amount := range a.ChargedOf(name) {
					n += def.Measure(amount)
				}
				if text, _ = sum.Get(name); n != def.Measure(text) {
					t.Fatalf("%s of %v: %d by numbers, %q in the list", name, a, n, text)
				}
			}
		}
		giveBack := func(at int) {
			h := held[at]
			held = append(held[:at:at], held[at+1:]...)
			step(a.GiveBack(h.items, h.of, defs))
		}
		for n := range rapid.IntRange(1, 20).Draw(t, "steps") {
			before, was := a, fmt.Sprint(a)
			at := rapid.IntRange(-1, len(held)-1).Draw(t, "at")
			switch {
			case rapid.IntRange(0, 4).Draw(t, "reserve") == 0:
				s := Reserved{Reservation: pbs.ReservationID(fmt.Sprintf("R%d", n)), Items: items()}
				shares = append(shares[:len(shares):len(shares)], s)
				step(a.Reserve(s, defs))
			case at < 0:
				h := taking{items: items()}
				if len(shares) > 0 && rapid.Bool().Draw(t, "inside") {
					h.of = rapid.SampledFrom(shares).Draw(t, "reservation").Reservation
				}
				held = append(held, h)
				step(a.Charge(h.items, h.of, defs))
			default:
				giveBack(at)
			}
			if now := fmt.Sprint(before); now != was {
				t.Fatalf("the account before is %s, and was %s", now, was)
			}
		}
		for len(held) > 0 {
			giveBack(rapid.IntRange(0, len(held)-1).Draw(t, "last"))
		}
		for len(shares) > 0 {
			id := shares[0].Reservation
			shares = shares[1:]
			step(a.Unreserve(id, defs))
		}
		if !a.same(Account{}) {
			t.Fatalf("%v is left", a)
		}
	})
}

// PBS's table of sharing: who has a vnode, and its host, alone.
func TestSharing(t *testing.T) {
	places := []spec.Sharing{"", spec.Shared, spec.Exclusive, spec.ExclusiveHost}
	for sharing, want := range map[Sharing]string{ // nobody, the vnode, the host as well; by the places
		"":                 "- - v h",
		"default_shared":   "- - v h",
		"default_excl":     "v - v h",
		"default_exclhost": "h - v h",
		"ignore_excl":      "- - - -",
		"force_excl":       "v v v v",
		"force_exclhost":   "h h h h",
	} {
		var got []string
		for _, p := range places {
			word := "-"
			if sharing.AloneFor(spec.Place{Sharing: p}) {
				word = "v"
			}
			if sharing.HostAloneFor(spec.Place{Sharing: p}) {
				word = "h"
			}
			got = append(got, word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", sharing, got, want)
		}
	}
}

// Who wants a vnode alone has it when nobody uses it, and who has it alone lets nobody in.
func TestUse_Lets(t *testing.T) {
	for _, c := range []struct {
		use         Use
		alone, host bool
		want        bool
	}{
		{Use{}, true, true, true},
		{Use{Here: 2, OnHost: 2}, false, false, true},
		{Use{Here: 1, OnHost: 1}, true, false, false},
		{Use{OnHost: 1}, true, false, true},
		{Use{OnHost: 1}, true, true, false},
		{Use{Alone: true}, false, false, false},
		{Use{HostAlone: true}, false, false, false},
	} {
		if got := c.use.Lets(c.alone, c.host); got != c.want {
			t.Errorf("%+v lets in one who wants it alone %v, its host %v: %v", c.use, c.alone, c.host, got)
		}
	}
}
