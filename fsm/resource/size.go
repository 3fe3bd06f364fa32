package resource

import (
	"cmp"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Units are powers of two: b, kb, mb, gb, tb, pb, and the same with w.
const (
	kilo     = 10
	units    = "kmgtp"
	wordBits = 3
)

// parseSize reads digits, a unit and b or w, all but the digits optional: "6gb",
// "6g", "100", "2kw".
func parseSize(text string) (Quantity, bool) {
	text = strings.ToLower(text)
	digits := strings.TrimRight(text, units+"bw")
	unit := text[len(digits):]
	num, ok := parseDigits(digits)
	if !ok {
		return Quantity{}, false
	}
	q := Quantity{typ: Size, num: num}
	if unit != "" && strings.IndexByte(units, unit[0]) >= 0 {
		q.shift = uint8(kilo * (1 + strings.IndexByte(units, unit[0])))
		unit = unit[1:]
	}
	q.words = unit == "w"
	return q, (unit == "" || unit == "b" || unit == "w") && q.bounded()
}

func (q Quantity) formatSize() string {
	suffix := "b"
	if q.words {
		suffix = "w"
	}
	if q.shift > 0 {
		suffix = units[q.shift/kilo-1:q.shift/kilo] + suffix
	}
	return strconv.FormatInt(q.num, 10) + suffix
}

// byteShift returns the shift that turns the number into bytes.
func (q Quantity) byteShift() uint8 {
	if q.words {
		return q.shift + wordBits
	}
	return q.shift
}

// bounded reports whether the size can be told in kilobytes; no larger one exists.
func (q Quantity) bounded() bool {
	s := q.byteShift()
	return s <= kilo || q.num <= math.MaxInt64>>(s-kilo)
}

func (q Quantity) kilobytes() int64 {
	s := q.byteShift()
	if s >= kilo {
		return q.num << (s - kilo)
	}
	unit := int64(1) << (kilo - s)
	kb := q.num / unit
	if q.num%unit != 0 {
		kb++
	}
	return kb
}

// InKB returns a size in kilobytes, rounded up, as PBS prints what is assigned;
// other quantities as they are.
func (q Quantity) InKB() Quantity {
	if q.typ != Size {
		return q
	}
	return Kilobytes(q.kilobytes())
}

func (q Quantity) cmpSize(o Quantity) int {
	qh, ql := q.bytes()
	oh, ol := o.bytes()
	return cmp.Or(cmp.Compare(qh, oh), cmp.Compare(ql, ol))
}

func (q Quantity) bytes() (hi, lo uint64) {
	return bits.Mul64(uint64(q.num), 1<<q.byteShift())
}

// scaled expresses the size in a unit that is not larger than its own.
func (q Quantity) scaled(words bool, shift uint8) (Quantity, bool) {
	to := Quantity{typ: Size, words: words, shift: shift}
	by := q.byteShift() - to.byteShift()
	if q.num > math.MaxInt64>>by {
		return Quantity{}, false
	}
	to.num = q.num << by
	return to, true
}

// alike expresses two sizes in the smaller of their units, as PBS does to add
// them; in bytes if one of them is.
func alike(a, b Quantity) (Quantity, Quantity, bool) {
	words, shift := a.words && b.words, min(a.shift, b.shift)
	a, okA := a.scaled(words, shift)
	b, okB := b.scaled(words, shift)
	return a, b, okA && okB
}
