package pbs

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// An IndexRange is First, First+Step, ... up to Last, which is one of them.
type IndexRange struct {
	First uint32 `cbor:"1,keyasint,omitempty"`
	Last  uint32 `cbor:"2,keyasint,omitempty"`
	Step  uint32 `cbor:"3,keyasint,omitempty"`
}

// Indices is a set of subjobs' indices as ranges: ascending, none empty, and no two of
// them interleaved. What changes one returns another.
type Indices []IndexRange

// maxIndex is the greatest index that a subjob may have.
const maxIndex = 1<<31 - 2

// MaxRanges is how many ranges an array may be submitted with. One of qsub has one, of two indices or more.
const MaxRanges = 1000

// ParseIndices reads X, X-Y or X-Y:Z, or a list of such with commas in ascending order.
// Anything else is refused with BadAttributeValue.
func ParseIndices(text string) (Indices, error) {
	var set Indices
	for item := range strings.SplitSeq(text, ",") {
		r, ok := parseRange(item)
		if !ok || len(set) > 0 && r.First <= set[len(set)-1].Last {
			return nil, Attribute(BadAttributeValue, "array_indices_submitted")
		}
		set = append(set, r)
	}
	return set, nil
}

func parseRange(text string) (IndexRange, bool) {
	span, step, stepped := strings.Cut(text, ":")
	first, last, two := strings.Cut(span, "-")
	if !two {
		last = first
	}
	r := IndexRange{Step: 1}
	var ok [3]bool
	r.First, ok[0] = parseIndex(first)
	r.Last, ok[1] = parseIndex(last)
	ok[2] = !stepped
	if stepped {
		r.Step, ok[2] = parseIndex(step)
	}
	if ok != [3]bool{true, true, true} || r.Step == 0 || r.Last < r.First || stepped && !two {
		return r, false
	}
	r.Last -= (r.Last - r.First) % r.Step
	return r.plain(), true
}

func parseIndex(s string) (uint32, bool) {
	if s == "" || s[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 32)
	return uint32(n), err == nil && n <= maxIndex
}

// plain gives a range of one index the step 1, so that equal ranges look alike.
func (r IndexRange) plain() IndexRange {
	if r.First == r.Last {
		r.Step = 1
	}
	return r
}

func (r IndexRange) count() int { return int((r.Last-r.First)/r.Step) + 1 }

func (r IndexRange) has(i uint32) bool { return i >= r.First && i <= r.Last && (i-r.First)%r.Step == 0 }

// String returns the range as PBS writes it.
func (r IndexRange) String() string {
	switch text := strconv.FormatUint(uint64(r.First), 10); {
	case r.First == r.Last:
		return text
	case r.Step == 1:
		return text + "-" + strconv.FormatUint(uint64(r.Last), 10)
	default:
		return text + "-" + strconv.FormatUint(uint64(r.Last), 10) + ":" + strconv.FormatUint(uint64(r.Step), 10)
	}
}

// String returns the set as PBS writes it, "-" when it is empty.
func (s Indices) String() string {
	if len(s) == 0 {
		return "-"
	}
	words := make([]string, len(s))
	for i, r := range s {
		words[i] = r.String()
	}
	return strings.Join(words, ",")
}

// Count returns how many indices there are.
func (s Indices) Count() int {
	n := 0
	for _, r := range s {
		n += r.count()
	}
	return n
}

// find returns the range that may hold i: the first one that does not end below it.
func (s Indices) find(i uint32) (int, bool) {
	at, _ := slices.BinarySearchFunc(s, i, func(r IndexRange, i uint32) int {
		if r.Last < i {
			return -1
		}
		return 0
	})
	return at, at < len(s) && s[at].has(i)
}

// Has reports whether i is in the set.
func (s Indices) Has(i uint32) bool {
	_, ok := s.find(i)
	return ok
}

// From yields the indices from i on, ascending.
func (s Indices) From(i uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		at, _ := s.find(i)
		for _, r := range s[at:] {
			n := r.First
			if i > n {
				n += (i - n + r.Step - 1) / r.Step * r.Step
			}
			for ; n <= r.Last; n += r.Step {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// Without returns the set without i.
func (s Indices) Without(i uint32) Indices {
	at, ok := s.find(i)
	if !ok {
		return s
	}
	r := s[at]
	out := make(Indices, 0, len(s)+1)
	out = append(out, s[:at]...)
	if i > r.First {
		out = append(out, IndexRange{r.First, i - r.Step, r.Step}.plain())
	}
	if i < r.Last {
		out = append(out, IndexRange{i + r.Step, r.Last, r.Step}.plain())
	}
	return append(out, s[at+1:]...)
}

// With returns the set with i, for people to read.
func (s Indices) With(i uint32) Indices {
	at, ok := s.find(i)
	if ok {
		return s
	}
	if at < len(s) && s[at].First < i { // between two of a range with a step
		r := s[at]
		left := r.First + (i-r.First)/r.Step*r.Step
		split := Indices{IndexRange{r.First, left, r.Step}.plain(), {i, i, 1}, IndexRange{left + r.Step, r.Last, r.Step}.plain()}
		return slices.Replace(slices.Clone(s), at, at+1, split...)
	}
	out := slices.Insert(slices.Clone(s), at, IndexRange{i, i, 1})
	return out.joined(at + 1).joined(at)
}

// joined merges the range at a position with the one before it where they make one.
func (s Indices) joined(at int) Indices {
	if at < 1 || at >= len(s) {
		return s
	}
	a, b := s[at-1], s[at]
	step := b.First - a.Last
	if (a.First != a.Last && a.Step != step) || (b.First != b.Last && b.Step != step) ||
		step != 1 && a.First == a.Last && b.First == b.Last {
		return s
	}
	return slices.Replace(s, at-1, at+1, IndexRange{a.First, b.Last, step})
}

// Both returns the indices that are in both sets.
func (s Indices) Both(o Indices) Indices {
	var out Indices
	for _, a := range s {
		for _, b := range o {
			out = appendBoth(out, a, b)
		}
	}
	return out
}

// appendBoth appends what two ranges have in common.
func appendBoth(out Indices, a, b IndexRange) Indices {
	if a.Last < b.First || b.Last < a.First {
		return out
	}
	step := uint64(a.Step) / gcd(uint64(a.Step), uint64(b.Step)) * uint64(b.Step)
	for i := range (Indices{a}).From(max(a.First, b.First)) {
		if i > b.Last {
			return out
		}
		if !b.has(i) {
			continue
		}
		last := uint64(i) + (uint64(min(a.Last, b.Last))-uint64(i))/step*step
		if last == uint64(i) {
			step = 1
		}
		return append(out, IndexRange{i, uint32(last), uint32(step)})
	}
	return out
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Minus returns the indices of s that are not in o.
func (s Indices) Minus(o Indices) Indices {
	out := s
	for _, gone := range s.Both(o) {
		out = out.minusRange(gone)
	}
	return out
}

// minusRange takes out a range that lies in one of the set's.
func (s Indices) minusRange(gone IndexRange) Indices {
	at, ok := s.find(gone.First)
	if !ok {
		return s
	}
	r := s[at]
	out := append(make(Indices, 0, len(s)+2), s[:at]...)
	if gone.First > r.First {
		out = append(out, IndexRange{r.First, gone.First - r.Step, r.Step}.plain())
	}
	for i := gone.First; gone.Step > r.Step && i < gone.Last; i += gone.Step { // what lies between
		out = append(out, IndexRange{i + r.Step, i + gone.Step - r.Step, r.Step}.plain())
	}
	if gone.Last < r.Last {
		out = append(out, IndexRange{gone.Last + r.Step, r.Last, r.Step}.plain())
	}
	return append(out, s[at+1:]...)
}
