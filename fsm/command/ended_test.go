package command

import "testing"

func TestStageoutStatus(t *testing.T) {
	for said, want := range map[int32]string{1: "1", -1: "0"} {
		if got := stageoutStatus(said); got != want {
			t.Errorf("%d: %s, want %s", said, got, want)
		}
	}
}
