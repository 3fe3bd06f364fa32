package resource

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"rampart/fsm/pbs"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		typ        Type
		text, want string // want is empty if the text is refused
	}{
		{Long, "64", "64"},
		{Long, "-5", "-5"},
		{Long, "+5", "5"},
		{Long, "007", "7"},
		{Long, "9223372036854775807", "9223372036854775807"},
		{Long, "9223372036854775808", ""},
		{Long, "-9223372036854775808", ""},
		{Long, "", ""},
		{Long, "abc", ""},
		{Long, "1.5", ""},
		{Long, " 1", ""},
		{Long, "0x10", ""},
		{Float, "1.5", "1.5"},
		{Float, "2", "2"},
		{Float, "-0.25", "-0.25"},
		{Float, "0.00004", "0"},
		{Float, "0.00005", "0.0001"},
		{Float, "1e3", "1000"},
		{Float, "1e300", ""},
		{Float, "inf", ""},
		{Float, "NaN", ""},
		{Float, "0x1p4", ""},
		{Float, "", ""},
		{Size, "6gb", "6gb"},
		{Size, "6GB", "6gb"},
		{Size, "6g", "6gb"},
		{Size, "100", "100b"},
		{Size, "100b", "100b"},
		{Size, "010mb", "10mb"},
		{Size, "4w", "4w"},
		{Size, "4kw", "4kw"},
		{Size, "1pb", "1pb"},
		{Size, "-1kb", ""},
		{Size, "1.5gb", ""},
		{Size, "gb", ""},
		{Size, "", ""},
		{Size, "1bb", ""},
		{Size, "1kk", ""},
		{Size, "1eb", ""},
		{Size, "1 gb", ""},
		{Size, "8388607pb", "8388607pb"},
		{Size, "9000000pb", "" /* is above 2^63 kb */},
		{Size, "8388608000000pb", ""},
		{Size, "9223372036854775808", ""},
		{Time, "3600", "01:00:00"},
		{Time, "01:00:00", "01:00:00"},
		{Time, "90:00", "01:30:00"},
		{Time, "1:2:3", "01:02:03"},
		{Time, "100:00:00", "100:00:00"},
		{Time, "336:00:00", "336:00:00"},
		{Time, "10.4", "00:00:10"},
		{Time, "10.5", "00:00:11"},
		{Time, "0", "00:00:00"},
		{Time, "xx", ""},
		{Time, "", ""},
		{Time, "1::2", ""},
		{Time, ":30", ""},
		{Time, "1:2:3:4", ""},
		{Time, "-5", ""},
		{Time, "5.", ""},
		{Time, "5.x", ""},
		{Time, "9223372036854775807:00:00", ""},
		{Boolean, "True", "True"},
		{Boolean, "t", "True"},
		{Boolean, "y", "True"},
		{Boolean, "1", "True"},
		{Boolean, "TRUE", "True"},
		{Boolean, "false", "False"},
		{Boolean, "N", "False"},
		{Boolean, "0", "False"},
		{Boolean, "tru", ""},
		{Boolean, "-1", ""},
		{Boolean, "11", ""},
		{Boolean, "", ""},
		{String, "linux", "linux"},
		{String, "a b", "a b"},
		{String, "a\nb", ""},
		{String, "a\x00b", ""},
		{String, "\xff", ""},
		{StringArray, "a, b,,c", "a,b,c"},
		{StringArray, "", ""},
		{StringArray, ",", ""},
		{0, "1", ""},
	} {
		t.Run(c.typ.String()+"/"+c.text, func(t *testing.T) {
			q, err := Parse(c.typ, c.text)
			if c.want == "" {
				if pbs.CodeOf(err) != pbs.BadAttributeValue {
					t.Fatalf("Parse = %v, %v, want a refusal with 15014", q, err)
				}
				return
			}
			if err != nil || q.String() != c.want {
				t.Fatalf("Parse = %q, %v, want %q", q, err, c.want)
			}
		})
	}
}

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		typ             Type
		a, b, sum, diff string // empty: refused
	}{
		{Long, "3", "2", "5", "1"},
		{Long, "2", "3", "5", "-1"},
		{Long, "9223372036854775807", "1", "", "9223372036854775806"},
		{Long, "-9223372036854775807", "1", "-9223372036854775806", ""},
		{Float, "1.5", "0.25", "1.75", "1.25"},
		{Size, "1gb", "2gb", "3gb", ""},
		{Size, "2gb", "1gb", "3gb", "1gb"},
		{Size, "1gb", "1048576kb", "2097152kb", "0kb"},
		{Size, "1gb", "512mb", "1536mb", "512mb"},
		{Size, "1kw", "1kb", "9kb", "7kb"}, // in bytes, for one of them is
		{Size, "8388607pb", "1pb", "", "8388606pb"},
		{Size, "8388607pb", "1b", "", ""}, // cannot be told in bytes
		{Time, "01:00:00", "00:30:00", "01:30:00", "00:30:00"},
		{Time, "00:30:00", "01:00:00", "01:30:00", ""},
		{Boolean, "True", "True", "", ""},
		{String, "a", "b", "", ""},
	} {
		t.Run(c.typ.String()+"/"+c.a+"/"+c.b, func(t *testing.T) {
			a, b := must(t, c.typ, c.a), must(t, c.typ, c.b)
			sum, err := a.Add(b)
			check(t, "sum", sum, err, c.sum)
			diff, err := a.Sub(b)
			check(t, "difference", diff, err, c.diff)
		})
	}
}

func check(t *testing.T, what string, got Quantity, err error, want string) {
	t.Helper()
	if want == "" && err == nil {
		t.Errorf("%s = %s, want a refusal", what, got)
	}
	if want != "" && (err != nil || got.String() != want) {
		t.Errorf("%s = %s, %v, want %s", what, got, err, want)
	}
}

func must(t interface {
	Helper()
	Fatalf(string, ...any)
}, typ Type, text string,
) Quantity {
	t.Helper()
	q, err := Parse(typ, text)
	if err != nil {
		t.Fatalf("Parse(%s, %q): %v", typ, text, err)
	}
	return q
}

func TestAdd_TypesDiffer(t *testing.T) {
	if _, err := Count(1).Add(Seconds(1)); err == nil {
		t.Error("a count and a time were added")
	}
}

func TestMul(t *testing.T) {
	gb := must(t, Size, "1gb")
	three, err := gb.Mul(3)
	check(t, "3 x 1gb", three, err, "3gb")
	_, err = Count(math.MaxInt64).Mul(2)
	if err == nil {
		t.Error("an overflow was not refused")
	}
	none, err := gb.Mul(0)
	check(t, "0 x 1gb", none, err, "0gb")
	if _, err := gb.Mul(-1); err == nil {
		t.Error("a negative factor was not refused")
	}
}

func TestInKB(t *testing.T) {
	for text, want := range map[string]string{
		"1gb": "1048576kb", "10mb": "10240kb", "1b": "1kb", "1025b": "2kb", "0b": "0kb", "1w": "1kb",
		"1kw": "8kb", "8388607pb": strconv.Itoa(8388607<<40) + "kb",
	} {
		if got := must(t, Size, text).InKB().String(); got != want {
			t.Errorf("%s in kb is %s, want %s", text, got, want)
		}
	}
	if got := Count(3).InKB(); got != Count(3) {
		t.Errorf("a count in kb is %s", got)
	}
}

func TestCmp(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		a, b string
		want int
	}{
		{Size, "1gb", "1024mb", 0},
		{Size, "1gb", "1025mb", -1},
		{Size, "1kw", "8kb", 0},
		{Size, "8388607pb", "9223372036854775807b", 1},
		{Long, "2", "10", -1},
		{Time, "60:00", "1:00:00", 0},
		{String, "a", "b", -1},
		{Boolean, "True", "False", 1},
	} {
		if got := must(t, c.typ, c.a).Cmp(must(t, c.typ, c.b)); got != c.want {
			t.Errorf("Cmp(%s, %s) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestConstructors(t *testing.T) {
	for want, q := range map[string]Quantity{
		"7": Count(7), "00:01:05": Seconds(65), "12kb": Kilobytes(12), "0kb": Kilobytes(-1),
	} {
		if q.String() != want || q.IsZero() != (want == "0kb") {
			t.Errorf("got %s (zero: %v), want %s", q, q.IsZero(), want)
		}
	}
	if got := Kilobytes(12).Int() + Seconds(65).Int() + Count(7).Int(); got != 84 {
		t.Errorf("the numbers sum to %d, want 84", got)
	}
}

// quantities draws texts of all types, most of them valid.
func quantities(t *rapid.T, typ Type) string {
	switch typ {
	case Size:
		unit := rapid.SampledFrom([]string{"", "b", "kb", "mb", "gb", "tb", "pb", "w", "kw", "mw"}).Draw(t, "unit")
		return strconv.FormatInt(rapid.Int64Min(0).Draw(t, "number"), 10) + unit
	case Time:
		return strconv.FormatInt(rapid.Int64Range(0, 1<<62).Draw(t, "seconds"), 10)
	case Float:
		return strconv.FormatFloat(rapid.Float64().Draw(t, "float"), 'g', -1, 64)
	default:
		return strconv.FormatInt(rapid.Int64().Draw(t, "long"), 10)
	}
}

func TestProperty_PrintedIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]Type{Long, Float, Size, Time}).Draw(t, "type")
		q, err := Parse(typ, quantities(t, typ))
		if err != nil {
			return
		}
		again, err := Parse(typ, q.String())
		if err != nil || again != q || again.Cmp(q) != 0 {
			t.Fatalf("%s becomes %s, %v", q, again, err)
		}
	})
}

func TestProperty_SubUndoesAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]Type{Long, Float, Size, Time}).Draw(t, "type")
		a, errA := Parse(typ, quantities(t, typ))
		b, errB := Parse(typ, quantities(t, typ))
		if errA != nil || errB != nil {
			return
		}
		sum, err := a.Add(b)
		other, errOther := b.Add(a)
		if (err == nil) != (errOther == nil) || err == nil && sum != other {
			t.Fatalf("%s + %s = %s, %v; the other way %s, %v", a, b, sum, err, other, errOther)
		}
		if err != nil {
			return
		}
		back, err := sum.Sub(b)
		if err != nil || back.Cmp(a) != 0 {
			t.Fatalf("%s + %s - %s = %s, %v", a, b, b, back, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"6gb", "4kw", "01:00:00", "1.5", "True", "a,b", "-1", "9223372036854775807", "1e9", ""} {
		for typ := Long; typ <= Boolean; typ++ {
			f.Add(uint8(typ), seed)
		}
	}
	f.Fuzz(func(t *testing.T, typ uint8, text string) {
		q, err := Parse(Type(typ), text)
		if err != nil {
			return
		}
		again, err := Parse(Type(typ), q.String())
		if err != nil || again != q {
			t.Fatalf("%q prints as %q, which becomes %q, %v", text, q, again, err)
		}
	})
}
