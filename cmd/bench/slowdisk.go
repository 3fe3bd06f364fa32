package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// slowDisk measures submissions while one follower's disk is well, and while each of its
// writes takes about 200 ms: a majority is well without it.
func (b *bench) slowDisk(ctx context.Context) error {
	if os.Geteuid() != 0 {
		b.note(row{"submissions with a follower whose disk is slow", "not measured: only root can mount one", "", "", ""})
		return nil
	}
	w, stop, err := b.start(ctx, "--moms", "0")
	if err != nil {
		return err
	}
	defer stop()
	follower, err := w.replica(ctx, "follower")
	if err != nil {
		return err
	}
	folder, unmount, err := w.ownDisk(ctx, follower.Name)
	if err != nil {
		return err
	}
	defer unmount()
	if err := w.settled(ctx, 3); err != nil {
		return err
	}
	leader, err := w.replica(ctx, "leader")
	if err != nil {
		return err
	}
	well, err := b.flood(ctx, w.id, leader.Address)
	if err != nil {
		return err
	}
	heal, err := slow(ctx, folder)
	if err != nil {
		return err
	}
	defer heal()
	sick, err := b.flood(ctx, w.id, leader.Address)
	p99 := w.writeP99(ctx, follower.Name)
	heal()
	if err != nil {
		return err
	}
	b.note(row{
		fmt.Sprintf("submissions, 64 callers, one follower's disk slow (its writes: p99 %.0f ms)", p99),
		fmt.Sprintf("%.0f/s, %s", sick.rate, sick.latency.millis()),
		fmt.Sprintf("its disk well: %.0f/s, %s", well.rate, well.latency.millis()), ratio(sick.rate, well.rate), "no slower",
	})
	if ends := w.Ended(follower.Name); len(ends) > 1 { // the first one was ours
		return fmt.Errorf("%s did not live through its slow disk: %v", follower.Name, ends)
	}
	return nil
}

// ownDisk puts a replica's log on a file system of its own.
func (w *world) ownDisk(ctx context.Context, name string) (folder string, unmount func(), err error) {
	folder = filepath.Join(w.Home(name), "server_priv", "raft")
	image, aside := filepath.Join(w.Dir, "disk"), folder+".aside"
	if err := w.Signal(name, syscall.SIGTERM); err != nil {
		return "", nil, err
	}
	err = poll(ctx, 20*time.Millisecond, func() error {
		if _, err := w.Pid(name); err == nil {
			return errors.New(name + " has not ended")
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 1<<30), os.Rename(folder, aside), os.Mkdir(folder, 0o700)); err != nil {
		return "", nil, err
	}
	for _, words := range [][]string{{"mkfs.ext4", "-q", image}, {"mount", "-o", "loop", image, folder}, {"cp", "-a", aside + "/.", folder}} {
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return "", nil, fmt.Errorf("%v: %w: %s", words, err, out)
		}
	}
	return folder, func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) }, w.Restart(ctx, name)
}

// slowly freezes a file system for most of the time, and never leaves it frozen: not when
// it is told to end, and not when we die.
const slowly = `trap 'fsfreeze -u "$0"; exit' TERM
while kill -0 $PPID; do fsfreeze -f "$0"; sleep 0.15; fsfreeze -u "$0"; sleep 0.05; done`

// slow makes each write to a mounted folder take about 200 ms, until heal.
func slow(ctx context.Context, folder string) (heal func(), err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", slowly, folder)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = exec.Command("fsfreeze", "-u", folder).Run() // no error that matters: it is not frozen
	}, nil
}

// writeP99 returns what a replica says of its disk, in milliseconds.
func (w *world) writeP99(ctx context.Context, name string) float64 {
	out, _ := w.Output(ctx, "rampart", "cluster", "status", "--json") // its status says that a disk is slow
	var s struct {
		Replicas []struct {
			Name string `json:"name"`
			Disk struct {
				P99 float64 `json:"write_p99_ms"`
			} `json:"disk"`
		} `json:"replicas"`
	}
	_ = json.Unmarshal([]byte(out), &s)
	for _, r := range s.Replicas {
		if r.Name == name {
			return r.Disk.P99
		}
	}
	return 0
}
