package dev

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rampart/cmd/rampart/home"
)

// schedFiles names the files of a replica's sched_priv, and where their defaults are in PBS_EXEC/etc.
var schedFiles = map[string]string{
	"sched_config": "pbs_sched_config", "resource_group": "pbs_resource_group", "holidays": "pbs_holidays", "dedicated_time": "pbs_dedicated",
}

// defaults makes the files of an installation that tools look for: PBS_EXEC/etc, and what
// replicas have in sched_priv. What is there stays.
func (c *cluster) defaults(context.Context) error {
	var errs []error
	for file, standard := range schedFiles {
		text, err := fs.ReadFile(home.Standards, "etc/"+standard)
		if err != nil {
			return err
		}
		errs = append(errs, provide(filepath.Join(c.dir, "etc", standard), text))
		for _, name := range c.plan.Replicas {
			errs = append(errs, provide(filepath.Join(c.home(name), "sched_priv", file), text))
		}
	}
	return errors.Join(errs...)
}

// provide writes a file that is not there.
func provide(path string, text []byte) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
