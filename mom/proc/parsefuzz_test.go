package proc

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"
	"unicode"
)

// A deadline is read as it was written, byte for byte, or not at all: a torn one lets no job run
// on (L2).
func FuzzParseDeadline(f *testing.F) {
	d := Deadline{BootID: "5a1b2c3d-0000-4000-8000-000000000000", Lapse: 3, At: time.Hour, Fence: time.Minute}
	f.Add(d.line(), "boot", uint64(1), int64(2), int64(3))
	f.Add(Deadline{BootID: "b"}.line(), "", uint64(0), int64(-1), int64(0))
	f.Add(d.line()[:60], "a b", uint64(1<<63), int64(1<<62), int64(-1<<63))
	f.Add(append(d.line(), '\n'), "a\tb", uint64(0), int64(0), int64(0))
	signed := "deadline 1 b 1 2 3"
	f.Add(fmt.Appendf(nil, "%s %08x\n", signed, crc32.ChecksumIEEE([]byte(signed))), "b", uint64(1), int64(2), int64(3))
	f.Fuzz(func(t *testing.T, data []byte, boot string, lapse uint64, at, fence int64) {
		if got, err := parseDeadline(data); err != nil {
			if got != (Deadline{}) {
				t.Errorf("%q is refused and is %+v", data, got)
			}
		} else if !bytes.Equal(got.line(), data) {
			t.Errorf("%q is written as %q", data, got.line())
		}
		d := Deadline{BootID: boot, Lapse: lapse, At: time.Duration(at), Fence: time.Duration(fence)}
		line := d.line()
		if got, err := parseDeadline(line); err == nil && got != d && !strings.ContainsFunc(boot, unicode.IsSpace) { // no boot id has blanks
			t.Errorf("%+v is read as %+v", d, got)
		} else if err != nil && boot != "" && strings.Trim(boot, "0123456789abcdef-") == "" {
			t.Errorf("%+v is not read: %v", d, err)
		}
		torn := bytes.Clone(line)
		torn[lapse%uint64(len(line))] ^= 0x10
		if got, err := parseDeadline(torn); err == nil {
			t.Errorf("%q is read as %+v", torn, got)
		}
	})
}

// A process may call itself what it likes: that changes nothing of what its line says, and no
// line that was cut makes a process of other numbers.
func FuzzParseStat(f *testing.F) {
	f.Add("sh", 1, 7, uint32(5), uint32(6), int64(4096), 30)
	f.Add("a) Z 1 1 1 (b", 1, 1, uint32(0), uint32(0), int64(0), 0)
	f.Add("\n) ) (", -1, 0, uint32(1<<31), uint32(1<<31), int64(1<<62), 100)
	f.Fuzz(func(t *testing.T, name string, ppid, session int, user, system uint32, vsize int64, cut int) {
		tail := fmt.Sprintf(") S %d 1 %d 0 -1 4194304 1 2 3 4 %d %d 8 9 20 0 1 0 777 %d 12 18446744073709551615", ppid, session, user, system, vsize)
		want := process{
			pid: 9, ppid: ppid, session: session, cpu: time.Duration(int64(user)+int64(system)) * tick, reaped: 17 * tick,
			start: 777, vsize: vsize,
		}
		got, ok := parseStat(9, "9 ("+name+tail)
		want.rss = got.rss
		if !ok || got != want || got.rss <= 0 {
			t.Errorf("%q: %+v, %v; want %+v", name, got, ok, want)
		}
		if at := min(max(cut, 0), len(tail)); !strings.Contains(name, ")") {
			if got, ok := parseStat(9, "9 ("+name+tail[:at]); ok && (got.ppid != ppid || got.session != session || got.cpu != want.cpu) {
				t.Errorf("cut after %q it is %+v", tail[:at], got)
			}
		}
	})
}
