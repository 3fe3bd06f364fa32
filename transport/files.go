package transport

import (
	"bytes"
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
	// The CA that is about to take the place of the present one.
	fileNext    = "ca-next.pem"
	fileNextKey = "ca-next.key"
)

// Types of PEM blocks.
const (
	kindCertificate = "CERTIFICATE"
	kindKey         = "PRIVATE KEY"
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
	if err := f.SaveRoots(id.Roots()); err != nil {
		return err
	}
	if err := f.write(fileLeafKey, kindKey, key); err != nil {
		return err
	}
	return f.SaveLeaf(id.Certificate().Raw)
}

// SaveLeaf writes a renewed leaf (DER) in the place of the old one.
func (f Files) SaveLeaf(der []byte) error { return f.write(fileLeaf, kindCertificate, der) }

// SaveRoots writes the certificates of the CAs that are trusted (DER, one behind the other).
func (f Files) SaveRoots(ders []byte) error { return f.write(fileCA, kindCertificate, ders) }

// SaveCA writes the CA's certificate and key.
func (f Files) SaveCA(ca *CA) error {
	if err := f.saveKey(fileCAKey, ca); err != nil {
		return err
	}
	return f.SaveRoots(ca.cert.Raw)
}

func (f Files) saveKey(name string, ca *CA) error {
	key, err := ca.MarshalKey()
	if err != nil {
		return fmt.Errorf("save CA: %w", err)
	}
	return f.write(name, kindKey, key)
}

// SaveNextCA writes the CA that is about to take the place of the present one.
func (f Files) SaveNextCA(ca *CA) error {
	if err := f.saveKey(fileNextKey, ca); err != nil {
		return err
	}
	return f.write(fileNext, kindCertificate, ca.cert.Raw)
}

// NextCA reads what SaveNextCA wrote. The error wraps fs.ErrNotExist where there is none.
func (f Files) NextCA() (*CA, error) {
	cert, err := f.read(fileNext)
	if err != nil {
		return nil, err
	}
	key, err := f.read(fileNextKey)
	if err != nil {
		return nil, err
	}
	return ParseCA(cert, key)
}

// ReplaceCA makes another CA the present one. A crash leaves key and certificate of one of
// the two in their places, for both certificates are there while the key changes.
func (f Files) ReplaceCA(ca *CA) error {
	old, err := f.read(fileCA)
	if err != nil {
		return err
	}
	if err := f.SaveRoots(append(bytes.Clone(ca.cert.Raw), old...)); err != nil {
		return err
	}
	return f.SaveCA(ca)
}

// RemoveNextCA removes what SaveNextCA wrote.
func (f Files) RemoveNextCA() error {
	return errors.Join(removeIfThere(filepath.Join(f.Dir, fileNext)), removeIfThere(filepath.Join(f.Dir, fileNextKey)))
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
	var der []byte // of several certificates, one behind the other
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		der = append(der, block.Bytes...)
	}
	if der == nil {
		return nil, fmt.Errorf("read identity: %s is not PEM", path)
	}
	return der, nil
}

func (f Files) write(name, kind string, der []byte) error {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	if err := replaceFile(filepath.Join(f.Dir, name), pemText(kind, der)); err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	return nil
}

// pemText writes a key, or certificates one behind the other, as PEM.
func pemText(kind string, der []byte) []byte {
	certs, err := x509.ParseCertificates(der)
	if kind != kindCertificate || err != nil {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	var text []byte
	for _, c := range certs {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: c.Raw})...)
	}
	return text
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
