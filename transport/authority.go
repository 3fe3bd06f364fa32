package transport

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"rampart/fsm/pbs"
)

// RootStep is how far the replacement of the cluster's CA is. Both CAs are trusted during
// every step but the first.
type RootStep uint64

// The steps.
const (
	RootsSettled RootStep = iota // there is one CA
	RootsLearned                 // all learn to trust the new one, and replicas get its key
	RootsLeaves                  // leaves of moms and login hosts are signed by it
	RootsAll                     // those of replicas, too
	RootSteps                    // how many there are
)

// An Authority is what a replica signs with: its CA, and during a replacement of that the new
// one as well. Any goroutine may use it.
type Authority struct {
	mu    sync.RWMutex
	keys  map[string]*CA // by RootHash of the certificate
	roots [][]byte       // certificates (DER), the old one first
	step  RootStep
}

// NewAuthority returns an authority of one CA.
func NewAuthority(ca *CA) *Authority {
	return &Authority{keys: map[string]*CA{RootHash(ca.Certificate()): ca}, roots: [][]byte{ca.Certificate()}}
}

// RootHash returns the SHA-256 of a CA's certificate (DER), in hexadecimal.
func RootHash(der []byte) string { return fmt.Sprintf("%x", rootHash(der)) }

// Hold adds a CA whose key this replica has.
func (a *Authority) Hold(ca *CA) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys[RootHash(ca.Certificate())] = ca
}

// Turn notes which CAs there are, and how far the replacement is.
func (a *Authority) Turn(roots [][]byte, step RootStep) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.roots, a.step = slices.Clone(roots), step
}

// Key returns a CA of which this replica has the key, by its RootHash.
func (a *Authority) Key(hash string) (*CA, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	ca, ok := a.keys[hash]
	return ca, ok
}

// Signer returns the CA by which leaves of the role are signed now; not ok if its key has not
// come yet.
func (a *Authority) Signer(role Role) (*CA, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	root := a.roots[0]
	if len(a.roots) > 1 && (a.step == RootsAll || a.step == RootsLeaves && role != RoleReplica) {
		root = a.roots[1]
	}
	ca, ok := a.keys[RootHash(root)]
	return ca, ok
}

var errNoKey = errors.New("this replica does not have the key of the CA yet")

// Sign makes a leaf as CA.Sign does.
func (a *Authority) Sign(csr []byte, role Role, host pbs.HostName, now time.Time) ([]byte, error) {
	ca, ok := a.Signer(role)
	if !ok {
		return nil, errNoKey
	}
	return ca.Sign(csr, role, host, now)
}

// Renew is Sign for a process that trusts the CAs with the RootHashes: one that has not heard
// of the new one yet goes on under the old one.
func (a *Authority) Renew(csr []byte, role Role, host pbs.HostName, now time.Time, trusts []string) ([]byte, error) {
	ca, ok := a.Signer(role)
	if ok && !slices.Contains(trusts, RootHash(ca.Certificate())) {
		ca, ok = a.first()
	}
	if !ok {
		return nil, errNoKey
	}
	return ca.Sign(csr, role, host, now)
}

// first returns the CA that was there first.
func (a *Authority) first() (*CA, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	ca, ok := a.keys[RootHash(a.roots[0])]
	return ca, ok
}

// Hash returns the hash of the CA that signs the leaves of replicas: a token carries it, for
// whoever joins talks to one.
func (a *Authority) Hash() []byte {
	if ca, ok := a.Signer(RoleReplica); ok {
		return ca.Hash()
	}
	return nil
}

// MarshalKey returns the key of the CA that signs the leaves of replicas.
func (a *Authority) MarshalKey() ([]byte, error) {
	ca, ok := a.Signer(RoleReplica)
	if !ok {
		return nil, errNoKey
	}
	return ca.MarshalKey()
}

// Roots returns the certificates of all CAs that are trusted, one behind the other (DER).
func (a *Authority) Roots() []byte {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return bytes.Join(a.roots, nil)
}

// All returns the trusted CAs of which this replica has the key.
func (a *Authority) All() []*CA {
	a.mu.RLock()
	defer a.mu.RUnlock()
	var all []*CA
	for _, r := range a.roots {
		if ca, ok := a.keys[RootHash(r)]; ok {
			all = append(all, ca)
		}
	}
	return all
}

// Renew is Sign: there is no other CA that the asker could trust instead.
func (ca *CA) Renew(csr []byte, role Role, host pbs.HostName, now time.Time, _ []string) ([]byte, error) {
	return ca.Sign(csr, role, host, now)
}

// Roots returns the CA's certificate, as Authority.Roots does of several.
func (ca *CA) Roots() []byte { return ca.cert.Raw }

// trusted is the CAs whose leaves a process believes.
type trusted struct {
	roots []*x509.Certificate
	pool  *x509.CertPool
}

// trust reads CA certificates of one cluster, one behind the other (DER).
func trust(ders []byte) (*trusted, error) {
	certs, err := x509.ParseCertificates(ders)
	if err != nil {
		return nil, fmt.Errorf("read CA certificate: %w", err)
	}
	t, cluster := &trusted{pool: x509.NewCertPool()}, ""
	for _, c := range certs {
		root, of, err := parseRoot(c.Raw)
		if err != nil {
			return nil, err
		}
		if cluster != "" && of != cluster {
			return nil, errors.New("read CA certificate: they are of two clusters")
		}
		cluster = of
		t.roots = append(t.roots, root)
		t.pool.AddCert(root)
	}
	if len(t.roots) == 0 {
		return nil, errors.New("read CA certificate: there is none")
	}
	return t, nil
}

func (t *trusted) ders() []byte {
	var all []byte
	for _, r := range t.roots {
		all = append(all, r.Raw...)
	}
	return all
}

// signerOf returns the CA that signed a leaf.
func (t *trusted) signerOf(leaf *x509.Certificate) (*x509.Certificate, bool) {
	for _, r := range t.roots {
		if leaf.CheckSignatureFrom(r) == nil {
			return r, true
		}
	}
	return nil, false
}

// Trust replaces the CAs whose leaves this process believes (DER, one behind the other); one
// of them must have signed its own leaf. Connections of the others are cut.
func (id *Identity) Trust(ders []byte) error {
	t, err := trust(ders)
	if err != nil {
		return err
	}
	if _, ok := t.signerOf(id.Certificate()); !ok {
		return errors.New("trust other CAs: none of them signed the certificate of this process")
	}
	id.trust.Store(t)
	if err := id.Swap(id.Certificate().Raw); err != nil { // its chain may be another one
		return err
	}
	id.Recheck()
	return nil
}

// Roots returns the certificates of the CAs that this process trusts, one behind the other
// (DER).
func (id *Identity) Roots() []byte { return id.trust.Load().ders() }

// Trusts returns the RootHashes of the CAs that this process trusts.
func (id *Identity) Trusts() []string {
	var all []string
	for _, r := range id.trust.Load().roots {
		all = append(all, RootHash(r.Raw))
	}
	return all
}

// SignedBy returns the RootHash of the CA that signed the present leaf.
func (id *Identity) SignedBy() string { return SignedBy(id.Roots(), id.Certificate()) }

// SignedBy returns the RootHash of that of the CAs (DER, one behind the other) which signed
// the leaf, "" if none did.
func SignedBy(cas []byte, leaf *x509.Certificate) string {
	t, err := trust(cas)
	if err != nil {
		return ""
	}
	root, ok := t.signerOf(leaf)
	if !ok {
		return ""
	}
	return RootHash(root.Raw)
}
