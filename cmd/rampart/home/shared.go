package home

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WarnShared tells whoever uses a snapshot, or the folder of a backup, that others of the host can
// read a file of it: it holds what all users have submitted, and the hashes of secrets.
func WarnShared(w io.Writer, path string) {
	_ = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // whoever reads it says so
		}
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return nil
		case info.IsDir() && info.Mode().Perm()&0o011 == 0:
			return fs.SkipDir // nobody else gets in
		case info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0:
			fmt.Fprintf(w, "warning: others can read %s (mode %04o), which holds what users have submitted; make it 0600\n", file, info.Mode().Perm())
			return fs.SkipAll
		}
		return nil
	})
}
