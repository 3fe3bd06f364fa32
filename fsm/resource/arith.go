package resource

import (
	"math"

	"rampart/fsm/pbs"
)

// Add returns the sum of two values of one numeric type, sizes in the smaller of
// the two units. What does not fit into 64 bits is refused, never wrapped.
func (q Quantity) Add(o Quantity) (Quantity, error) {
	q, o, err := operands(q, o)
	if err != nil {
		return Quantity{}, err
	}
	sum := q.num + o.num
	if (sum > q.num) != (o.num > 0) && o.num != 0 {
		return Quantity{}, tooLarge()
	}
	return q.with(sum)
}

// Sub returns the difference of two values of one numeric type. Sizes and times
// do not go below zero: that is refused.
func (q Quantity) Sub(o Quantity) (Quantity, error) {
	if o.num == math.MinInt64 {
		return Quantity{}, tooLarge()
	}
	o.num = -o.num
	if o.typ == Size {
		return q.subSize(o)
	}
	return q.Add(o)
}

func (q Quantity) subSize(negated Quantity) (Quantity, error) {
	negated.num = -negated.num
	q, o, err := operands(q, negated)
	if err != nil {
		return Quantity{}, err
	}
	return q.with(q.num - o.num)
}

// Mul returns the value n times.
func (q Quantity) Mul(n int64) (Quantity, error) {
	if !q.typ.Numeric() || n < 0 {
		return Quantity{}, pbs.Refuse(pbs.BadAttributeValue)
	}
	if n == 0 {
		return q.with(0)
	}
	product := q.num * n
	if product/n != q.num {
		return Quantity{}, tooLarge()
	}
	return q.with(product)
}

// operands brings two values to one unit.
func operands(q, o Quantity) (Quantity, Quantity, error) {
	if q.typ != o.typ || !q.typ.Numeric() {
		return q, o, pbs.Refuse(pbs.BadAttributeValue)
	}
	if q.typ != Size {
		return q, o, nil
	}
	q, o, ok := alike(q, o)
	if !ok {
		return q, o, tooLarge()
	}
	return q, o, nil
}

// with returns the quantity with another number, if it may have it.
func (q Quantity) with(num int64) (Quantity, error) {
	q.num = num
	switch {
	case num == math.MinInt64,
		num < 0 && (q.typ == Size || q.typ == Time),
		q.typ == Size && !q.bounded():
		return Quantity{}, tooLarge()
	}
	return q, nil
}

func tooLarge() error { return pbs.Refuse(pbs.BadAttributeValue) }
