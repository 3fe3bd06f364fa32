package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rampart/cluster"
	"rampart/cluster/blob"
	"rampart/cluster/ledger"
	"rampart/cmd/rampart/home"
	"rampart/fsm/command"
	"rampart/fsm/snapshot"
	"rampart/fsm/snapshot/attached"
	"rampart/fsm/state"
)

// A backup is a folder: the state, and the accounting that it counts.
const (
	backupState      = "state.snapshot"
	backupAccounting = "accounting"
)

// beginning is the part of a founding that tells of the snapshot which the cluster begins with.
type beginning struct {
	Epoch      uint64 `json:"epoch"`
	LastRecord uint64 `json:"last_record"`
}

const beginningFile = "founding.snapshot"

func (c Config) beginningPath() string { return filepath.Join(c.Home.ServerPriv(), beginningFile) }

// InitFrom makes a cluster as Init does, which begins with the state and the accounting of a
// backup: a snapshot file, or a folder with the accounting as well. It gets an identity and a
// CA of its own. With anyName it takes the name of the server in the snapshot.
func InitFrom(ctx context.Context, c Config, from string, anyName bool) error {
	file, accounting := from, ""
	if info, err := os.Stat(from); err == nil && info.IsDir() {
		file, accounting = filepath.Join(from, backupState), filepath.Join(from, backupAccounting)
	}
	v, err := readBackup(file)
	if err != nil {
		return fmt.Errorf("server init: --from: %w", err)
	}
	name := v.Cluster().Name
	switch {
	case anyName:
		c.Server = name
	case c.Server != name:
		return fmt.Errorf("server init: --name: the snapshot is of server %q, whose name is in all its job ids", name)
	}
	records, err := ledger.Verify(ctx, accounting)
	if accounting == "" || errors.Is(err, fs.ErrNotExist) {
		records, accounting, err = 0, "", nil
	}
	if err != nil {
		return fmt.Errorf("server init: --from: %w", err)
	}
	lay := func() error {
		err := layBeginning(c, file)
		if err == nil && accounting != "" {
			err = ledger.Copy(ctx, accounting, c.Home.Accounting(), records)
		}
		return err
	}
	return initWith(c, &beginning{Epoch: randomEpoch(), LastRecord: records}, lay)
}

// readBackup reads a snapshot whole and refuses one that this build cannot put back.
func readBackup(path string) (*state.View, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	store, _, err := snapshot.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v := store.View()
	if level := v.Cluster().FeatureLevel; level > command.FeatureLevel {
		return nil, fmt.Errorf("%s: %w: it is at feature level %d, this build knows %d", path, command.ErrTooOld, level, command.FeatureLevel)
	}
	return v, nil
}

// layBeginning copies the state of a snapshot file, and lays the large scripts behind it where
// the replica has its own.
func layBeginning(c Config, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size, scripts, err := attached.Split(f, info.Size())
	if err != nil {
		return err
	}
	store, err := blob.OpenStore(c.Home.Scripts())
	if err != nil {
		return err
	}
	for _, s := range scripts {
		if err := store.Write(s.Blob, io.NewSectionReader(f, s.Offset, s.Size)); err != nil {
			return err
		}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, size), data); err != nil {
		return err
	}
	return home.Replace(c.beginningPath(), data)
}

// beginning returns what a cluster that is not founded yet begins with, nil if with nothing.
func (c Config) beginning() (*cluster.Beginning, error) {
	var f founding
	err := home.ReadConfig(c.foundingPath(), &f)
	if errors.Is(err, fs.ErrNotExist) || err == nil && f.From == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &cluster.Beginning{
		Open:  func() (io.ReadCloser, error) { return os.Open(c.beginningPath()) },
		Epoch: f.From.Epoch, LastRecord: f.From.LastRecord,
	}, nil
}
