package transport

import (
	"bytes"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAuthority_SignsByTheStep(t *testing.T) {
	old, fresh := testCA(t), testCA(t)
	a := NewAuthority(old)
	roots := [][]byte{old.Certificate(), fresh.Certificate()}
	a.Turn(roots, RootsLeaves)
	if _, err := a.Sign(nil, RoleMom, "hosta", time.Now()); !errors.Is(err, errNoKey) {
		t.Errorf("signed without the key: %v", err)
	}
	a.Hold(fresh)
	for _, c := range []struct {
		step         RootStep
		mom, replica *CA
	}{{RootsLearned, old, old}, {RootsLeaves, fresh, old}, {RootsAll, fresh, fresh}} {
		a.Turn(roots, c.step)
		mom, ok1 := a.Signer(RoleMom)
		replica, ok2 := a.Signer(RoleReplica)
		if !ok1 || !ok2 || mom != c.mom || replica != c.replica || !bytes.Equal(a.Hash(), c.replica.Hash()) {
			t.Errorf("step %d: another CA signs", c.step)
		}
	}
	key := newTestKey(t)
	csr, err := NewCSR(key)
	if err != nil {
		t.Fatal(err)
	}
	both := append(bytes.Clone(old.Certificate()), fresh.Certificate()...)
	for _, c := range []struct {
		trusts []string
		by     *CA
	}{{nil, old}, {[]string{RootHash(old.Certificate())}, old}, {[]string{RootHash(old.Certificate()), RootHash(fresh.Certificate())}, fresh}} {
		leaf, err := a.Renew(csr, RoleMom, "hosta", time.Now(), c.trusts)
		if err != nil {
			t.Fatal(err)
		}
		if cert, _ := x509.ParseCertificate(leaf); SignedBy(both, cert) != RootHash(c.by.Certificate()) {
			t.Errorf("a mom that trusts %v gets a leaf that it cannot use", c.trusts)
		}
	}
	a.Turn(roots[1:], RootsSettled)
	if ca, _ := a.Signer(RoleReplica); ca != fresh || !bytes.Equal(a.Roots(), fresh.Certificate()) || len(a.All()) != 1 {
		t.Error("the old CA is still there")
	}
}

func TestIdentity_TrustsTwoCAsAndThenOne(t *testing.T) {
	old, fresh := testCA(t), testCA(t)
	id := issue(t, old, RoleMom, "hosta")
	both := append(bytes.Clone(old.Certificate()), fresh.Certificate()...)
	if id.Trust(fresh.Certificate()) == nil {
		t.Error("it trusts none that signed its own leaf")
	}
	if err := id.Trust(both); err != nil {
		t.Fatal(err)
	}
	csr, _ := id.CSR()
	leaf, err := fresh.Sign(csr, RoleMom, "hosta", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := id.Swap(leaf); err != nil {
		t.Fatal(err)
	}
	if id.SignedBy() != RootHash(fresh.Certificate()) || !bytes.Equal(id.leaf.Load().tls.Certificate[1], fresh.Certificate()) {
		t.Error("the chain is not that of the new CA")
	}
	if err := id.Trust(fresh.Certificate()); err != nil {
		t.Fatal(err)
	}
	if _, err := id.peer([]*x509.Certificate{issue(t, old, RoleReplica, "s1").Certificate()}); err == nil {
		t.Error("a leaf of the old CA is believed")
	}
	other, err := NewCA("c2", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trust(append(bytes.Clone(both), other.Certificate()...)); err == nil {
		t.Error("CAs of two clusters were taken")
	}
}

// TestFiles_ReplaceCA: whatever a crash leaves of it is a CA with its key.
func TestFiles_ReplaceCA(t *testing.T) {
	old, fresh := testCA(t), testCA(t)
	f := Files{Dir: filepath.Join(t.TempDir(), "tls")}
	is := func(want *CA) {
		t.Helper()
		if ca, err := f.CA(); err != nil || !bytes.Equal(ca.Certificate(), want.Certificate()) {
			t.Errorf("the CA on disk: %v", err)
		}
	}
	if err := f.SaveCA(old); err != nil {
		t.Fatal(err)
	}
	if _, err := f.NextCA(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a next one: %v", err)
	}
	if err := f.SaveNextCA(fresh); err != nil {
		t.Fatal(err)
	}
	if next, err := f.NextCA(); err != nil || !bytes.Equal(next.Certificate(), fresh.Certificate()) {
		t.Errorf("the next CA: %v", err)
	}
	both := append(bytes.Clone(fresh.Certificate()), old.Certificate()...)
	if err := f.SaveRoots(both); err != nil { // a crash after this
		t.Fatal(err)
	}
	is(old)
	if err := f.saveKey(fileCAKey, fresh); err != nil { // or after this
		t.Fatal(err)
	}
	is(fresh)
	if err := errors.Join(f.SaveCA(old), f.ReplaceCA(fresh), f.RemoveNextCA()); err != nil {
		t.Fatal(err)
	}
	is(fresh)
	entries, _ := os.ReadDir(f.Dir)
	if len(entries) != 2 {
		t.Errorf("%d files are left", len(entries))
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
}
