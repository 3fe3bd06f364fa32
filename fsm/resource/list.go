package resource

import (
	"fmt"
	"slices"
	"strings"

	"rampart/fsm/pbs"
)

// An Item is one resource with the canonical text of its value.
type Item struct {
	Name  string `cbor:"1,keyasint"`
	Value string `cbor:"2,keyasint"`
}

// A List holds resources sorted by name, none twice. It is never changed in
// place: Set and Unset return a new one. (The chunks of fsm/spec use it in the
// order written; Get works on those as well.)
type List []Item

// Get returns the value of the resource. Lists are short, so it simply looks.
func (l List) Get(name string) (string, bool) {
	for _, item := range l {
		if item.Name == name {
			return item.Value, true
		}
	}
	return "", false
}

// Set returns a list in which the resource has the value.
func (l List) Set(name, value string) List {
	i, found := l.search(name)
	if found {
		next := slices.Clone(l)
		next[i].Value = value
		return next
	}
	next := make(List, 0, len(l)+1)
	next = append(next, l[:i]...)
	next = append(next, Item{name, value})
	return append(next, l[i:]...)
}

// Unset returns a list without the resource.
func (l List) Unset(name string) List {
	i, found := l.search(name)
	if !found {
		return l
	}
	next := make(List, 0, len(l)-1)
	next = append(next, l[:i]...)
	return append(next, l[i+1:]...)
}

func (l List) search(name string) (int, bool) {
	return slices.BinarySearchFunc(l, name, func(item Item, name string) int {
		return strings.Compare(item.Name, name)
	})
}

// Sorted returns the items in any order as a List; of a name that comes twice the
// last counts.
func Sorted(items []Item) List {
	next := slices.Clone(List(items))
	slices.SortStableFunc(next, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	keep := next[:0]
	for _, item := range next {
		if n := len(keep); n > 0 && keep[n-1].Name == item.Name {
			keep[n-1] = item
			continue
		}
		keep = append(keep, item)
	}
	return keep
}

// Only returns the items whose definition has one of the flags.
func Only(l List, t Table, flags Flags) List {
	var next List
	for _, item := range l {
		if def, ok := t.Resource(item.Name); ok && def.Flags&flags != 0 {
			next = append(next, item)
		}
	}
	return next
}

// Add returns what is in use after the consumable resources of more are added to
// it; other resources of more are not counted.
func Add(used, more List, t Table) (List, error) {
	return combine(used, more, t, Quantity.Add)
}

// Sub returns what is in use after the consumable resources of less are given
// back. What comes to nothing stays, as zero in its unit.
func Sub(used, less List, t Table) (List, error) {
	return combine(used, less, t, Quantity.Sub)
}

// Equal reports whether two lists say the same: the other values are alike, and the
// consumable ones worth the same; to have nothing of one is not to name it.
func Equal(a, b List, t Table) bool { return covers(a, b, t) && covers(b, a, t) }

// covers reports whether b has everything that a has.
func covers(a, b List, t Table) bool {
	for _, item := range a {
		def, known := t.Resource(item.Name)
		text, has := b.Get(item.Name)
		if !known || !def.Consumable() {
			if !has || text != item.Value {
				return false
			}
			continue
		}
		q, errA := def.Parse(item.Value)
		o, errB := amount(b, def, q)
		if errA != nil || errB != nil || q.Cmp(o) != 0 {
			return false
		}
	}
	return true
}

func combine(used, change List, t Table, op func(q, o Quantity) (Quantity, error)) (List, error) {
	next := used
	for _, item := range change {
		def, ok := t.Resource(item.Name)
		if !ok || !def.Consumable() {
			continue
		}
		by, err := def.Parse(item.Value)
		if err != nil {
			return nil, named(item.Name, err)
		}
		have, err := amount(next, def, by)
		if err != nil {
			return nil, named(item.Name, err)
		}
		sum, err := op(have, by)
		if err != nil {
			return nil, named(item.Name, err)
		}
		next = next.Set(item.Name, sum.String())
	}
	return next, nil
}

// amount returns what the list has of the resource; nothing, in the unit of like,
// if it is not named.
func amount(l List, def Def, like Quantity) (Quantity, error) {
	text, ok := l.Get(def.Name)
	if !ok {
		like.num = 0
		return like, nil
	}
	return def.Parse(text)
}

func named(resource string, err error) error {
	return pbs.Errorf(pbs.CodeOf(err), "%v %s", err, resource)
}

// A Shortage says which resource does not suffice, in the scheduler's words.
type Shortage struct {
	Resource               string
	Request, Free, Offered string // Offered is empty for what is no number, of which Free is the value that there is
}

// Unlike returns the shortage of what is not consumed: one value is asked for, and another, or none, is offered. A number that is not
// offered is 0; for PBS's scheduler it is an amount by its type, whatever its flags.
func Unlike(def Def, want Quantity, offer string) *Shortage {
	s := &Shortage{Resource: def.Name, Request: want.InKB().String(), Free: offer}
	switch {
	case def.Type.Numeric():
		have, err := Parse(def.Type, offer)
		if err != nil {
			have = Quantity{typ: def.Type}
		}
		s.Free = have.InKB().String()
		s.Offered = s.Free
	case def.Type == Boolean && offer == "":
		s.Free = Quantity{typ: Boolean}.String()
	}
	return s
}

// Exceeds reports whether a number that is offered is greater than another one; false for what is no number.
func Exceeds(def Def, offer, other string) bool {
	a, err1 := Parse(def.Type, offer)
	b, err2 := Parse(def.Type, other)
	return def.Type.Numeric() && err1 == nil && err2 == nil && a.Cmp(b) > 0
}

// Amounts returns how much is asked for, how much of that there is and how much there is in all; of what is no number the
// values.
func (s *Shortage) Amounts() string {
	if s.Offered == "" {
		return fmt.Sprintf("(%s != %s)", s.Request, s.Free)
	}
	return fmt.Sprintf("(R: %s A: %s T: %s)", s.Request, s.Free, s.Offered)
}

// Error returns the scheduler's comment on it.
func (s *Shortage) Error() string {
	if s.Request == "" {
		return "Insufficient amount of resource: " + s.Resource
	}
	return "Insufficient amount of resource: " + s.Resource + " " + s.Amounts()
}

// At returns the scheduler's comment on a resource of which the server or the queue, not
// a vnode, has too little.
func (s *Shortage) At(level string) string {
	return "Insufficient amount of " + level + " resource: " + s.Resource + " " + s.Amounts()
}

// Fits reports whether a request fits into what is offered and not yet used: nil, or
// the first resource of the request that does not suffice. A consumable resource
// that is not offered is offered 0 times, and 0 of it always fits, even where more is
// used than offered by now; a boolean one that is not offered is False.
func Fits(request, offered, used List, t Table) *Shortage {
	for _, item := range request {
		def, ok := t.Resource(item.Name)
		if !ok {
			return &Shortage{Resource: item.Name}
		}
		want, err := def.Parse(item.Value)
		if err != nil {
			return &Shortage{Resource: item.Name}
		}
		if s := fitsOne(def, want, offered, used); s != nil {
			return s
		}
	}
	return nil
}

func fitsOne(def Def, want Quantity, offered, used List) *Shortage {
	if def.layout() || def.Raises() {
		return nil
	}
	if !def.AtVnodes() {
		text, ok := offered.Get(def.Name)
		if !Matches(def, want, text, ok) {
			return Unlike(def, want, text)
		}
		return nil
	}
	if want.IsZero() {
		return nil
	}
	total, err := amount(offered, def, want)
	if err != nil {
		return &Shortage{Resource: def.Name}
	}
	taken, err := amount(used, def, want)
	if err != nil {
		return &Shortage{Resource: def.Name}
	}
	if need, err := taken.Add(want); err == nil && need.Cmp(total) <= 0 {
		return nil
	}
	return &Shortage{Resource: def.Name, Request: want.String(), Free: left(total, taken), Offered: total.String()}
}

func left(total, taken Quantity) string {
	free, err := total.Sub(taken)
	if err != nil || free.num < 0 { // more is taken than there is, since the offer was lowered
		total.num = 0
		free = total
	}
	return free.String()
}

// Matches reports whether an offer that is not consumed satisfies a request: a
// string is equal to it, an array has it, a number is at least as large.
func Matches(def Def, want Quantity, offer string, offered bool) bool {
	if !offered {
		return def.Type == Boolean && want.num == 0
	}
	have, err := Parse(def.Type, offer)
	switch {
	case err != nil:
		return false
	case def.Type == StringArray:
		return slices.Contains(strings.Split(have.text, ","), want.text)
	case def.Type.Numeric():
		return have.Cmp(want) >= 0
	default:
		return have.Cmp(want) == 0
	}
}

// AddAll returns the sum of lists of consumables.
func AddAll(lists []List, t Table) (sum List, err error) {
	for _, l := range lists {
		if sum, err = Add(sum, l, t); err != nil {
			return nil, err
		}
	}
	return sum, nil
}
