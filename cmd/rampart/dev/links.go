package dev

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Link makes links in dir to the programs beside binary: rampart, pbs, and every
// user command, which is pbs under another name.
func Link(dir, binary string, commands []string) error {
	home := filepath.Dir(binary)
	pbs := filepath.Join(home, "pbs")
	if _, err := os.Stat(pbs); err != nil {
		return fmt.Errorf("find the user commands beside %s: %w", binary, err)
	}
	same := dir == home
	for _, name := range append([]string{"rampart", "pbs"}, commands...) {
		target := pbs
		switch {
		case name == "rampart":
			target = binary
		case same:
			target = "pbs"
		}
		if same && (name == "rampart" || name == "pbs") {
			continue
		}
		if err := replace(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// LinkPrograms makes links of these names in dir to one program.
func LinkPrograms(dir, program string, names []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		if err := replace(program, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func replace(target, link string) error {
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(target, link)
}
