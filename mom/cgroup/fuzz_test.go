package cgroup

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A rule for devices is written as the one that was read; a list opens nothing but the device that
// it names, and only for what it names.
func FuzzParseDevice(f *testing.F) {
	for _, raw := range []string{
		`"c *:* rwm"`, `"b 8:0 r"`, `"a *:* m"`, `["nvidiactl", "rwm"]`, `["nvidia-uvm", "rw", "*"]`, `["gone", "r"]`, `"c 1 r"`, `"c -1:3 r"`, `"c 1:2:3 r"`, `"c * r"`,
		`null`, `[]`, `["x"]`, `["nvidiactl", "rx"]`, `["nvidiactl", "r", "2"]`, `"c 4294967296:1 r"`, `"c +1:01 r"`,
	} {
		f.Add([]byte(raw))
	}
	numbers := func(name string) (string, int64, int64, bool) {
		return "c", 195, 255, strings.HasPrefix(name, "nvidia")
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parseDevice(raw, numbers)
		if err != nil {
			if d != nil {
				t.Errorf("%s is refused and is %+v", raw, d)
			}
			return
		}
		var list []string
		isList := json.Unmarshal(raw, &list) == nil
		if d == nil {
			if !isList || strings.HasPrefix(list[0], "nvidia") {
				t.Errorf("%s is nothing", raw)
			}
			return
		}
		number := func(n *int64) string {
			if n == nil {
				return "*"
			}
			if *n < 0 {
				t.Errorf("%s is about device number %d", raw, *n)
			}
			return fmt.Sprint(*n)
		}
		if !d.Allow || d.Access == "" || strings.Trim(d.Access, "rwm") != "" {
			t.Errorf("%s is %+v", raw, d)
		}
		line := fmt.Sprintf("%s %s:%s %s", d.Type, number(d.Major), number(d.Minor), d.Access)
		again, err := parseRule(line)
		if err != nil || number(again.Major) != number(d.Major) || number(again.Minor) != number(d.Minor) || again.Type != d.Type || again.Access != d.Access {
			t.Errorf("%s is the rule %q, which is %+v, %v", raw, line, again, err)
		}
		if isList && (number(d.Major) != "195" || number(d.Minor) != "255" && (len(list) != 3 || list[2] != "*")) {
			t.Errorf("%s opens %q", raw, line)
		}
	})
}

// An amount of memory is at least 0, rounded up to whole kilobytes, and one that is refused
// changes nothing.
func FuzzSize(f *testing.F) {
	for _, text := range []string{`"256MB"`, `1024`, `"1b"`, `"0"`, `"-1gb"`, `"9007199254740993kb"`, `"9223372036854775807b"`, `"8191pb"`, `"9999pw"`, `null`, `""`, `1.5`, `1e3`, `{}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := size(77)
		if err := json.Unmarshal(text, &s); err != nil {
			if s != 77 {
				t.Errorf("%s is refused and is %d", text, s)
			}
			return
		}
		if s < 0 || s%1024 != 0 && s != 77 {
			t.Errorf("%s is %d bytes", text, s)
		}
		var again size
		if err := json.Unmarshal(fmt.Appendf(nil, "%d", s), &again); s != 77 && (err != nil || again != s) {
			t.Errorf("%s is %d bytes, and that is %d: %v", text, s, again, err)
		}
	})
}

// What the kernel tells of memory is a number of kilobytes, whatever stands around it.
func FuzzMemTotal(f *testing.F) {
	f.Add("MemTotal:       16384 kB\nMemFree: 1 kB\n", int64(5))
	f.Add("Node 0 MemTotal:  99 kB\n", int64(1<<62))
	f.Add("MemTotal:\nMemTotal: 3", int64(0))
	f.Add("MemTotal: -5 kB", int64(0))
	f.Fuzz(func(t *testing.T, text string, kb int64) {
		if n := memTotal(text); n < 0 {
			t.Errorf("%q has %d kB", text, n)
		}
		if kb < 0 || strings.Contains(text, "MemTotal:") {
			return
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		if n := memTotal(fmt.Sprintf("%sMemTotal: %d kB\n%s", text, kb, text)); n != kb {
			t.Errorf("%d kB among %q is %d", kb, text, n)
		}
	})
}
