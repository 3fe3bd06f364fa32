package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// bubble plays seeded schedules of faults, as make test does, on both cores.
func (b *bench) bubble(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.home, "bubble")
	if err != nil {
		return fmt.Errorf("bubble: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary := filepath.Join(dir, "chaos.test")
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./chaos").CombinedOutput(); err != nil {
		return fmt.Errorf("bubble: build the tests: %w\n%s", err, out)
	}
	runs := b.few(200)
	began := time.Now()
	out, err := exec.CommandContext(ctx, binary, "-test.run", "^TestSchedules$", "-runs", strconv.Itoa(runs)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("bubble: %w\n%s", err, out)
	}
	rate := float64(runs) / time.Since(began).Minutes()
	b.note(row{
		fmt.Sprintf("schedules a minute in the bubble, without the race detector, %d schedules", runs),
		fmt.Sprintf("%.0f/min", rate), "", "", "thousands",
	})
	return nil
}
