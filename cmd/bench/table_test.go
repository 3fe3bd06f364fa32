package main

import (
	"strings"
	"testing"
	"time"
)

func TestTimes_Quantiles(t *testing.T) {
	var sample times
	for i := range 100 {
		sample = append(sample, time.Duration(100-i)*time.Millisecond)
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 50, 0.99: 99, 1: 100} {
		if got := sample.at(q); got != want*time.Millisecond {
			t.Errorf("at(%v) = %s, want %d ms", q, got, want)
		}
	}
	if got := (times{}).at(0.5); got != 0 {
		t.Errorf("of nothing: %s", got)
	}
	if got := (times{3 * time.Second}).at(0.99); got != 3*time.Second {
		t.Errorf("of one: %s", got)
	}
}

func TestPrintTable_Aligns(t *testing.T) {
	var b strings.Builder
	printTable(&b, []row{{"a", "1 µs", "", "", ""}, {"longer", "22", "r", "0.5", "1"}})
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for _, l := range lines {
		if len([]rune(l)) != len([]rune(lines[0])) {
			t.Errorf("%q is not as wide as %q", l, lines[0])
		}
	}
}

func TestChoose(t *testing.T) {
	if got, err := choose("qsub,submit"); err != nil || len(got) != 2 || got[0].name != "submit" {
		t.Errorf("choose: %v, %v", got, err)
	}
	if _, err := choose("nonsense"); err == nil || !strings.Contains(err.Error(), "failover") {
		t.Errorf("an unknown part: %v", err)
	}
}
