package transport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"sync/atomic"
	"time"

	"rampart/fsm/pbs"
)

// An Identity is the identity of this process: a leaf of the cluster's CA and its key.
// Swap changes the leaf while connections go on; new handshakes use the new one.
type Identity struct {
	key   *ecdsa.PrivateKey
	trust atomic.Pointer[trusted]
	leaf  atomic.Pointer[leaf]
	met   meetings

	// Check, if set before the identity is used, judges every peer that the CA
	// vouches for: an error cuts it off (revocation).
	Check func(role Role, host pbs.HostName, keyHash string) error
	// Member, if set before the identity is used, reports whether a replica's key is
	// in the membership: Raft accepts such a one though its leaf has expired, so
	// that a site which was dark for long can elect.
	Member func(keyHash string) bool
}

type leaf struct {
	tls  tls.Certificate
	cert *x509.Certificate
	peer Peer
}

// NewKey makes a key for an identity.
func NewKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// NewCSR makes a certificate request (DER) for a key. It names nobody: the
// signer decides who its owner is.
func NewCSR(key *ecdsa.PrivateKey) ([]byte, error) {
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		return nil, fmt.Errorf("make certificate request: %w", err)
	}
	return csr, nil
}

// NewIdentity puts together CA certificates, one behind the other, a leaf (both DER) and its
// key. The leaf may be expired: Renew is still open to it.
func NewIdentity(cas, leaf []byte, key *ecdsa.PrivateKey) (*Identity, error) {
	t, err := trust(cas)
	if err != nil {
		return nil, err
	}
	id := &Identity{key: key}
	id.trust.Store(t)
	if err := id.Swap(leaf); err != nil {
		return nil, err
	}
	return id, nil
}

// Issue makes an identity of the CA's own cluster with a new key: that of a
// first replica, and of tests.
func (ca *CA) Issue(role Role, host pbs.HostName, now time.Time) (*Identity, error) {
	key, err := NewKey()
	if err != nil {
		return nil, err
	}
	csr, err := NewCSR(key)
	if err != nil {
		return nil, err
	}
	der, err := ca.Sign(csr, role, host, now)
	if err != nil {
		return nil, err
	}
	return NewIdentity(ca.cert.Raw, der, key)
}

// Swap puts another leaf (DER) for the same key in the place of the present one.
func (id *Identity) Swap(der []byte) error {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	if pub, ok := cert.PublicKey.(*ecdsa.PublicKey); !ok || !pub.Equal(id.key.Public()) {
		return fmt.Errorf("read certificate: it is for another key")
	}
	trusts := id.trust.Load()
	peer, err := verifyLeaf(trusts.pool, cert)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	chain := [][]byte{cert.Raw} // a joiner finds the CA by its hash in the chain
	if root, ok := trusts.signerOf(cert); ok {
		chain = append(chain, root.Raw)
	}
	id.leaf.Store(&leaf{tls: tls.Certificate{Certificate: chain, PrivateKey: id.key, Leaf: cert}, cert: cert, peer: peer})
	return nil
}

// Cluster returns the id of the cluster.
func (id *Identity) Cluster() string { return id.leaf.Load().peer.Cluster }

// Role returns the role of this process.
func (id *Identity) Role() Role { return id.leaf.Load().peer.Role }

// Host returns the host or replica that this process is.
func (id *Identity) Host() pbs.HostName { return id.leaf.Load().peer.Host }

// KeyHash returns the name under which the state keeps this identity.
func (id *Identity) KeyHash() string { return id.leaf.Load().peer.Key }

// Certificate returns the present leaf.
func (id *Identity) Certificate() *x509.Certificate { return id.leaf.Load().cert }

// CSR returns a certificate request for the identity's key, for Renew.
func (id *Identity) CSR() ([]byte, error) { return NewCSR(id.key) }
