package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A Tree is where the host has its hierarchies mounted.
type Tree struct {
	Mounts  map[string]string // of v1, by controller
	Unified string            // mount point of v2, "" if there is none
	// Own is the mom's own cgroup of v2, from its mount point on.
	Own string
	// Parent is a folder below each mount point, or below what is delegated on v2, that all is
	// made in; "" is none. It keeps the moms of one machine apart.
	Parent string
}

// FindTree reads where this host has its hierarchies. root is "/".
func FindTree(root, parent string) (Tree, error) {
	t := Tree{Mounts: map[string]string{}, Parent: parent}
	mounts, err := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	if err != nil {
		return t, fmt.Errorf("find cgroups: %w", err)
	}
	known := []string{"cpuset", "memory", "cpuacct", "devices", "hugetlb", "freezer"}
	scan := bufio.NewScanner(strings.NewReader(string(mounts)))
	for scan.Scan() {
		// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
		before, after, ok := strings.Cut(scan.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		switch point := left[4]; right[0] {
		case "cgroup2":
			if t.Unified == "" {
				t.Unified = point
			}
		case "cgroup":
			for option := range strings.SplitSeq(right[2], ",") {
				at := filepath.Join(filepath.Dir(point), option) // a link where several are mounted as one
				if _, err := os.Stat(filepath.Join(root, at)); err != nil || !slices.Contains(known, option) {
					continue
				}
				if _, twice := t.Mounts[option]; !twice {
					t.Mounts[option] = at
				}
			}
		}
	}
	own, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return t, fmt.Errorf("find cgroups: %w", err)
	}
	for line := range strings.Lines(string(own)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			t.Own = path
		}
	}
	return t, scan.Err()
}

// Tops returns the folders below which cgroups are made, one for each hierarchy.
func (t Tree) Tops() []string {
	var all []string
	for _, point := range t.Mounts {
		all = append(all, point)
	}
	if t.Unified != "" {
		all = append(all, t.delegated())
	}
	slices.Sort(all)
	return all
}

// unified reports whether the controllers are controllers of v2.
func (t Tree) unified() bool { return t.Unified != "" && len(t.Mounts) == 0 }

// has reports whether a controller can be used for jobs.
func (t Tree) has(controller string) bool {
	if !t.unified() {
		_, mounted := t.Mounts[controller]
		return mounted
	}
	return slices.Contains(strings.Fields(read(filepath.Join(t.delegated(), "cgroup.controllers"))), controller)
}

// leaf is the cgroup that the mom itself is in, below what was delegated to it: where jobs are
// limited there must be no process between.
const leaf = "mom"

// delegated returns the folder of v2 that is the mom's to divide. On a hybrid host no
// controller is at stake, and the job's folder is for the end only.
func (t Tree) delegated() string {
	own := t.Own
	switch {
	case !t.unified():
		own = ""
	case filepath.Base(own) == leaf:
		own = filepath.Dir(own)
	}
	return filepath.Join(t.Unified, own)
}

// controllersOfV2 are what the mom wants for jobs.
var controllersOfV2 = []string{"cpuset", "cpu", "memory", "hugetlb"}

// delegate makes the controllers of v2 usable below what is the mom's, and returns which are.
// It steps aside for that, into a cgroup of its own.
func (t Tree) delegate() ([]string, error) {
	dir := t.delegated()
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return nil, fmt.Errorf("cgroups: %w", err)
	}
	have := strings.Fields(string(text))
	var use []string
	for _, c := range controllersOfV2 {
		if slices.Contains(have, c) {
			use = append(use, c)
		}
	}
	if len(use) == 0 {
		return nil, fmt.Errorf("cgroups: no controllers are delegated to %s", dir)
	}
	order := "+" + strings.Join(use, " +")
	file := filepath.Join(dir, "cgroup.subtree_control")
	err = os.WriteFile(file, []byte(order), 0o644)
	if errors.Is(err, unix.EBUSY) { // processes are in it: ourselves
		if err = t.vacate(dir); err == nil {
			err = os.WriteFile(file, []byte(order), 0o644)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cgroups: controllers not usable below %s: %w", dir, err)
	}
	return use, nil
}

func (t Tree) vacate(dir string) error {
	folder := filepath.Join(dir, leaf)
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o644)
}
