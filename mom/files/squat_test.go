package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rampart/mom/proc"
)

// TestReceiver_TemporaryNameTaken: a file of another under the name that a copy has on its way is
// not in its way.
func TestReceiver_TemporaryNameTaken(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("/tmp", "files") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	taken := filepath.Join(dir, ".a.T.tmp")
	err = errors.Join(os.Chmod(dir, 0o777|os.ModeSticky), os.WriteFile(taken, nil, 0o666), os.Chown(taken, 54321, 54321))
	if err != nil {
		t.Fatal(err)
	}
	outlast(t, dir)
	r := NewReceiver(Target{Path: filepath.Join(dir, "a"), Tag: "T"})
	defer r.Close()
	err = proc.AsOwner(t.Context(), &proc.Owner{UID: 12345, GID: 23456}, func() error {
		if err := r.Entry(Entry{Path: "a", Kind: File, Mode: 0o600, Size: 4}); err != nil {
			return err
		}
		_, err := r.Write([]byte("text"))
		return errors.Join(err, r.Finish())
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := found(t, dir); got != ".a.T.tmp= a=text" {
		t.Errorf("there is %q", got)
	}
}
