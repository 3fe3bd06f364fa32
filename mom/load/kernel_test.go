package load

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A host is a file system with what the kernel of a host says.
type host struct {
	t    *testing.T
	root string
}

func newHost(t *testing.T) host {
	h := host{t, t.TempDir()}
	h.write("proc/stat", stat(1000, 9000, 3))
	h.write("proc/loadavg", "0.75 1.50 2.25 2/300 4711\n")
	h.write("proc/meminfo", "MemTotal: 8388608 kB\nMemFree: 100 kB\nMemAvailable: 3145728 kB\nSwapTotal: 2097152 kB\nSwapFree: 1048576 kB\n")
	h.write("proc/vmstat", "pgpgin 1000\npgpgout 500\npswpin 10\npswpout 20\nnr_free_pages many\n")
	h.write("tmp/x", "")
	return h
}

func (h host) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// stat is /proc/stat of a host that has been busy and idle for hundredths of a second.
func stat(busy, idle, running int) string {
	return strings.NewReplacer("B", strconv.Itoa(busy), "I", strconv.Itoa(idle), "R", strconv.Itoa(running)).Replace("cpu  B 0 0 I 0 0 0 0 0 0\nbtime 1000000\nprocs_running R\nprocs_blocked 0\n")
}

func (h host) kernel() *Kernel {
	h.t.Helper()
	k, err := newKernel(h.root, slog.New(slog.DiscardHandler))
	if err != nil {
		h.t.Fatal(err)
	}
	return k
}

func TestKernel(t *testing.T) {
	h := newHost(t)
	k, at := h.kernel(), time.Unix(1_000_600, 0)
	v, err := k.Measure(at)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"r15s": 2, "r1m": 0.75, "r15m": 2.25, "mem": 3072, "maxmem": 8192, "swp": 1024, "maxswp": 2048, "ls": 0, "it": 10, "ndisks": 0} {
		if v[name] != want {
			t.Errorf("%s = %v, want %v", name, v[name], want)
		}
	}
	if _, known := v["ut"]; known {
		t.Error("a rate is known at once")
	}
	if v["tmp"] <= 0 || v["maxtmp"] < v["tmp"] {
		t.Errorf("tmp %v of %v", v["tmp"], v["maxtmp"])
	}

	// Ten seconds later: half of the time was busy, nothing runs, a hundred megabytes were read.
	h.write("proc/stat", stat(1500, 9500, 1))
	h.write("proc/vmstat", "pgpgin 103400\npgpgout 500\npswpin 60\npswpout 20\n")
	if v, err = k.Measure(at.Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"ut": 50, "io": 10240, "pg": 5, "r15s": 2 * math.Exp(-10.0/15)} {
		if math.Abs(v[name]-want) > 1e-6 {
			t.Errorf("%s = %v, want %v", name, v[name], want)
		}
	}
	// Then it rests: the averages of a minute fall by a sixth or so.
	h.write("proc/stat", stat(1500, 10500, 1))
	if v, _ = k.Measure(at.Add(20 * time.Second)); math.Abs(v["ut"]-50*math.Exp(-10.0/60)) > 1e-6 || v["pg"] >= 5 {
		t.Errorf("ut %v, pg %v", v["ut"], v["pg"])
	}
}

// TestKernel_Users: each person counts once, those who have gone do not.
func TestKernel_Users(t *testing.T) {
	h := newHost(t)
	var file []byte
	for _, login := range []struct {
		kind uint16
		pid  uint32
		user string
	}{{userProcess, 7, "ann"}, {userProcess, 8, "ann"}, {userProcess, 7, "bob"}, {userProcess, 99, "gone"}, {2, 7, "reboot"}} {
		r := make([]byte, utmpRecord)
		binary.NativeEndian.PutUint16(r, login.kind)
		binary.NativeEndian.PutUint32(r[utmpPID:], login.pid)
		copy(r[utmpUser:], login.user)
		file = append(file, r...)
	}
	h.write("run/utmp", string(file)+"half of one")
	h.write("proc/7/x", "")
	h.write("proc/8/x", "")
	if n := h.kernel().users(); n != 2 {
		t.Errorf("%d users", n)
	}
}

func TestKernel_Idle(t *testing.T) {
	h := newHost(t)
	at := time.Unix(2_000_000, 0)
	for name, ago := range map[string]time.Duration{"dev/pts/0": 5 * time.Minute, "dev/pts/1": 150 * time.Second, "dev/pts/ptmx": 0} {
		h.write(name, "")
		if err := os.Chtimes(filepath.Join(h.root, name), at.Add(-ago), at); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := h.kernel().Measure(at); err != nil || v["it"] != 2 {
		t.Errorf("it = %v, %v", v["it"], err)
	}
}

// TestKernel_Unreadable: what cannot be read is named and has no value, and the rest does.
func TestKernel_Unreadable(t *testing.T) {
	for file, lost := range map[string]string{"proc/stat": "r15s", "proc/loadavg": "r1m", "proc/meminfo": "mem"} {
		h := newHost(t)
		h.write(file, "x y z\n")
		if file == "proc/stat" {
			h.write(file, "cpu x\n")
		}
		v, err := h.kernel().Measure(time.Unix(2_000_000, 0))
		if _, known := v[lost]; known || err == nil && file != "proc/meminfo" {
			t.Errorf("%s: %s = %v, %v", file, lost, v[lost], err)
		}
		if len(v) < 4 {
			t.Errorf("%s: %v", file, v)
		}
	}
}

// TestKernel_ThisHost measures the host of the test.
func TestKernel_ThisHost(t *testing.T) {
	k, err := NewKernel(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	if _, err := k.Measure(at); err != nil {
		t.Fatal(err)
	}
	v, err := k.Measure(at.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"r15s", "r1m", "r15m", "pg", "io", "ls", "it", "tmp", "swp", "mem"} {
		if value, known := v[name]; !known || value < 0 || math.IsNaN(value) {
			t.Errorf("%s = %v, %v", name, value, known)
		}
	}
}

func TestMoved(t *testing.T) {
	for _, c := range []struct {
		name     string
		was, now float64
		want     bool
	}{
		{"r1m", 1, 1.05, false},
		{"r1m", 1, 1.1, true},
		{"ut", 50, 51, false},
		{"ut", 50, 47, true},
		{"mem", 100000, 100900, false},
		{"mem", 100000, 99000, true},
		{"mem", 50, 50.5, true},
		{"mem", 0, 0, false},
		{"bandwidth", 0, 0.1, true},
		{"bandwidth", 10, 10.05, false},
	} {
		if got := Moved(Values{c.name: c.was}, Values{c.name: c.now}); got != c.want {
			t.Errorf("%s from %v to %v: %v", c.name, c.was, c.now, got)
		}
	}
	if !Moved(Values{"a": 1}, Values{"b": 1}) || !Moved(nil, Values{"a": 1}) || !Moved(Values{"a": 1}, Values{}) {
		t.Error("an index that comes or goes has not moved")
	}
}

// TestKernel_Hangs: what the kernel does not answer for does not keep the mom from its end.
func TestKernel_Hangs(t *testing.T) {
	h := newHost(t)
	k, vmstat := h.kernel(), filepath.Join(h.root, "proc/vmstat")
	if err := errors.Join(os.Remove(vmstat), unix.Mkfifo(vmstat, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.Run(ctx, func(Values) { t.Error("it told of a host that does not answer") })
	}()
	w, err := os.OpenFile(vmstat, os.O_WRONLY, 0) // it waits for a reader: Run is at it
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("it has not ended")
	}
}
