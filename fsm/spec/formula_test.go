package spec

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestFormula(t *testing.T) {
	values := map[string]float64{"ncpus": 4, "walltime": 3600, "A": -2, "zero": 0}
	value := func(name string) float64 { return values[name] }
	for text, want := range map[string]float64{
		"ncpus*walltime":                       14400,
		"10 * ncpus + 0.01*walltime - A":       78,
		"-2**2":                                -4,
		"2**3**2":                              512,
		"2**-1":                                0.5,
		"(1+2)*3":                              9,
		"7//2 + 7%4":                           6,
		"-7 % 3":                               2,
		"1/zero":                               0,
		"0 if ncpus > 8 else 5":                5,
		"not zero and ncpus == 4":              1,
		"max(1, ncpus, A) + min(3,2) + abs(A)": 8,
		"pow(2, 10) + sqrt(16) + ceil(0.5)":    1029,
		"1e3 + .5":                             1000.5,
		"unknown":                              0,
		"--1":                                  1,
		"ceil(fabs(-ncpus*(20/100.00)*sqrt(100)))":           8,
		"round(math.sin(math.pi/2)*ncpus, 3)":                4,
		"comb(5, 2) + perm(3,2) + factorial(4)":              40,
		"gcd(12, 18) + fmod(7, 4) + trunc(2.9)":              11,
		"round(2.5) + round(1234, -2)":                       1202,
		"log(8, 2) + log2(4) + hypot(3, 4)":                  10,
		"degrees(pi) + (1 if isnan(nan) else 2)":             181,
		"isqrt(17) + isqrt(9.9) + lcm(4, 6) + lcm(2, 3, 5)":  49,
		"gcd(12, 18, 8) + gcd(-5) + hypot(2, 3, 6)":          14,
		"isclose(1, 1 + 1e-10) + 2 * isclose(1, 1.1)":        1,
		"cbrt(27) + exp2(5) + (nextafter(1, 2) == 1+ulp(1))": 36,
		"fsum([1e100, 1, -1e100]) + sum((1, 2, 3))":          7,
		"prod([ncpus, 2, 3]) + dist((1, 2), [4, 6])":         29,
		"modf(7.25)[0] + modf(7.25)[1] + frexp(8)[1]":        11.25,
		"frexp(8)[0] + (ulp(1) < 1e-15)":                     1.5,
		"isqrt(-1)":                                          0,
		"dist([1], [1, 2]) + fsum([inf])":                    0,
		"math.fsum([1])":                                     1,
	} {
		f, err := ParseFormula(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := f.Value(value); got != want {
			t.Errorf("%s = %v, want %v", text, got, want)
		}
	}
	if f, _ := ParseFormula("ncpus + b*ncpus"); !slices.Equal(f.Names(), []string{"ncpus", "b"}) {
		t.Errorf("names %q", f.Names())
	}
	for _, bad := range []string{
		"", "1 +", "(1", "1)", "f(1)", "max()", "pow(1)", "1 2", "a.b", "x if", "x if y", "import os", "__import__('os')", "1..2", "\"a\"",
		"$", "and", "math.name", "math.", "sin()", "modf(1)", "modf(1)[2]", "frexp(1)[0", "fsum(1)", "fsum([1)", "prod([])", "dist([1])", "sum([1], 2)", "[1]", "1.sqrt(4)", strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200), strings.Repeat("2**", 200) + "2",
	} {
		if _, err := ParseFormula(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzFormula(f *testing.F) {
	f.Add("10*ncpus + walltime/3600 if job_priority > 0 else -1")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseFormula(text)
		if err != nil {
			return
		}
		if v := p.Value(func(string) float64 { return 3 }); math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%q is %v", text, v)
		}
	})
}
