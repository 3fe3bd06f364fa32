package conformance

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// stranger returns a client without a certificate that trusts the cluster's CA.
func stranger(t *testing.T, c *devrun.Cluster) *http.Client {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(c.Home("s1"), "server_priv", "tls", "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatal("no certificate in ca.pem")
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}
	return &http.Client{Transport: tr}
}

// TestHealth_AnswersAnybody asks every replica as a load balancer would; one that has
// lost its quorum lives and is not ready.
func TestHealth_AnswersAnybody(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	get := func(name, address, path string) error {
		hc := stranger(t, c)
		hc.Transport.(*http.Transport).TLSClientConfig.ServerName = name
		resp, err := hc.Get("https://" + address + path)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s of %s: %s", path, name, resp.Status)
		}
		return nil
	}
	for _, r := range all {
		for _, path := range []string{"/healthz", "/readyz"} {
			waitFor(t, patience, path, func() error { return get(r.Name, r.Address, path) })
		}
	}
	for _, r := range all[1:] {
		if err := c.Signal(r.Name, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, patience, "a replica alone not to be ready", func() error {
		if get(all[0].Name, all[0].Address, "/readyz") == nil {
			return fmt.Errorf("it says that it is")
		}
		return nil
	})
	if err := get(all[0].Name, all[0].Address, "/healthz"); err != nil {
		t.Error(err)
	}
}
