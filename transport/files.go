package transport

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the files below PBS_HOME's tls folder.
const (
	fileCA      = "ca.pem"
	fileCAKey   = "ca.key"
	fileLeaf    = "leaf.pem"
	fileLeafKey = "leaf.key"
)

// Files keeps a process's identity, and a replica's CA, in a folder of mode
// 0700, each file 0600 and replaced as a whole.
type Files struct{ Dir string }

// Identity reads the identity. The error wraps fs.ErrNotExist where there is none.
func (f Files) Identity() (*Identity, error) {
	ca, err := f.read(fileCA)
	if err != nil {
		return nil, err
	}
	leaf, err := f.read(fileLeaf)
	if err != nil {
		return nil, err
	}
	raw, err := f.read(fileLeafKey)
	if err != nil {
		return nil, err
	}
	key, err := parseKey(raw)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", fileLeafKey, err)
	}
	return NewIdentity(ca, leaf, key)
}

// CA reads the CA with its key; only replicas have one.
func (f Files) CA() (*CA, error) {
	cert, err := f.read(fileCA)
	if err != nil {
		return nil, err
	}
	key, err := f.read(fileCAKey)
	if err != nil {
		return nil, err
	}
	return ParseCA(cert, key)
}

// SaveIdentity writes the identity, the leaf last, so that a crash leaves either
// none or a whole one.
func (f Files) SaveIdentity(id *Identity) error {
	key, err := x509.MarshalPKCS8PrivateKey(id.key)
	if err != nil {
		return fmt.Errorf("save identity: %w", err)
	}
	if err := f.write(fileCA, "CERTIFICATE", id.root.Raw); err != nil {
		return err
	}
	if err := f.write(fileLeafKey, "PRIVATE KEY", key); err != nil {
		return err
	}
	return f.SaveLeaf(id.Certificate().Raw)
}

// SaveLeaf writes a renewed leaf (DER) in the place of the old one.
func (f Files) SaveLeaf(der []byte) error { return f.write(fileLeaf, "CERTIFICATE", der) }

// SaveCA writes the CA's certificate and key.
func (f Files) SaveCA(ca *CA) error {
	key, err := ca.MarshalKey()
	if err != nil {
		return fmt.Errorf("save CA: %w", err)
	}
	if err := f.write(fileCAKey, "PRIVATE KEY", key); err != nil {
		return err
	}
	return f.write(fileCA, "CERTIFICATE", ca.cert.Raw)
}

func (f Files) read(name string) ([]byte, error) {
	path := filepath.Join(f.Dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	if filepath.Ext(name) == ".key" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("read identity: %s may be read by others (mode %04o); make it 0600", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("read identity: %s is not PEM", path)
	}
	return block.Bytes, nil
}

func (f Files) write(name, kind string, der []byte) error {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := replaceFile(filepath.Join(f.Dir, name), text); err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	return nil
}

// replaceFile writes a file of mode 0600 so that a crash leaves the old or the
// new one, whole and on the disk.
func replaceFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(tmp.Name()))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
