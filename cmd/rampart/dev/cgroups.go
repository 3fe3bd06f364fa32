package dev

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"time"

	"rampart/mom/cgroup"
	"rampart/mom/proc"
)

// cgroups returns where the moms of the cluster make the cgroups of their jobs, apart from those of
// others on the machine.
func (l layout) cgroups() string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(l.dir))
	return fmt.Sprintf("/rampart-dev-%08x", h.Sum32())
}

// removeCgroups ends what jobs of moms that were killed have left, and removes the folders that
// the moms have made in the hierarchies.
func (l layout) removeCgroups() error {
	tree, err := cgroup.FindTree("/", "")
	if err != nil {
		return err
	}
	var folders []string
	for _, point := range tree.Tops() {
		folders = append(folders, filepath.Join(point, l.cgroups()))
	}
	for range 100 {
		if left, err := proc.KillCgroup(folders); left == 0 || err != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return proc.RemoveCgroup(folders)
}
