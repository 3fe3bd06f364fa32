package transport

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"rampart/fsm/pbs"
)

// A Role is what the CA lets a process be.
type Role string

// The roles.
const (
	RoleReplica Role = "replica"
	RoleMom     Role = "mom"
	RoleSubmit  Role = "submit"
)

// Valid reports whether r is one of the roles.
func (r Role) Valid() bool { return r == RoleReplica || r == RoleMom || r == RoleSubmit }

// scheme is the scheme of the URI SAN that marks a certificate as one of ours.
const scheme = "rampart"

// A Peer is what a leaf certificate says of its owner.
type Peer struct {
	Cluster string       // id of the cluster whose CA signed it
	Role    Role         // what it may be
	Host    pbs.HostName // host, or the name of the replica
	Key     string       // KeyHash of its public key
	Expired bool         // the certificate's time is over
}

// uri returns the SAN rampart://CLUSTER/role/HOST.
func (p Peer) uri() *url.URL {
	return &url.URL{Scheme: scheme, Host: p.Cluster, Path: "/" + string(p.Role) + "/" + string(p.Host)}
}

var errNotOurs = errors.New("certificate does not name a cluster, role and host")

// peerOf reads the SAN of a leaf that has been verified.
func peerOf(leaf *x509.Certificate) (Peer, error) {
	if len(leaf.URIs) != 1 || leaf.URIs[0].Scheme != scheme {
		return Peer{}, errNotOurs
	}
	role, host, ok := strings.Cut(strings.TrimPrefix(leaf.URIs[0].Path, "/"), "/")
	p := Peer{Cluster: leaf.URIs[0].Host, Role: Role(role), Host: pbs.HostName(host), Key: KeyHash(leaf)}
	if !ok || !p.Role.Valid() || !validName(host) {
		return Peer{}, errNotOurs
	}
	return p, nil
}

// KeyHash returns the SHA-256 of a certificate's public key in hexadecimal: the
// name under which the state keeps an identity.
func KeyHash(cert *x509.Certificate) string {
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:])
}

// CSRKeyHash returns the KeyHash that a certificate made from the request would
// have, so that Join can put it on record and Renew can compare.
func CSRKeyHash(csr []byte) (string, error) {
	req, err := x509.ParseCertificateRequest(csr)
	if err != nil {
		return "", fmt.Errorf("read certificate request: %w", err)
	}
	sum := sha256.Sum256(req.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:]), nil
}

const maxName = 253

// validName reports whether s may stand as a host, replica or cluster in a SAN.
func validName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for _, r := range s {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._", r)
		if !ok {
			return false
		}
	}
	return true
}
