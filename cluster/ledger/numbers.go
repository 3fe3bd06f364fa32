package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A stretch is a run of numbers without a gap, both ends included.
type stretch struct{ first, last uint64 }

// numbers is a set of record numbers: stretches in rising order that do not touch.
type numbers []stretch

// with returns the set with one more number, cheapest when it follows the last.
func (s numbers) with(n uint64) numbers {
	if k := len(s) - 1; k >= 0 && s[k].last+1 == n {
		s[k].last = n
		return s
	}
	if k := len(s) - 1; k < 0 || s[k].last < n {
		return append(s, stretch{n, n})
	}
	return s.plus(numbers{{n, n}})
}

// plus returns the union of two sets.
func (s numbers) plus(t numbers) numbers {
	all := slices.Concat(s, t)
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.first, b.first) })
	var out numbers
	for _, r := range all {
		if k := len(out) - 1; k >= 0 && (r.first <= out[k].last || r.first == out[k].last+1) {
			out[k].last = max(out[k].last, r.last)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// without returns the numbers of s that are not in t.
func (s numbers) without(t numbers) numbers {
	var out numbers
	k := 0
	for _, r := range s {
		for k < len(t) && t[k].last < r.first {
			k++
		}
		from, covered := r.first, false
		for i := k; i < len(t) && t[i].first <= r.last; i++ {
			if t[i].first > from {
				out = append(out, stretch{from, t[i].first - 1})
			}
			if t[i].last >= r.last {
				covered = true // t[i].last may be the greatest number there is
				break
			}
			from = t[i].last + 1
		}
		if !covered {
			out = append(out, stretch{from, r.last})
		}
	}
	return out
}

func (s numbers) count() uint64 {
	var sum uint64
	for _, r := range s {
		sum += r.last - r.first + 1
	}
	return sum
}

// String names the stretches, the first few of many.
func (s numbers) String() string {
	const most = 10
	var out []string
	for i, r := range s {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", s[i:].count()))
			break
		}
		if r.first == r.last {
			out = append(out, fmt.Sprint(r.first))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", r.first, r.last))
		}
	}
	return strings.Join(out, ", ")
}
