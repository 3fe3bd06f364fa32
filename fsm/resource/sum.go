package resource

import "slices"

// A Sum adds up what many vnodes give to one job. Lists that say the same and follow each
// other, as they do by the thousand, are added at once.
type Sum struct {
	table Table
	list  List
	last  List
	times int64
}

// NewSum returns the sum of nothing.
func NewSum(t Table) *Sum { return &Sum{table: t} }

// Add adds the consumable resources of a list. What cannot be added is left out.
func (s *Sum) Add(l List) {
	if s.times > 0 && slices.Equal(l, s.last) {
		s.times++
		return
	}
	s.flush()
	s.last, s.times = l, 1
}

// List returns the sum.
func (s *Sum) List() List {
	s.flush()
	return s.list
}

func (s *Sum) flush() {
	more := func(q, o Quantity) (Quantity, error) {
		o, err := o.Mul(s.times)
		if err != nil {
			return q, err
		}
		return q.Add(o)
	}
	if next, err := combine(s.list, s.last, s.table, more); err == nil && s.times > 0 {
		s.list = next
	}
	s.last, s.times = nil, 0
}
