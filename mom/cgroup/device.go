package cgroup

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// majorNVIDIA is the number of the GPUs' device files.
const majorNVIDIA = 195

// deviceNumbers returns type and numbers of a device file of the host, by its name below /dev.
type deviceNumbers func(name string) (kind string, major, minor int64, ok bool)

func noNumbers(string) (string, int64, int64, bool) { return "", 0, 0, false }

// parseDevice reads an entry of devices.allow: "c *:* rwm", or ["NAME", "rwm"] and ["NAME",
// "rwm", "*"] for a file of /dev, with "*" all minor numbers. A file that is not there is nil.
func parseDevice(raw json.RawMessage, numbers deviceNumbers) (*specs.LinuxDeviceCgroup, error) {
	var line string
	if json.Unmarshal(raw, &line) == nil {
		return parseRule(line)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil || len(list) < 2 || len(list) > 3 {
		return nil, fmt.Errorf("%s is neither \"TYPE MAJOR:MINOR ACCESS\" nor [\"NAME\", \"ACCESS\"]", raw)
	}
	if err := checkAccess(list[1]); err != nil {
		return nil, err
	}
	kind, major, minor, ok := numbers(list[0])
	if !ok {
		return nil, nil
	}
	d := &specs.LinuxDeviceCgroup{Allow: true, Type: kind, Major: &major, Minor: &minor, Access: list[1]}
	if len(list) == 3 && list[2] == "*" {
		d.Minor = nil
	}
	return d, nil
}

func parseRule(line string) (*specs.LinuxDeviceCgroup, error) {
	f := strings.Fields(line)
	if len(f) != 3 || f[0] != "a" && f[0] != "b" && f[0] != "c" {
		return nil, fmt.Errorf("%q is no \"TYPE MAJOR:MINOR ACCESS\"", line)
	}
	if err := checkAccess(f[2]); err != nil {
		return nil, err
	}
	d := &specs.LinuxDeviceCgroup{Allow: true, Type: f[0], Access: f[2]}
	major, minor, ok := strings.Cut(f[1], ":")
	for _, part := range []struct {
		text string
		into **int64
	}{{major, &d.Major}, {minor, &d.Minor}} {
		if part.text == "*" {
			continue
		}
		n, err := strconv.ParseInt(part.text, 10, 32)
		if err != nil || n < 0 || !ok {
			return nil, fmt.Errorf("%q is no pair of numbers", f[1])
		}
		*part.into = &n
	}
	return d, nil
}

func checkAccess(text string) error {
	if text == "" || strings.Trim(text, "rwm") != "" {
		return fmt.Errorf("%q is no access: some of r, w and m", text)
	}
	return nil
}

// numbersIn reads device files in a folder.
func numbersIn(dir string) deviceNumbers {
	return func(name string) (string, int64, int64, bool) {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode()&os.ModeDevice == 0 {
			return "", 0, 0, false
		}
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, name), &st); err != nil {
			return "", 0, 0, false
		}
		kind := "b"
		if info.Mode()&os.ModeCharDevice != 0 {
			kind = "c"
		}
		return kind, int64(unix.Major(st.Rdev)), int64(unix.Minor(st.Rdev)), true
	}
}

// devices returns the rules of a job that has these GPUs: what the configuration allows and its
// own GPUs; without such a list everything but the GPUs of others.
func (h Host) devices(c *devicesConfig, own []string, numbers deviceNumbers) []specs.LinuxDeviceCgroup {
	gpu := func(g GPU, allow bool) specs.LinuxDeviceCgroup {
		major, minor := int64(majorNVIDIA), int64(g.Minor)
		return specs.LinuxDeviceCgroup{Allow: allow, Type: "c", Major: &major, Minor: &minor, Access: "rwm"}
	}
	has := func(g GPU) bool {
		for _, id := range own {
			if id == g.ID {
				return true
			}
		}
		return false
	}
	if len(c.Allow) == 0 {
		rules := []specs.LinuxDeviceCgroup{{Allow: true, Type: "a", Access: "rwm"}}
		for _, g := range h.GPUs {
			if !has(g) {
				rules = append(rules, gpu(g, false))
			}
		}
		return rules
	}
	rules := []specs.LinuxDeviceCgroup{{Allow: false, Type: "a", Access: "rwm"}}
	for _, raw := range c.Allow {
		if d, err := parseDevice(raw, numbers); err == nil && d != nil {
			rules = append(rules, *d)
		}
	}
	for _, g := range h.GPUs {
		if has(g) {
			rules = append(rules, gpu(g, true))
		}
	}
	return rules
}
