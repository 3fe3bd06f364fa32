package resource

import (
	"math"
	"strconv"
)

// Measure returns an amount of the resource as a whole number, rounded up: of a size
// kilobytes, of a time seconds, of a float millionths. What is no number is 0.
func (d Def) Measure(text string) int64 {
	if !d.Type.Numeric() {
		return 0
	}
	q, err := d.Parse(text)
	switch {
	case err != nil:
		return 0
	case d.Type == Float:
		f, _ := strconv.ParseFloat(q.String(), 64)
		return int64(max(math.MinInt64/2, min(math.MaxInt64/2, math.Ceil(f*1_000_000))))
	}
	return q.Int()
}

// Measured returns the text of an amount that Measure returned.
func (d Def) Measured(amount int64) string {
	switch d.Type {
	case Float:
		return strconv.FormatFloat(float64(amount)/1_000_000, 'f', -1, 64)
	case Size:
		return Kilobytes(amount).String()
	case Time:
		return Seconds(amount).String()
	default:
		return Count(amount).String()
	}
}
