package resreq

import (
	"math/big"
	"strconv"
	"strings"
)

// An Amount of a resource is in thousandths of its unit, which is a kilobyte for mem, swp and tmp,
// so that replicas agree to the last digit.
type Amount int64

// The units, in thousandths. What is shown of mem, swp and tmp is in megabytes.
const (
	One      Amount = 1000
	Megabyte Amount = 1000 * 1024
)

var suffixes = map[string]int64{"K": 1, "M": 1 << 10, "G": 1 << 20, "T": 1 << 30}

// Unit returns how much 1 of the resource is without a suffix.
func Unit(resource string) Amount {
	if sized(resource) {
		return Megabyte
	}
	return One
}

// Shown returns the amount as select and order see it: in megabytes for mem, swp and tmp.
func (a Amount) Shown(resource string) float64 { return float64(a) / float64(Unit(resource)) }

// Whole returns the whole units of the amount, as bhosts shows them of megabytes.
func (a Amount) Whole(resource string) int64 { return int64(a / Unit(resource)) }

// readAmount makes an amount of a decimal number; what is smaller than a thousandth is cut off.
func readAmount(number string, unit int64) (Amount, bool) {
	whole, fraction, _ := strings.Cut(number, ".")
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return 0, false
	}
	n.Mul(n, big.NewInt(unit))
	n.Quo(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil))
	return Amount(n.Int64()), n.IsInt64()
}

// Print returns the amount as it is written of a resource: without superfluous zeros, and in
// kilobytes where thousandths of a megabyte do not tell it all.
func (a Amount) Print(resource string) string {
	const perMegabyte = Megabyte / One
	switch {
	case !sized(resource):
		return thousandths(int64(a))
	case a%perMegabyte == 0:
		return thousandths(int64(a / perMegabyte))
	}
	return thousandths(int64(a)) + "K"
}

func thousandths(n int64) string {
	sign := ""
	if n < 0 {
		sign = "-"
	}
	text := strconv.FormatUint(magnitude(n), 10)
	for len(text) < 4 {
		text = "0" + text
	}
	return sign + trim(text[:len(text)-3]+"."+text[len(text)-3:])
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// trim removes the zeros of a decimal number that say nothing.
func trim(number string) string {
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	number = strings.TrimLeft(number, "0")
	if number == "" || number[0] == '.' {
		return "0" + number
	}
	return number
}

// ParseAmount reads a number as it stands in configurations: of mem, swp and tmp in megabytes, unless a suffix says
// otherwise.
func ParseAmount(resource, text string) (Amount, bool) {
	unit := int64(Unit(resource))
	if sized(resource) && text != "" {
		if kilobytes, ok := suffixes[text[len(text)-1:]]; ok {
			text, unit = text[:len(text)-1], kilobytes*int64(One)
		}
	}
	if text == "" || strings.Trim(text, "0123456789.") != "" || strings.Count(text, ".") > 1 || text == "." || len(text) > maxDigits {
		return 0, false
	}
	return readAmount(text, unit)
}

// maxDigits bounds a number.
const maxDigits = 40
