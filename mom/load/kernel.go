package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"rampart/transport/pause"
)

const (
	// every is how often the kernel is asked.
	every = 5 * time.Second
	// soon is when it is asked a second time: rates are known by then.
	soon = time.Second
	// short and long are the times over which r15s, and ut, pg and io, are averaged.
	short = 15 * time.Second
	long  = time.Minute
)

// A Kernel is the source of the load indices that every host has.
type Kernel struct {
	root   string // of the file system; "/" but for tests
	proc   procfs.FS
	logger *slog.Logger

	last     counters
	at       time.Time // of last
	averages map[string]float64
}

// counters rise for as long as the host is up.
type counters struct {
	busy, all     float64 // seconds of all cpus
	moved, paging float64 // kilobytes from and to disks, pages from and to swap space
	running       float64 // processes now, this one not counted
	boot          time.Time
}

// NewKernel returns the source of a host's kernel.
func NewKernel(logger *slog.Logger) (*Kernel, error) { return newKernel("/", logger) }

func newKernel(root string, logger *slog.Logger) (*Kernel, error) {
	proc, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return nil, fmt.Errorf("load of the host: %w", err)
	}
	return &Kernel{root: root, proc: proc, logger: logger, averages: map[string]float64{}}, nil
}

// Run implements Source. What cannot be read has no value, and the log says so once until it can be read again.
func (k *Kernel) Run(ctx context.Context, tell func(Values)) {
	said := ""
	measured := make(chan Values, 1)
	for wait := soon; ; wait = every {
		go func() { // a file system that hangs holds up no end of the mom
			values, err := k.Measure(time.Now())
			switch {
			case err != nil && err.Error() != said:
				said = err.Error()
				k.logger.Error("load of the host not measured", "err", err)
			case err == nil:
				said = ""
			}
			measured <- values
		}()
		var values Values
		select {
		case <-ctx.Done():
			return
		case values = <-measured:
		}
		if wait == every {
			tell(values)
		}
		if !pause.For(ctx, wait) {
			return
		}
	}
}

// Measure returns what can be known at a time; the error names the first thing that cannot.
func (k *Kernel) Measure(now time.Time) (Values, error) {
	v := Values{}
	var first error
	failed := func(err error) bool {
		if err != nil && first == nil {
			first = err
		}
		return err != nil
	}
	c, err := k.counters()
	if !failed(err) {
		k.rates(v, c, now)
	}
	if avg, err := k.proc.LoadAvg(); !failed(err) {
		v["r1m"], v["r15m"] = avg.Load1, avg.Load15
	}
	if m, err := k.proc.Meminfo(); !failed(err) {
		megabytes := func(name string, bytes *uint64) {
			if bytes != nil {
				v[name] = float64(*bytes >> 20)
			}
		}
		megabytes("mem", m.MemAvailableBytes)
		megabytes("maxmem", m.MemTotalBytes)
		megabytes("swp", m.SwapFreeBytes)
		megabytes("maxswp", m.SwapTotalBytes)
	}
	var fs unix.Statfs_t
	if !failed(unix.Statfs(filepath.Join(k.root, "tmp"), &fs)) {
		v["tmp"] = float64(fs.Bavail * uint64(fs.Bsize) >> 20)
		v["maxtmp"] = float64(fs.Blocks * uint64(fs.Bsize) >> 20)
	}
	v["ls"] = float64(k.users())
	if idle, ok := k.idle(now, c.boot); ok {
		v["it"] = math.Floor(idle.Minutes())
	}
	v["ndisks"] = float64(k.disks())
	return v, first
}

// rates sets what is counted over time.
func (k *Kernel) rates(v Values, c counters, now time.Time) {
	passed := now.Sub(k.at)
	last, first := k.last, k.at.IsZero()
	k.last, k.at = c, now
	v["r15s"] = k.average("r15s", c.running, passed, short)
	if seconds := passed.Seconds(); !first && seconds > 0 {
		if all := c.all - last.all; all > 0 {
			k.average("ut", 100*min(max((c.busy-last.busy)/all, 0), 1), passed, long)
		}
		k.average("pg", max(c.paging-last.paging, 0)/seconds, passed, long)
		k.average("io", max(c.moved-last.moved, 0)/seconds, passed, long)
	}
	for _, name := range [...]string{"ut", "pg", "io"} {
		if a, known := k.averages[name]; known {
			v[name] = a
		}
	}
}

// average moves an average by what was seen of some time that has passed.
func (k *Kernel) average(name string, seen float64, passed, over time.Duration) float64 {
	was, known := k.averages[name]
	if !known {
		was = seen
	}
	keep := math.Exp(-max(passed.Seconds(), 0) / over.Seconds())
	now := was*keep + seen*(1-keep)
	k.averages[name] = now
	return now
}

func (k *Kernel) counters() (c counters, err error) {
	stat, err := k.proc.Stat()
	if err != nil {
		return c, err
	}
	t := stat.CPUTotal
	c.all = t.User + t.Nice + t.System + t.Idle + t.Iowait + t.IRQ + t.SoftIRQ + t.Steal
	c.busy = c.all - t.Idle - t.Iowait
	c.running = max(float64(stat.ProcessesRunning)-1, 0)
	c.boot = time.Unix(int64(stat.BootTime), 0)
	file, err := os.ReadFile(filepath.Join(k.root, "proc/vmstat"))
	if err != nil {
		return c, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(file)); lines.Scan(); {
		name, text, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			continue
		}
		switch name {
		case "pgpgin", "pgpgout":
			c.moved += n
		case "pswpin", "pswpout":
			c.paging += n
		}
	}
	return c, nil
}

// A record of utmp, as the C library of Linux writes it.
const (
	utmpRecord  = 384
	utmpPID     = 4
	utmpUser    = 44
	utmpUserLen = 32
	userProcess = 7
)

// users returns how many people are logged in.
func (k *Kernel) users() int {
	file, _ := os.ReadFile(filepath.Join(k.root, "run/utmp")) // a host without one has no sessions of people
	seen := map[string]bool{}
	for ; len(file) >= utmpRecord; file = file[utmpRecord:] {
		pid := strconv.FormatUint(uint64(binary.NativeEndian.Uint32(file[utmpPID:])), 10)
		if binary.NativeEndian.Uint16(file) != userProcess {
			continue
		}
		if _, err := os.Stat(filepath.Join(k.root, "proc", pid)); err != nil {
			continue // it was left behind
		}
		name, _, _ := bytes.Cut(file[utmpUser:utmpUser+utmpUserLen], []byte{0})
		seen[string(name)] = true
	}
	return len(seen)
}

// idle returns for how long nobody has typed at a terminal of the host: since it was booted if there is none.
func (k *Kernel) idle(now, boot time.Time) (time.Duration, bool) {
	last := boot
	var ttys []string
	for _, pattern := range [...]string{"dev/pts/[0-9]*", "dev/tty[0-9]*", "dev/console"} {
		found, _ := filepath.Glob(filepath.Join(k.root, pattern)) // fails for a bad pattern only
		ttys = append(ttys, found...)
	}
	for _, tty := range ttys {
		info, err := os.Stat(tty)
		if err != nil {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			if read := time.Unix(s.Atim.Unix()); read.After(last) {
				last = read
			}
		}
	}
	return max(now.Sub(last), 0), !last.IsZero()
}

// disks returns how many local disks there are.
func (k *Kernel) disks() int {
	found, _ := filepath.Glob(filepath.Join(k.root, "sys/block/*/device"))
	return len(found)
}
