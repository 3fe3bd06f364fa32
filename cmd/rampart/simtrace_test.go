package main

import "testing"

// What a replay has in use and the garbage that may lie beside it are bounded, unless it has very much in use.
func TestGarbageFor(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 400},
		{10 * mb, 400},
		{16 * mb, 400},
		{32 * mb, 200},
		{64 * mb, 100},
		{128 * mb, 50},
		{4096 * mb, 50},
	} {
		if got := garbageFor(c.live); got != c.want {
			t.Errorf("%d bytes in use: %d %%, want %d", c.live, got, c.want)
		}
	}
}
