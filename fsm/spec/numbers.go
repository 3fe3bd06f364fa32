package spec

import (
	"math"
	"math/big"
)

// whole reports whether a number counts something; Python refuses others where that is asked for.
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

func lcm(a, b float64) float64 {
	if a, b = math.Abs(math.Trunc(a)), math.Abs(math.Trunc(b)); a == 0 || b == 0 {
		return 0
	}
	return a / gcd(a, b) * b
}

// isqrt returns the greatest whole number whose square is not above the whole part of a.
func isqrt(a float64) float64 {
	a = math.Trunc(a)
	n := math.Floor(math.Sqrt(a))
	if float64(n*n) > a {
		n--
	}
	return n
}

// ulp returns the value of the last bit of a number.
func ulp(a float64) float64 {
	if a = math.Abs(a); a == math.MaxFloat64 {
		return a - math.Nextafter(a, 0)
	}
	return math.Nextafter(a, math.Inf(1)) - a
}

// near reports whether two numbers differ by a billionth of the greater one at most.
func near(a, b float64) bool {
	if a == b {
		return true
	}
	return !math.IsInf(a, 0) && !math.IsInf(b, 0) && math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}

// modf returns the fraction of a number and its whole part.
func modf(a float64) [2]float64 {
	if math.IsInf(a, 0) {
		return [2]float64{0, a}
	}
	whole := math.Trunc(a)
	return [2]float64{a - whole, whole}
}

// frexp returns the mantissa of a number and its exponent.
func frexp(a float64) [2]float64 {
	fraction, exponent := math.Frexp(a)
	return [2]float64{fraction, float64(exponent)}
}

// sumBits holds the sum of any numbers: from the last bit of the least to the first of the greatest, and the carries.
const sumBits = 2200

// exactSum adds numbers without the loss of what each addition rounds away, and rounds once.
func exactSum(all []float64) float64 {
	exact := new(big.Float).SetPrec(sumBits)
	for _, n := range all {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return math.NaN()
		}
		exact.Add(exact, new(big.Float).SetFloat64(n))
	}
	sum, _ := exact.Float64()
	return sum
}

// distance returns the distance of two points.
func distance(points [][]float64) float64 {
	if len(points[0]) != len(points[1]) {
		return math.NaN()
	}
	d := 0.0
	for i, a := range points[0] {
		d = math.Hypot(d, a-points[1][i])
	}
	return d
}
