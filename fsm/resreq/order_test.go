package resreq

import (
	"math"
	"strings"
	"testing"
)

// hostValues is a host.
type hostValues map[string]Value

func (h hostValues) Value(resource string) (Value, bool) {
	v, ok := h[resource]
	return v, ok
}

func TestHolds(t *testing.T) {
	h := hostValues{
		"type": {Text: "LINUX"}, "hname": {Text: "host-1.site"}, "os": {Text: "Debian GNU"}, "mem": {Number: 500},
		"swp": {Number: 0}, "r1m": {Number: 0.9}, "bigmem": {Number: 1}, "ut": {Number: math.NaN()},
	}
	for text, want := range map[string]bool{
		"": true, "type==any": true, "type!=any": false, "type==local": true, "type!=local": false, "type==LINUX": true, "type=AIX": false,
		"hname==host-1.site": true, "os=='Debian GNU'": true, "os<E": true, "model==any": false, "model!=x": false, "!model==x": true,
		"mem": true, "swp": false, "!swp": true, "bigmem": true, "lic": false, "defined(lic)": false, "defined(swp)": true,
		"mem>=500": true, "mem>500": false, "mem=500": true, "mem!=500": false, "mem<=499.9": false, "mem<500.1": true,
		"mem*2+1==1001": true, "(mem-100)/2>199": true, "mem/swp>0": false, "!(mem/swp>0)": true, "lic>=0": false, "lic<1": false,
		"ut<5": false, "r1m<1.0": true, "mem>1 && swp>1": false, "mem>1 || swp>1": true, "(mem>1) && (bigmem)": true, "1": true, "0.0": false,
	} {
		if got := parsed(t, text).Terms[0].Select.Holds(h, "LINUX"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if parsed(t, "type==local").Terms[0].Select.Holds(h, "AIX") {
		t.Error("a host of another type is local")
	}
	if !parsed(t, "type==any").Terms[0].Select.Holds(hostValues{}, "") {
		t.Error("a host without a type is not any")
	}
}

func TestCandidates(t *testing.T) {
	h := func(name string, mem, r1m float64) hostValues {
		return hostValues{"hname": {Text: name}, "mem": {Number: mem}, "r1m": {Number: r1m}, "r15s": {Number: r1m}}
	}
	hosts := []hostValues{h("a", 100, 0.2), h("b", 300, 0.1), h("c", 300, 0), {"hname": {Text: "d"}}}
	for text, want := range map[string]string{
		"":                   "c b a d",
		"order[mem]":         "b c a d",
		"order[-mem]":        "a b c d",
		"order[mem:r1m]":     "c b a d",
		"order[mem:-r1m]":    "b c a d",
		"order[r1m]":         "c b a d",
		"mem>100 order[mem]": "b c",
		"mem>1000":           "",
	} {
		var got []string
		for _, h := range Candidates(parsed(t, text).Terms[0].Simple, hosts, "", site) {
			got = append(got, h["hname"].Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

func TestSpanCap(t *testing.T) {
	for text, want := range map[string]int{"": 0, "span[hosts=1]": 0, "span[ptile=2]": 2, "span[ptile=!]": 8, "span[ptile='!',HP:3]": 3, "span[ptile='!',PC:3]": 8} {
		if got := parsed(t, text).Terms[0].Span.Cap(8, "LINUX", "HP"); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
}

func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		resource string
		amount   Amount
		print    string
		whole    int64
		shown    float64
	}{
		{"mem", 0, "0", 0, 0},
		{"mem", 30 * Megabyte, "30", 30, 30},
		{"mem", Megabyte * 29 / 2, "14.5", 14, 14.5},
		{"mem", One, "1K", 0, 1.0 / 1024},
		{"mem", 1, "0.001K", 0, 1.0 / 1024000},
		{"lic", 1500, "1.5", 1, 1.5},
		{"lic", -1500, "-1.5", -1, -1.5},
		{"lic", math.MinInt64, "-9223372036854775.808", -9223372036854775, -9223372036854775.808},
		{"lic", math.MaxInt64, "9223372036854775.807", 9223372036854775, 9223372036854775.807},
	} {
		if c.amount.Print(c.resource) != c.print || c.amount.Whole(c.resource) != c.whole || c.amount.Shown(c.resource) != c.shown {
			t.Errorf("%s %d: %s, %d, %v", c.resource, c.amount, c.amount.Print(c.resource), c.amount.Whole(c.resource), c.amount.Shown(c.resource))
		}
	}
}
