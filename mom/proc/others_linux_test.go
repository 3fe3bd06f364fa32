package proc

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

// Only the processes of those are ended who may have none.
func TestStrangers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	const stranger, guest = 2000054321, 2000054322
	start := func(uid uint32) *exec.Cmd {
		c := exec.Command("sleep", "1000")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		return c
	}
	bad, good := start(stranger), start(guest)
	found := Strangers(func(uid uint32) bool { return uid != stranger })
	if want := []Stranger{{bad.Process.Pid, stranger, "sleep"}}; !slices.Equal(found, want) {
		t.Fatalf("found are %v, want %v", found, want)
	}
	if other := (Stranger{good.Process.Pid, stranger, "sleep"}); other.End() {
		t.Error("a process was ended that is another one's by now")
	}
	if !found[0].End() {
		t.Error("it was not ended")
	}
	if err := bad.Wait(); err == nil {
		t.Error("it has ended by itself")
	}
	if _, alive := readProcess(good.Process.Pid); !alive {
		t.Error("another one's process was ended")
	}
}

func TestRealUser(t *testing.T) {
	for status, want := range map[string]uint32{"Name:\tsu\nUid:\t1001\t0\t0\t0\n": 1001, "Name:\tx\nUid:\t0\t0\t0\t0\n": 0} {
		if uid, ok := realUser(status); !ok || uid != want {
			t.Errorf("%q: %d, %v", status, uid, ok)
		}
	}
	for _, status := range []string{"", "Uid:\n", "Uid:\tx\t0\t0\t0\n"} {
		if uid, ok := realUser(status); ok {
			t.Errorf("%q: %d", status, uid)
		}
	}
}
