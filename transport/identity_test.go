package transport

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
)

var userJoe = pbs.User{Name: "joe", Host: "hosta"}

func testCA(t testing.TB) *CA {
	t.Helper()
	ca, err := NewCA("c1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func issue(t testing.TB, ca *CA, role Role, host pbs.HostName) *Identity {
	t.Helper()
	id, err := ca.Issue(role, host, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestSign_NamesTheOwnerAndTheTime(t *testing.T) {
	now := time.Now()
	id := issue(t, testCA(t), RoleMom, "hosta")
	c := id.Certificate()
	if len(c.URIs) != 1 || c.URIs[0].String() != "rampart://c1/mom/hosta" {
		t.Errorf("SAN %v", c.URIs)
	}
	if d := c.NotAfter.Sub(now); d < 7*24*time.Hour-time.Minute || d > 7*24*time.Hour+time.Minute {
		t.Errorf("it lives %v", d)
	}
	if d := now.Sub(c.NotBefore); d < 9*time.Minute || d > 11*time.Minute {
		t.Errorf("backdated by %v", d)
	}
	if c.IsCA || len(c.DNSNames) != 0 {
		t.Error("a leaf is more than it should be")
	}
	if id.Role() != RoleMom || id.Host() != "hosta" || id.Cluster() != "c1" || id.KeyHash() == "" {
		t.Errorf("identity: %s %s %s", id.Role(), id.Host(), id.Cluster())
	}
}

func TestSign_Refuses(t *testing.T) {
	ca, key := testCA(t), newTestKey(t)
	csr, err := NewCSR(key)
	if err != nil {
		t.Fatal(err)
	}
	tampered := append([]byte(nil), csr...)
	tampered[len(tampered)-1] ^= 1
	for name, test := range map[string]struct {
		csr  []byte
		role Role
		host pbs.HostName
	}{
		"no role":     {csr, "root", "hosta"},
		"no host":     {csr, RoleMom, ""},
		"slash":       {csr, RoleMom, "hosta/replica"},
		"not ASCII":   {csr, RoleMom, "hostä"},
		"long":        {csr, RoleMom, pbs.HostName(strings.Repeat("h", 254))},
		"no request":  {[]byte("x"), RoleMom, "hosta"},
		"tampered":    {tampered, RoleMom, "hosta"},
		"not request": {ca.Certificate(), RoleMom, "hosta"},
	} {
		if _, err := ca.Sign(test.csr, test.role, test.host, time.Now()); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
	hash, err := CSRKeyHash(csr)
	der, err2 := ca.Sign(csr, RoleMom, "hosta", time.Now())
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if c, _ := x509.ParseCertificate(der); KeyHash(c) != hash {
		t.Error("the request's key hash is not the certificate's")
	}
}

func newTestKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestSwap_WantsTheSameKeyAndCA(t *testing.T) {
	ca := testCA(t)
	id := issue(t, ca, RoleMom, "hosta")
	if id.Swap(issue(t, ca, RoleMom, "hosta").Certificate().Raw) == nil {
		t.Error("a leaf for another key")
	}
	csr, _ := id.CSR()
	foreign, _ := testCA(t).Sign(csr, RoleMom, "hosta", time.Now())
	if id.Swap(foreign) == nil {
		t.Error("a leaf of another CA")
	}
	if id.Swap([]byte("x")) == nil {
		t.Error("no leaf at all")
	}
	renewed, _ := ca.Sign(csr, RoleMom, "hosta", time.Now().Add(time.Minute))
	if err := id.Swap(renewed); err != nil || !bytes.Equal(id.Certificate().Raw, renewed) {
		t.Errorf("a renewed leaf: %v", err)
	}
}

func TestFiles(t *testing.T) {
	f := Files{Dir: filepath.Join(t.TempDir(), "server_priv", "tls")}
	if _, err := f.Identity(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before anything: %v", err)
	}
	ca := testCA(t)
	id := issue(t, ca, RoleReplica, "s1")
	if err := errors.Join(f.SaveCA(ca), f.SaveIdentity(id)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fileCA, fileCAKey, fileLeaf, fileLeafKey} {
		if info, err := os.Stat(filepath.Join(f.Dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if info, _ := os.Stat(f.Dir); info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v", info.Mode())
	}
	if entries, _ := os.ReadDir(f.Dir); len(entries) != 4 {
		t.Errorf("%d files are left in the folder", len(entries))
	}
	again, err := f.Identity()
	if err != nil || again.KeyHash() != id.KeyHash() || again.Role() != RoleReplica {
		t.Errorf("read again: %v", err)
	}
	if back, err := f.CA(); err != nil || !bytes.Equal(back.Hash(), ca.Hash()) || back.Cluster() != "c1" {
		t.Errorf("CA read again: %v", err)
	}
	if err := os.Chmod(filepath.Join(f.Dir, fileLeafKey), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Identity(); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a key that others may read: %v", err)
	}
	if err := os.WriteFile(filepath.Join(f.Dir, fileLeafKey), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Identity(); err == nil {
		t.Error("a torn key was read")
	}
}

func TestParseCA_WantsAPair(t *testing.T) {
	a, b := testCA(t), testCA(t)
	key, err := b.MarshalKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseCA(a.Certificate(), key); err == nil {
		t.Error("key and certificate of two CAs")
	}
	if _, err := ParseCA(issue(t, a, RoleMom, "hosta").Certificate().Raw, key); err == nil {
		t.Error("a leaf passed for a CA")
	}
	if _, err := NewCA("not/valid", time.Now()); err == nil {
		t.Error("a cluster with a slash in its id")
	}
}

// A replica's leaf signs nothing, however much it is of the cluster.
func TestVerify_ALeafIsNoCA(t *testing.T) {
	ca := testCA(t)
	s1 := issue(t, ca, RoleReplica, "s1")
	rogue := &CA{cluster: "c1", cert: s1.Certificate(), key: s1.key}
	csr, _ := NewCSR(newTestKey(t))
	der, err := rogue.Sign(csr, RoleReplica, "evil", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := x509.ParseCertificate(der)
	if _, err := s1.peer([]*x509.Certificate{leaf, s1.Certificate()}); err == nil {
		t.Error("a leaf signed by a leaf was taken")
	}
}

// A program that knows no URIs, like curl, believes a replica's leaf for its host's name,
// and no other process's for any; our own still go by the URI alone.
func TestSign_NamesReplicasForStrangers(t *testing.T) {
	ca := testCA(t)
	pool := x509.NewCertPool()
	root, err := x509.ParseCertificate(ca.Certificate())
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(root)
	believed := func(role Role, host pbs.HostName, name string) bool {
		_, err := issue(t, ca, role, host).Certificate().Verify(x509.VerifyOptions{Roots: pool, DNSName: name})
		return err == nil
	}
	for _, c := range []struct {
		role Role
		host pbs.HostName
		name string
		want bool
	}{
		{RoleReplica, "s1", "s1", true},
		{RoleReplica, "s1.site.org", "s1.site.org", true},
		{RoleReplica, "10.0.0.1", "10.0.0.1", true},
		{RoleReplica, "s1", "s2", false},
		{RoleMom, "s1", "s1", false},
		{RoleSubmit, "s1", "s1", false},
	} {
		if got := believed(c.role, c.host, c.name); got != c.want {
			t.Errorf("%s of %s as %s: %v, want %v", c.role, c.host, c.name, got, c.want)
		}
	}
	p, err := peerOf(issue(t, ca, RoleReplica, "s1").Certificate())
	if err != nil || p.Host != "s1" || p.Role != RoleReplica {
		t.Errorf("peer %+v, %v", p, err)
	}
}
