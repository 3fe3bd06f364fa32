package chaos

import "testing"

// TestSchedule_DrawsMoreThanThreeReplicas: now and then, so that schedules stay cheap.
func TestSchedule_DrawsMoreThanThreeReplicas(t *testing.T) {
	const seeds = 3000
	n := map[int]int{}
	for seed := range uint64(seeds) {
		n[Schedule(seed).World.Servers]++
	}
	if n[3] < seeds*85/100 || n[5] < seeds*3/100 || n[7] < seeds*1/100 || n[3]+n[5]+n[7] != seeds {
		t.Errorf("replicas: %v", n)
	}
}
