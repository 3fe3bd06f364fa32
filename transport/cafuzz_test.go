package transport

import (
	"crypto/x509"
	"testing"
	"time"
)

// A CA that is read can issue certificates of its cluster; rubbish, and another's key, are refused.
func FuzzParseCA(f *testing.F) {
	for range 2 {
		ca, err := NewCA("c1", time.Now())
		if err != nil {
			f.Fatal(err)
		}
		key, err := x509.MarshalPKCS8PrivateKey(ca.key)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ca.Certificate(), key)
		f.Add(append(ca.Certificate(), ca.Certificate()...), key)
		f.Add(ca.Certificate()[1:], key)
		f.Add([]byte(nil), key)
		f.Add(ca.Certificate(), []byte(nil))
	}
	f.Fuzz(func(t *testing.T, certs, key []byte) {
		ca, err := ParseCA(certs, key)
		if err != nil {
			return
		}
		if !validName(ca.Cluster()) {
			t.Errorf("cluster %q", ca.Cluster())
		}
		again, err := ParseCA(ca.Certificate(), key)
		if err != nil || again.Cluster() != ca.Cluster() {
			t.Errorf("what was read is not read again: %v", err)
		}
	})
}
