package transport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"time"

	"rampart/fsm/pbs"
)

// LeafLife is how long a certificate is good, from the moment when it was signed.
const LeafLife = 7 * 24 * time.Hour

const (
	caLife = 20 * 365 * 24 * time.Hour
	// backdate lets a host whose clock is behind use its certificate at once.
	backdate = 10 * time.Minute
)

// A CA is the root of a cluster's identities. Its key is on every replica's
// disk and nowhere else: not in log, state or snapshot.
type CA struct {
	cluster string
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
}

// NewCA makes the CA of a new cluster.
func NewCA(cluster string, now time.Time) (*CA, error) {
	if !validName(cluster) {
		return nil, fmt.Errorf("make CA: %q cannot be the id of a cluster", cluster)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make CA: %w", err)
	}
	tmpl := &x509.Certificate{
		SerialNumber:          newSerial(),
		Subject:               pkix.Name{CommonName: "rampart " + cluster},
		URIs:                  []*url.URL{{Scheme: scheme, Host: cluster}},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(caLife),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make CA: %w", err)
	}
	return newCA(der, key)
}

// ParseCA reads a CA from its key (PKCS#8 DER) and its certificate (DER), as they
// travel in a JoinReply to a replica. Certificates of other CAs may stand beside that one.
func ParseCA(certs, pkcs8 []byte) (*CA, error) {
	key, err := parseKey(pkcs8)
	if err != nil {
		return nil, fmt.Errorf("read CA key: %w", err)
	}
	all, err := x509.ParseCertificates(certs)
	if err != nil {
		return nil, fmt.Errorf("read CA certificate: %w", err)
	}
	for _, c := range all {
		if pub, ok := c.PublicKey.(*ecdsa.PublicKey); ok && pub.Equal(key.Public()) {
			return newCA(c.Raw, key)
		}
	}
	return nil, errors.New("read CA: key and certificate are not a pair")
}

func newCA(der []byte, key *ecdsa.PrivateKey) (*CA, error) {
	cert, cluster, err := parseRoot(der)
	if err != nil {
		return nil, err
	}
	if pub, ok := cert.PublicKey.(*ecdsa.PublicKey); !ok || !pub.Equal(key.Public()) {
		return nil, errors.New("read CA: key and certificate are not a pair")
	}
	return &CA{cluster: cluster, cert: cert, key: key}, nil
}

// parseRoot reads a CA certificate and the cluster id in it.
func parseRoot(der []byte) (*x509.Certificate, string, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, "", fmt.Errorf("read CA certificate: %w", err)
	}
	if !cert.IsCA || len(cert.URIs) != 1 || cert.URIs[0].Scheme != scheme || !validName(cert.URIs[0].Host) {
		return nil, "", errors.New("read CA certificate: it is not that of a cluster")
	}
	return cert, cert.URIs[0].Host, nil
}

func parseKey(pkcs8 []byte) (*ecdsa.PrivateKey, error) {
	any, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return nil, err
	}
	key, ok := any.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is not an ECDSA key")
	}
	return key, nil
}

func newSerial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b)
}

// Cluster returns the cluster's id, which is in every SAN.
func (ca *CA) Cluster() string { return ca.cluster }

// Certificate returns the CA's certificate (DER).
func (ca *CA) Certificate() []byte { return ca.cert.Raw }

// Hash returns the hash of the certificate that tokens carry.
func (ca *CA) Hash() []byte { return rootHash(ca.cert.Raw) }

// Key returns the private key. It goes to disks and to joining replicas only.
func (ca *CA) Key() *ecdsa.PrivateKey { return ca.key }

// MarshalKey returns the private key (PKCS#8 DER), for a JoinReply to a replica.
func (ca *CA) MarshalKey() ([]byte, error) { return x509.MarshalPKCS8PrivateKey(ca.key) }

func rootHash(der []byte) []byte {
	sum := sha256.Sum256(der)
	return sum[:]
}

// Sign makes a leaf (DER) for the key of a certificate request (DER). Names in
// the request are ignored: who the caller is, the caller of Sign has checked.
func (ca *CA) Sign(csr []byte, role Role, host pbs.HostName, now time.Time) ([]byte, error) {
	if !role.Valid() || !validName(string(host)) {
		return nil, fmt.Errorf("sign certificate: %q of role %q cannot be an identity", host, role)
	}
	req, err := x509.ParseCertificateRequest(csr)
	if err != nil {
		return nil, fmt.Errorf("sign certificate: %w", err)
	}
	if err := req.CheckSignature(); err != nil {
		return nil, fmt.Errorf("sign certificate: request: %w", err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: newSerial(),
		Subject:      pkix.Name{CommonName: string(role) + " " + string(host)},
		URIs:         []*url.URL{Peer{Cluster: ca.cluster, Role: role, Host: host}.uri()},
		NotBefore:    now.Add(-backdate),
		NotAfter:     now.Add(LeafLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if role == RoleReplica {
		named(tmpl, string(host))
	}
	leaf, err := x509.CreateCertificate(rand.Reader, tmpl, ca.cert, req.PublicKey, ca.key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate: %w", err)
	}
	return leaf, nil
}

// named adds the host's name for programs that know nothing of our URIs, curl above all.
// Our own processes look at the URI alone. People ask replicas only: a mom's leaf proves
// no name to them.
func named(tmpl *x509.Certificate, host string) {
	if ip := net.ParseIP(host); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
		return
	}
	tmpl.DNSNames = []string{host}
}
