package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// proveFlag has the shim write and sync a file in a folder, and do nothing else.
const proveFlag = "--prove"

// proveFor bounds the wait for it: a disk that takes longer is not well.
const proveFor = 10 * time.Second

// Prove implements System.
func (l *Linux) Prove(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, proveFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.shim, proveFlag, dir)
	var words bytes.Buffer
	cmd.Args[0], cmd.Dir, cmd.Env, cmd.Stderr, cmd.WaitDelay = ShimName, "/", []string{"GOMAXPROCS=1"}, &words, time.Second
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(words.String()); text != "" {
			return fmt.Errorf("start a program: %s", text)
		}
		return fmt.Errorf("start a program: %w", err)
	}
	return nil
}

// prove writes and syncs a file in the folder, and returns the exit status of the shim.
func prove(dir string) int {
	path := filepath.Join(dir, ".proof")
	err := writeRecord(path, struct{}{}, true)
	if gone := os.Remove(path); err == nil {
		err = gone
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
