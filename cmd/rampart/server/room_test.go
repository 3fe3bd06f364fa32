package server

import "testing"

func TestRoomFor(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 100, 1 << 20: 100, 64 << 20: 100, 128 << 20: 75, 320 << 20: 60, 1 << 30: 53, 1 << 40: 50,
	} {
		if got := roomFor(live); got != want {
			t.Errorf("%d MiB live: %d, want %d", live>>20, got, want)
		}
	}
}
