package proc

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A session is its leader's: who runs one process in it has no say about the others.
func TestSessionOf_IsTheLeaders(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if os.Getuid() != 0 || err != nil {
		t.Skip("needs root and setpriv")
	}
	leader := exec.Command("sh", "-c", setpriv+" --reuid 12345 --clear-groups sh -c 'echo $$; read x' <&3 & wait")
	leader.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	leader.ExtraFiles = []*os.File{in}
	out, err := leader.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	member, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	h, owner, err := SessionOf(member)
	if err != nil || owner != 0 || h.Session != leader.Process.Pid {
		t.Errorf("session %d of uid %d, %v; want %d of uid 0", h.Session, owner, err, leader.Process.Pid)
	}
	_ = hold.Close()
	if err := leader.Wait(); err != nil {
		t.Error(err)
	}
}
