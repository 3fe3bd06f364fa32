package spec

import (
	"math"
)

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

// A function takes between least and most arguments.
type function struct {
	least, most int
	do          func([]float64) float64
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

// functions are those of Python itself and of its module math. What IEEE 754 does not bind to one result is inexact.
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
	"gcd": ofTwo(gcd), "comb": ofTwo(comb), "perm": ofTwo(perm),
	"max": {least: 1, most: 64, do: func(a []float64) float64 { return fold(a, math.Max) }},
	"min": {least: 1, most: 64, do: func(a []float64) float64 { return fold(a, math.Min) }},

	"exp": inexactly(ofOne(math.Exp)), "expm1": inexactly(ofOne(math.Expm1)), "log10": inexactly(ofOne(math.Log10)),
	"log2": inexactly(ofOne(math.Log2)), "log1p": inexactly(ofOne(math.Log1p)), "log": inexactly(function{least: 1, most: 2, do: logarithm}),
	"sin": inexactly(ofOne(math.Sin)), "cos": inexactly(ofOne(math.Cos)), "tan": inexactly(ofOne(math.Tan)),
	"asin": inexactly(ofOne(math.Asin)), "acos": inexactly(ofOne(math.Acos)), "atan": inexactly(ofOne(math.Atan)),
	"sinh": inexactly(ofOne(math.Sinh)), "cosh": inexactly(ofOne(math.Cosh)), "tanh": inexactly(ofOne(math.Tanh)),
	"asinh": inexactly(ofOne(math.Asinh)), "acosh": inexactly(ofOne(math.Acosh)), "atanh": inexactly(ofOne(math.Atanh)),
	"erf": inexactly(ofOne(math.Erf)), "erfc": inexactly(ofOne(math.Erfc)), "gamma": inexactly(ofOne(math.Gamma)),
	"lgamma": inexactly(ofOne(func(a float64) float64 { v, _ := math.Lgamma(a); return v })),
	"atan2":  inexactly(ofTwo(math.Atan2)), "hypot": inexactly(ofTwo(math.Hypot)), "pow": inexactly(ofTwo(math.Pow)),
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

// whole tells whether a number counts something; Python refuses others where that is asked for.
func whole(a float64) bool { return a >= 0 && a == math.Trunc(a) && a <= 1e6 }

func factorial(a float64) float64 { return perm(a, a) }

// perm counts the ordered choices of k out of n.
func perm(n, k float64) float64 {
	if !whole(n) || !whole(k) {
		return math.NaN()
	}
	product := 1.0
	for i := n; i > n-k && !math.IsInf(product, 0) && product != 0; i-- {
		product *= i
	}
	return product
}

// comb counts the choices of k out of n.
func comb(n, k float64) float64 {
	if !whole(n) || !whole(k) || k > n {
		return truth(false)
	}
	k = min(k, n-k)
	product := 1.0
	for i := 1.0; i <= k && !math.IsInf(product, 0); i++ {
		product = float64(product*(n-k+i)) / i
	}
	return product
}

func gcd(a, b float64) float64 {
	a, b = math.Abs(math.Trunc(a)), math.Abs(math.Trunc(b))
	for range 2000 {
		if b == 0 || math.IsNaN(b) || math.IsInf(b, 0) {
			break
		}
		a, b = b, math.Mod(a, b)
	}
	return a
}

func fold(a []float64, f func(a, b float64) float64) float64 {
	v := a[0]
	for _, n := range a[1:] {
		v = f(v, n)
	}
	return v
}
