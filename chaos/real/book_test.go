package real

import (
	"reflect"
	"testing"
	"time"

	"rampart/chaos/check"
)

func TestBook_Parse(t *testing.T) {
	begun := time.UnixMicro(1_000_000)
	run := func(n uint32, host string, from, to time.Duration) check.Run {
		return check.Run{Job: "7.srv", Count: n, Host: host, Start: from * time.Second, End: to * time.Second}
	}
	for name, test := range map[string]struct {
		text string
		want []check.Run
	}{
		"ended":           {"began 2.000000 11 a\nlives 3.000000 11 a\nended 4.000000 11 a\n", []check.Run{run(3, "a", 1, 3)}},
		"killed":          {"began 2.000000 11 a\nlives 3.000000 11 a\n", []check.Run{run(3, "a", 1, 2)}},
		"killed at once":  {"", nil},
		"started twice":   {"began 2.000000 11 a\nbegan 3.000000 12 b\nlives 4.000000 11 a\n", []check.Run{run(3, "a", 1, 3), run(3, "b", 2, 2)}},
		"torn: no number": {"began x 11 a\n", nil},
	} {
		got, err := parse("7.srv@3", test.text, begun)
		if !reflect.DeepEqual(got, test.want) || (err != nil) != (name == "torn: no number") {
			t.Errorf("%s: %v, %v; want %v", name, got, err, test.want)
		}
	}
	want := run(3, "b", 1, 2)
	want.Part = true
	if got, err := parse("7.srv@3+b", "began 2.000000 11 b\nlives 3.000000 11 b\n", begun); err != nil || !reflect.DeepEqual(got, []check.Run{want}) {
		t.Errorf("a part: %v, %v", got, err)
	}
}

func TestTimes_At(t *testing.T) {
	sample := Times{4, 1, 3, 2}
	for q, want := range map[float64]time.Duration{0.5: 2, 0.75: 3, 0.99: 4, 1: 4, 0: 1} {
		if got := sample.At(q); got != want {
			t.Errorf("the quantile %v is %d, want %d", q, got, want)
		}
	}
}
