package transport

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// ALPN names of the protocols on the one port of a process.
const (
	protoRaft = "rampart-raft/1"
	protoH2   = "h2"
	protoH1   = "http/1.1"
)

var (
	errNoCertificate = errors.New("peer shows no certificate")
	errExpired       = errors.New("peer's certificate has expired")
)

// verifyLeaf checks that the CA signed the leaf and reads who it is. An expired
// leaf passes and is marked: what it may still do is judged method by method.
func verifyLeaf(pool *x509.CertPool, cert *x509.Certificate) (Peer, error) {
	now := time.Now()
	expired := now.After(cert.NotAfter)
	if expired {
		now = cert.NotAfter
	}
	chains, err := cert.Verify(x509.VerifyOptions{
		Roots: pool, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return Peer{}, fmt.Errorf("verify certificate: %w", err)
	}
	peer, err := peerOf(cert)
	if err != nil {
		return Peer{}, err
	}
	root := chains[0][len(chains[0])-1]
	if len(root.URIs) != 1 || root.URIs[0].Host != peer.Cluster {
		return Peer{}, fmt.Errorf("verify certificate: it is of cluster %s", peer.Cluster)
	}
	peer.Expired = expired
	return peer, nil
}

// peer verifies the certificate that the other end of a connection has shown.
func (id *Identity) peer(certs []*x509.Certificate) (Peer, error) {
	if len(certs) == 0 {
		return Peer{}, errNoCertificate
	}
	p, err := verifyLeaf(id.trust.Load().pool, certs[0])
	if err != nil {
		return Peer{}, err
	}
	return p, id.check(p)
}

// known judges once more the peer of a connection whose handshake verified it: a
// connection may outlive its certificate, or its host's right to be here. The
// signature needs no second look.
func (id *Identity) known(cert *x509.Certificate) (Peer, error) {
	p, err := peerOf(cert)
	if err != nil {
		return Peer{}, err
	}
	p.Expired = time.Now().After(cert.NotAfter)
	return p, id.check(p)
}

func (id *Identity) check(p Peer) error {
	if id.Check == nil {
		return nil
	}
	return id.Check(p.Role, p.Host, p.Key)
}

func baseTLS() *tls.Config {
	// X25519 alone: the hybrid exchanges cost a handshake more than it may.
	return &tls.Config{MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{tls.X25519}}
}

// ServerTLS returns the configuration of a process's port. A client certificate
// is verified if given; without one, only what the method table opens to
// anybody or to a login token is to be had.
func (id *Identity) ServerTLS() *tls.Config {
	c := baseTLS()
	c.NextProtos = []string{protoH2, protoH1}
	c.ClientAuth = tls.RequestClientCert
	c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &id.leaf.Load().tls, nil }
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		if cs.NegotiatedProtocol == protoRaft {
			return id.verifyRaft(cs)
		}
		if len(cs.PeerCertificates) == 0 {
			return nil
		}
		_, err := id.peer(cs.PeerCertificates)
		return err
	}
	return c
}

// ClientTLS returns the configuration for calling a process of the given role:
// it shows this identity, and verifies the peer by CA and role, not by name.
func (id *Identity) ClientTLS(role Role) *tls.Config { return id.HostTLS(role, "") }

// HostTLS is ClientTLS for a process of the given host; an empty one is any.
func (id *Identity) HostTLS(role Role, host string) *tls.Config {
	c := id.dialTLS()
	c.NextProtos = []string{protoH2, protoH1}
	c.VerifyConnection = func(cs tls.ConnectionState) error {
		return id.verifyRole(cs, role, host)
	}
	return c
}

// raftTLS returns the configuration for calling a replica's Raft.
func (id *Identity) raftTLS() *tls.Config {
	c := id.dialTLS()
	c.NextProtos = []string{protoRaft}
	c.VerifyConnection = id.verifyRaft
	return c
}

func (id *Identity) dialTLS() *tls.Config {
	c := baseTLS()
	c.InsecureSkipVerify = true // VerifyConnection does it, by CA and role
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &id.leaf.Load().tls, nil }
	return c
}

func (id *Identity) verifyRole(cs tls.ConnectionState, role Role, host string) error {
	p, err := id.peer(cs.PeerCertificates)
	if err != nil {
		return err
	}
	if p.Role != role {
		return fmt.Errorf("peer %s is a %s, not a %s", p.Host, p.Role, role)
	}
	if host != "" && string(p.Host) != host {
		return fmt.Errorf("peer is %s, not %s", p.Host, host)
	}
	if p.Expired {
		return errExpired
	}
	return nil
}

// verifyRaft wants a replica, with an expired leaf only if its key is in the
// membership.
func (id *Identity) verifyRaft(cs tls.ConnectionState) error {
	p, err := id.peer(cs.PeerCertificates)
	if err != nil {
		return err
	}
	if p.Role != RoleReplica {
		return fmt.Errorf("peer %s is a %s; Raft is for replicas", p.Host, p.Role)
	}
	if p.Expired && (id.Member == nil || !id.Member(p.Key)) {
		return errExpired
	}
	return nil
}

// JoinTLS returns the configuration of a process that has a token and no
// identity yet: it trusts a replica of the CA whose hash is in the token.
func JoinTLS(t Token) *tls.Config { return pinnedTLS(t.CA[:]) }

// UserTLS returns the configuration of a person with a login token: it trusts a
// replica of the given CA certificate (DER).
func UserTLS(ca []byte) *tls.Config { return pinnedTLS(rootHash(ca)) }

func pinnedTLS(hash []byte) *tls.Config {
	c := baseTLS()
	c.NextProtos = []string{protoH2, protoH1}
	c.InsecureSkipVerify = true // VerifyConnection does it, by the CA's hash
	c.VerifyConnection = func(cs tls.ConnectionState) error { return verifyPinned(cs, hash) }
	return c
}

func verifyPinned(cs tls.ConnectionState, hash []byte) error {
	if len(cs.PeerCertificates) == 0 {
		return errNoCertificate
	}
	pool := x509.NewCertPool()
	for _, c := range cs.PeerCertificates[1:] {
		if bytes.Equal(rootHash(c.Raw), hash) {
			pool.AddCert(c)
		}
	}
	p, err := verifyLeaf(pool, cs.PeerCertificates[0])
	switch {
	case err != nil:
		return fmt.Errorf("the server is not of the cluster that the token is for: %w", err)
	case p.Role != RoleReplica:
		return fmt.Errorf("peer %s is a %s, not a replica", p.Host, p.Role)
	case p.Expired:
		return errExpired
	}
	return nil
}
