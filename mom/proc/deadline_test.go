//go:build linux

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestDeadline_WrittenInPlaceAndChecked(t *testing.T) {
	path := filepath.Join(folder(t), "deadline")
	if _, err := ReadDeadline(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a deadline that is not there: %v", err)
	}
	var first os.FileInfo
	for i, d := range []Deadline{
		{BootID: "b", Lapse: 0, At: 12 * time.Hour, Fence: 310 * time.Second}, {BootID: "b", Lapse: 1 << 40}, {BootID: "longer-boot", At: 1},
	} {
		if err := WriteDeadline(path, d); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadDeadline(path); err != nil || got != d {
			t.Errorf("read %+v, %v, want %+v", got, err, d)
		}
		info, err := os.Stat(path)
		if err != nil || i > 0 && (!os.SameFile(info, first) || info.Size() != first.Size()) {
			t.Errorf("deadline %d is another file, or of another size: %v", i, err)
		}
		first = info
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, torn := range []string{"", "deadline", string(whole[:len(whole)-1]), strings.Replace(string(whole), "longer", "loNger", 1)} {
		if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadDeadline(path); err == nil {
			t.Errorf("%q was read as %+v", torn, got)
		}
	}
}

func TestFence_FallsByTimeLapseAndBoot(t *testing.T) {
	path := filepath.Join(folder(t), "deadline")
	for _, c := range []struct {
		name string
		set  Deadline
		want bool
	}{
		{"no deadline", Deadline{BootID: "b", Lapse: 3}, false},
		{"ahead", Deadline{BootID: "b", Lapse: 3, At: 11}, false},
		{"at it", Deadline{BootID: "b", Lapse: 3, At: 10}, false},
		{"behind", Deadline{BootID: "b", Lapse: 3, At: 9}, true},
		{"moved on after it had passed", Deadline{BootID: "b", Lapse: 4, At: 1000}, true},
		{"lifted after it had passed", Deadline{BootID: "b", Lapse: 4}, true},
		{"of another boot", Deadline{BootID: "a", Lapse: 3, At: 11}, true},
	} {
		if err := WriteDeadline(path, c.set); err != nil {
			t.Fatal(err)
		}
		f := fence{path: path, boot: "b", lapse: 3}
		if got := f.fallen(10); got != c.want {
			t.Errorf("%s: fallen is %v", c.name, got)
		}
	}
	f := fence{path: path, boot: "b", lapse: 3}
	if err := WriteDeadline(path, Deadline{BootID: "b", Lapse: 3, At: 20}); err != nil {
		t.Fatal(err)
	}
	if f.fallen(10) {
		t.Error("fallen too early")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if f.fallen(15) || !f.fallen(21) {
		t.Error("what was read last must stay in force when the file is gone")
	}
	if none := (fence{path: path, boot: "b"}); !none.fallen(1) {
		t.Error("a deadline that was never read lets nothing start")
	}
	if free := (fence{}); free.fallen(1 << 60) {
		t.Error("without a file there is no fence")
	}
}

// fenced returns a spec under a deadline that passes after d.
func fenced(t *testing.T, l *Linux, dir, script string, d time.Duration) Spec {
	t.Helper()
	spec := shell(dir, script)
	spec.Deadline = filepath.Join(folder(t), "deadline")
	if err := WriteDeadline(spec.Deadline, Deadline{BootID: l.BootID(), At: l.Now() + d, Fence: d}); err != nil {
		t.Fatal(err)
	}
	return spec
}

// The mom is dead: only the shim is there to obey the deadline, and takes what was
// detached from the session with it.
func TestFence_ShimAloneKillsTheTree(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := fenced(t, l, dir, "trap '' TERM\nsetsid sleep 4711 & echo $!\nwait\n", 5*time.Second)
	h := start(t, l, dir, spec)
	end, err := l.Wait(within(t), dir, h)
	if err != nil || !end.Fenced || end.Status != 256+int(syscall.SIGKILL) {
		t.Errorf("end %+v, %v", end, err)
	}
	if late := l.Now() - sinceBootOf(t, spec); late < 0 || late > 20*time.Second {
		t.Errorf("ended %s after the deadline", late)
	}
	if u, err := l.Usage(h); err != nil || u[0].Processes != 0 {
		t.Errorf("left: %+v, %v", u, err)
	}
}

func sinceBootOf(t *testing.T, spec Spec) time.Duration {
	t.Helper()
	d, err := ReadDeadline(spec.Deadline)
	if err != nil {
		t.Fatal(err)
	}
	return d.At
}

func TestFence_MovedDeadlineLetsTheJobLive(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := fenced(t, l, dir, "sleep 4\nexit 7\n", 3*time.Second)
	h := start(t, l, dir, spec)
	if err := WriteDeadline(spec.Deadline, Deadline{BootID: l.BootID(), At: l.Now() + time.Hour}); err != nil {
		t.Fatal(err)
	}
	if end, err := l.Wait(within(t), dir, h); err != nil || end.Fenced || end.Status != 7 {
		t.Errorf("end %+v, %v", end, err)
	}
}

// A shim that slept through the deadline finds a later one, of the next lapse.
func TestFence_StoppedShimObeysTheLapse(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := fenced(t, l, dir, "exec sleep 4711\n", 3*time.Second)
	h := start(t, l, dir, spec)
	if err := unix.Kill(h.PID, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	at := sinceBootOf(t, spec)
	eventually(t, "the deadline passes", func() (bool, string) { return l.Now() > at, l.Now().String() })
	if err := WriteDeadline(spec.Deadline, Deadline{BootID: l.BootID(), Lapse: 1, At: l.Now() + time.Hour}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(h.PID, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if end, err := l.Wait(within(t), dir, h); err != nil || !end.Fenced {
		t.Errorf("end %+v, %v", end, err)
	}
}

func TestFence_NothingStartsBehindIt(t *testing.T) {
	l := newLinux(t)
	for name, d := range map[string]Deadline{
		"passed": {BootID: l.BootID(), At: 1}, "of a later lapse": {BootID: l.BootID(), Lapse: 1, At: l.Now() + time.Hour},
	} {
		dir := folder(t)
		spec := fenced(t, l, dir, "echo ran\n", time.Hour)
		if err := WriteDeadline(spec.Deadline, d); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Start(within(t), dir, spec); !errors.Is(err, ErrFenced) {
			t.Errorf("%s: start: %v", name, err)
		}
		if out := output(t, spec.Stdout); out != "" {
			t.Errorf("%s: it ran: %q", name, out)
		}
		h, _, err := l.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Wait(within(t), dir, h); !errors.Is(err, ErrFenced) {
			t.Errorf("%s: wait: %v", name, err)
		}
		if h, found, err := l.Forestall(dir); found || err != nil {
			t.Errorf("%s: a shim that did not run its program: %v, %v, %v", name, h, found, err)
		}
	}
}

func TestForestall_ShimOnItsWayStartsNothing(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	spec := shell(dir, "echo ran\n")
	if err := writeRecord(filepath.Join(dir, specFile), spec, false); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a repeat finds its own claim
		if h, found, err := l.Forestall(dir); found || err != nil {
			t.Fatalf("forestall: %+v, %v, %v", h, found, err)
		}
	}
	if _, err := l.launch(within(t), dir); err != nil { // the shim that an earlier mom spawned
		t.Fatal(err)
	}
	if _, err := os.Stat(spec.Stdout); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it ran: %v", err)
	}
	if _, found, err := l.Forestall(filepath.Join(dir, "none")); found || err != nil {
		t.Errorf("a folder that is not there: %v, %v", found, err)
	}
}

func TestForestall_FindsTheOneThatRuns(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	want := start(t, l, dir, shell(dir, "exec sleep 4711\n"))
	if h, found, err := l.Forestall(dir); !found || err != nil || h != want {
		t.Errorf("%+v, %v, %v", h, found, err)
	}
}

func TestEndStrays_OnlyThoseBelow(t *testing.T) {
	l, mine, other := newLinux(t), folder(t), folder(t)
	var all []Handle
	for _, dir := range []string{filepath.Join(mine, "1.srv@1"), filepath.Join(mine, "2.srv@1"), filepath.Join(other, "1.srv@1")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		all = append(all, start(t, l, dir, shell(dir, "setsid sleep 4711 &\nexec sleep 4712\n")))
	}
	eventually(t, "all run", func() (bool, string) {
		u, err := l.Usage(all...)
		return err == nil && u[0].Processes == 2 && u[1].Processes == 2 && u[2].Processes == 2, ""
	})
	if err := os.RemoveAll(filepath.Join(mine, "1.srv@1")); err != nil { // as a new disk has it
		t.Fatal(err)
	}
	if n, err := l.EndStrays(mine); n != 2 || err != nil {
		t.Errorf("%d ended, %v", n, err)
	}
	eventually(t, "the strays are gone, and nothing else", func() (bool, string) {
		return !l.alive(all[0]) && !l.alive(all[1]) && l.alive(all[2]), ""
	})
	eventually(t, "their jobs are, too", func() (bool, string) {
		u, err := l.Usage(all...)
		return err == nil && u[0].RSS+u[1].RSS == 0 && u[2].Processes == 2, fmt.Sprintf("%+v, %v", u, err)
	})
}

func TestShim_StrayDescriptorsAreClosed(t *testing.T) {
	l, dir := newLinux(t), folder(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, f := range []*os.File{r, w} { // as the mom's parent would leave them
		if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
			t.Fatal(err)
		}
	}
	end, err := l.Wait(within(t), dir, start(t, l, dir, shell(dir, "ls /proc/self/fd | tr '\\n' ' '\n")))
	if err != nil || end.Status != 0 {
		t.Fatalf("end %+v, %v", end, err)
	}
	if got := output(t, filepath.Join(dir, "OU")); got != "0 1 2 3 " { // 3 is the folder that ls reads
		t.Errorf("descriptors of the job: %s", got)
	}
}
