package spec

import "math"

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var arithmetic = map[string]func(a, b float64) float64{
	"+":   func(a, b float64) float64 { return a + b },
	"-":   func(a, b float64) float64 { return a - b },
	"*":   func(a, b float64) float64 { return a * b },
	"/":   func(a, b float64) float64 { return a / b },
	"//":  func(a, b float64) float64 { return math.Floor(a / b) },
	"%":   func(a, b float64) float64 { return a - b*math.Floor(a/b) },
	"<":   func(a, b float64) float64 { return truth(a < b) },
	"<=":  func(a, b float64) float64 { return truth(a <= b) },
	">":   func(a, b float64) float64 { return truth(a > b) },
	">=":  func(a, b float64) float64 { return truth(a >= b) },
	"==":  func(a, b float64) float64 { return truth(a == b) },
	"!=":  func(a, b float64) float64 { return truth(a != b) },
	"and": func(a, b float64) float64 { return truth(a != 0 && b != 0) },
	"or":  func(a, b float64) float64 { return truth(a != 0 || b != 0) },
}

// maxOperands bounds the arguments of a function, and the items of a list.
const maxOperands = 64

// A function takes between least and most arguments. One of lists takes lists of numbers, [a, b] or (a, b). One of pairs has
// two results, of which an index behind it chooses one.
type function struct {
	least, most int
	do          func([]float64) float64
	ofLists     func([][]float64) float64
	pair        func(float64) [2]float64
	inexact     bool
}

func ofOne(f func(float64) float64) function {
	return function{least: 1, most: 1, do: func(a []float64) float64 { return f(a[0]) }}
}

func inexactly(f function) function {
	f.inexact = true
	return f
}

// constants are the names that math has.
var constants = map[string]float64{"pi": math.Pi, "e": math.E, "tau": 2 * math.Pi, "inf": math.Inf(1), "nan": math.NaN(), "True": 1, "False": 0}

// functions are the functions of Python itself and of its module math. What IEEE 754 does not bind to one result is inexact.
var functions = map[string]function{
	"abs": ofOne(math.Abs), "fabs": ofOne(math.Abs), "ceil": ofOne(math.Ceil), "floor": ofOne(math.Floor), "trunc": ofOne(math.Trunc),
	"int": ofOne(math.Trunc), "float": ofOne(func(a float64) float64 { return a }), "bool": ofOne(func(a float64) float64 { return truth(a != 0) }),
	"sqrt": ofOne(math.Sqrt), "degrees": ofOne(func(a float64) float64 { return a * (180 / math.Pi) }),
	"radians": ofOne(func(a float64) float64 { return a * (math.Pi / 180) }), "factorial": ofOne(factorial),
	"isnan":    ofOne(func(a float64) float64 { return truth(math.IsNaN(a)) }),
	"isinf":    ofOne(func(a float64) float64 { return truth(math.IsInf(a, 0)) }),
	"isfinite": ofOne(func(a float64) float64 { return truth(!math.IsNaN(a) && !math.IsInf(a, 0)) }),
	"round":    {least: 1, most: 2, do: round},
	"copysign": ofTwo(math.Copysign), "fmod": ofTwo(math.Mod), "remainder": ofTwo(math.Remainder), "ldexp": ofTwo(func(a, n float64) float64 {
		return math.Ldexp(a, int(max(-5000, min(5000, n))))
	}),
	"gcd": ofAll(0, gcd), "lcm": ofAll(1, lcm), "isqrt": ofOne(isqrt), "nextafter": ofTwo(math.Nextafter), "ulp": ofOne(ulp), "comb": ofTwo(comb), "perm": ofTwo(perm),
	"isclose": {least: 2, most: 2, do: func(a []float64) float64 { return truth(near(a[0], a[1])) }},
	"max":     {least: 1, most: maxOperands, do: func(a []float64) float64 { return fold(a[0], a[1:], math.Max) }},
	"min":     {least: 1, most: maxOperands, do: func(a []float64) float64 { return fold(a[0], a[1:], math.Min) }},
	"fsum":    ofLists(1, func(a [][]float64) float64 { return exactSum(a[0]) }),
	"prod":    ofLists(1, func(a [][]float64) float64 { return fold(1, a[0], func(a, b float64) float64 { return a * b }) }),
	"sum":     ofLists(1, func(a [][]float64) float64 { return fold(0, a[0], func(a, b float64) float64 { return a + b }) }),
	"modf":    {least: 1, most: 1, pair: modf}, "frexp": {least: 1, most: 1, pair: frexp},

	"exp": inexactly(ofOne(math.Exp)), "expm1": inexactly(ofOne(math.Expm1)), "log10": inexactly(ofOne(math.Log10)),
	"log2": inexactly(ofOne(math.Log2)), "log1p": inexactly(ofOne(math.Log1p)), "log": inexactly(function{least: 1, most: 2, do: logarithm}),
	"sin": inexactly(ofOne(math.Sin)), "cos": inexactly(ofOne(math.Cos)), "tan": inexactly(ofOne(math.Tan)),
	"asin": inexactly(ofOne(math.Asin)), "acos": inexactly(ofOne(math.Acos)), "atan": inexactly(ofOne(math.Atan)),
	"sinh": inexactly(ofOne(math.Sinh)), "cosh": inexactly(ofOne(math.Cosh)), "tanh": inexactly(ofOne(math.Tanh)),
	"asinh": inexactly(ofOne(math.Asinh)), "acosh": inexactly(ofOne(math.Acosh)), "atanh": inexactly(ofOne(math.Atanh)),
	"erf": inexactly(ofOne(math.Erf)), "erfc": inexactly(ofOne(math.Erfc)), "gamma": inexactly(ofOne(math.Gamma)),
	"lgamma": inexactly(ofOne(func(a float64) float64 { v, _ := math.Lgamma(a); return v })),
	"atan2":  inexactly(ofTwo(math.Atan2)), "hypot": inexactly(ofAll(0, math.Hypot)), "pow": inexactly(ofTwo(math.Pow)),
	"cbrt": inexactly(ofOne(math.Cbrt)), "exp2": inexactly(ofOne(math.Exp2)), "dist": inexactly(ofLists(2, distance)),
}

// ofAll combines all arguments, one after the other, with what stands for none.
func ofAll(none float64, f func(a, b float64) float64) function {
	return function{least: 1, most: maxOperands, do: func(a []float64) float64 { return fold(none, a, f) }}
}

func ofLists(n int, f func([][]float64) float64) function {
	return function{least: n, most: n, ofLists: f}
}

func ofTwo(f func(a, b float64) float64) function {
	return function{least: 2, most: 2, do: func(a []float64) float64 { return f(a[0], a[1]) }}
}

// round goes to the even neighbour, as Python does; a second argument is a number of decimals.
func round(a []float64) float64 {
	if len(a) == 1 {
		return math.RoundToEven(a[0])
	}
	unit := 1.0
	for range int(min(20, math.Abs(a[1]))) {
		unit *= 10
	}
	if a[1] < 0 {
		return math.RoundToEven(a[0]/unit) * unit
	}
	return math.RoundToEven(a[0]*unit) / unit
}

func logarithm(a []float64) float64 {
	if len(a) == 1 {
		return math.Log(a[0])
	}
	return math.Log(a[0]) / math.Log(a[1])
}

func fold(v float64, a []float64, f func(a, b float64) float64) float64 {
	for _, n := range a {
		v = f(v, n)
	}
	return v
}
