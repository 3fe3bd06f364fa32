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

var functions = map[string]function{
	"abs": ofOne(math.Abs), "ceil": ofOne(math.Ceil), "exp": inexactly(ofOne(math.Exp)), "floor": ofOne(math.Floor),
	"int": ofOne(math.Trunc), "float": ofOne(func(a float64) float64 { return a }), "log": inexactly(ofOne(math.Log)),
	"log10": inexactly(ofOne(math.Log10)), "round": ofOne(math.RoundToEven), "sqrt": inexactly(ofOne(math.Sqrt)),
	"pow": inexactly(function{least: 2, most: 2, do: func(a []float64) float64 { return math.Pow(a[0], a[1]) }}),
	"max": {least: 1, most: 64, do: func(a []float64) float64 { return fold(a, math.Max) }},
	"min": {least: 1, most: 64, do: func(a []float64) float64 { return fold(a, math.Min) }},
}

func fold(a []float64, f func(a, b float64) float64) float64 {
	v := a[0]
	for _, n := range a[1:] {
		v = f(v, n)
	}
	return v
}
