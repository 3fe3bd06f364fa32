package attr

import (
	"cmp"
	"slices"
)

// An Entry is a set attribute; Resource is empty if it has no resources.
type Entry struct {
	Name     string `cbor:"1,keyasint"`
	Resource string `cbor:"2,keyasint,omitempty"`
	Value    string `cbor:"3,keyasint"`
}

// A List holds entries sorted by name and resource, none twice. It is never
// changed in place: Set and Unset return a new one.
type List []Entry

func (l List) search(name, resource string) (int, bool) {
	return slices.BinarySearchFunc(l, Entry{Name: name, Resource: resource}, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Resource, b.Resource))
	})
}

// Get returns the value of the attribute, or of its resource.
func (l List) Get(name, resource string) (string, bool) {
	i, ok := l.search(name, resource)
	if !ok {
		return "", false
	}
	return l[i].Value, true
}

// Of returns the entries of the attribute, by resource.
func (l List) Of(name string) List {
	from, _ := l.search(name, "")
	to := from
	for to < len(l) && l[to].Name == name {
		to++
	}
	return l[from:to:to]
}

// Set returns a list in which the attribute has the value.
func (l List) Set(name, resource, value string) List {
	i, found := l.search(name, resource)
	if found {
		next := slices.Clone(l)
		next[i].Value = value
		return next
	}
	next := make(List, 0, len(l)+1)
	next = append(next, l[:i]...)
	next = append(next, Entry{name, resource, value})
	return append(next, l[i:]...)
}

// Unset returns a list without the attribute; without all of its resources if
// none is named.
func (l List) Unset(name, resource string) List {
	return slices.DeleteFunc(slices.Clone(l), func(e Entry) bool {
		return e.Name == name && (resource == "" || e.Resource == resource)
	})
}

// Shown returns the entries in the order in which PBS shows them; entries that the
// table does not know come last, by name.
func (l List) Shown(o Object) List {
	rank := make(map[string]int, len(l))
	for i, d := range All(o) {
		rank[d.Name] = i - len(All(o)) // below the 0 of names that are not in the table
	}
	next := slices.Clone(l)
	slices.SortStableFunc(next, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(rank[a.Name], rank[b.Name]), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Resource, b.Resource))
	})
	return next
}
