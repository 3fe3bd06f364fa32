package resource

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
)

// A Quantity is a parsed value of a resource. Two quantities are == if they print
// alike; Cmp compares what they are worth ("1gb" and "1024mb" are equal to it).
type Quantity struct {
	typ   Type
	words bool   // Size: counted in words of 8 bytes
	shift uint8  // Size: the unit is 1<<shift bytes or words
	num   int64  // numbers; Float in units of 1/floatUnit, Time in seconds, Boolean 0 or 1
	text  string // String, StringArray
}

// floatUnit makes floats exact: PBS prints four digits, so more are never kept.
const floatUnit = 10000

// Count returns a Long.
func Count(n int64) Quantity { return Quantity{typ: Long, num: n} }

// Seconds returns a Time.
func Seconds(n int64) Quantity { return Quantity{typ: Time, num: max(n, 0)} }

// Kilobytes returns a Size.
func Kilobytes(n int64) Quantity { return Quantity{typ: Size, shift: kilo, num: max(n, 0)} }

// Parse reads a value of the type as PBS does, else refuses it with
// BadAttributeValue.
func Parse(t Type, text string) (Quantity, error) {
	var q Quantity
	ok := false
	switch t {
	case Long:
		q.num, ok = parseLong(text)
	case Float:
		q.num, ok = parseFloat(text)
	case Size:
		q, ok = parseSize(text)
	case Time:
		q.num, ok = parseTime(text)
	case String:
		q.text, ok = text, pbs.Printable(text)
	case StringArray:
		q.text, ok = parseArray(text)
	case Boolean:
		q.num, ok = parseBoolean(text)
	}
	if !ok {
		return Quantity{}, pbs.Refuse(pbs.BadAttributeValue)
	}
	q.typ = t
	return q, nil
}

func parseLong(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n != math.MinInt64 // so that a value can always be negated
}

func parseFloat(text string) (int64, bool) {
	for i := range len(text) {
		if c := text[i]; !isDigit(c) && !strings.ContainsRune("+-.eE", rune(c)) {
			return 0, false // no hexadecimals, infinities, and things that are not numbers
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	f = math.Round(f * floatUnit)
	if err != nil || math.Abs(f) >= 1<<62 {
		return 0, false
	}
	return int64(f), true
}

func parseBoolean(text string) (int64, bool) {
	switch strings.ToLower(text) {
	case "true", "t", "y", "1":
		return 1, true
	case "false", "f", "n", "0":
		return 0, true
	}
	return 0, false
}

func parseArray(text string) (string, bool) {
	if !pbs.Printable(text) {
		return "", false
	}
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.Trim(item, " "); item != "" {
			items = append(items, item)
		}
	}
	return strings.Join(items, ","), len(items) > 0
}

// Type returns the type of the value, 0 for the zero Quantity.
func (q Quantity) Type() Type { return q.typ }

// Int returns the number of a Long, the seconds of a Time, the kilobytes of a Size
// (rounded up), 1 for true.
func (q Quantity) Int() int64 {
	switch q.typ {
	case Size:
		return q.kilobytes()
	case Float:
		return q.num / floatUnit
	default:
		return q.num
	}
}

// IsZero reports whether the value is nothing: 0, False, or empty.
func (q Quantity) IsZero() bool { return q.num == 0 && q.text == "" }

// Cmp compares what two values of one type are worth: -1, 0 or 1.
func (q Quantity) Cmp(o Quantity) int {
	switch {
	case q.typ != o.typ:
		return cmp.Compare(q.typ, o.typ)
	case q.typ == Size:
		return q.cmpSize(o)
	case q.typ == String || q.typ == StringArray:
		return strings.Compare(q.text, o.text)
	default:
		return cmp.Compare(q.num, o.num)
	}
}

// String returns the value as PBS prints it.
func (q Quantity) String() string {
	switch q.typ {
	case Long:
		return strconv.FormatInt(q.num, 10)
	case Float:
		return formatFloat(q.num)
	case Size:
		return q.formatSize()
	case Time:
		return formatTime(q.num)
	case Boolean:
		if q.num != 0 {
			return "True"
		}
		return "False"
	default:
		return q.text
	}
}

func formatFloat(n int64) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	whole := sign + strconv.FormatInt(n/floatUnit, 10)
	if n%floatUnit == 0 {
		return whole
	}
	digits := strconv.FormatInt(floatUnit+n%floatUnit, 10)[1:]
	return whole + "." + strings.TrimRight(digits, "0")
}
