package conformance

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/cmd/devrun"
	"rampart/transport"
)

// statusExit returns the exit status of rampart cluster status.
func statusExit(t *testing.T, c *devrun.Cluster) int {
	t.Helper()
	_, err := c.Output(t.Context(), "rampart", "cluster", "status")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// page reads a page of a daemon.
func page(hc *http.Client, url string) (int, string, error) {
	resp, err := hc.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// TestMetrics_OfReplicasAndMoms: they are for those who have a certificate; the exit
// status of cluster status follows the health of the cluster.
func TestMetrics_OfReplicasAndMoms(t *testing.T) {
	t.Parallel()
	c := newCluster(t, "--moms", "1")
	id, err := c.Issue(transport.RoleSubmit, "prometheus")
	if err != nil {
		t.Fatal(err)
	}
	reader := func(role transport.Role) *http.Client {
		tr := transport.NewTransport(transport.System{}, id.ClientTLS(role))
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}
	all, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Output(t.Context(), "qsub", "-o", "/dev/null", "-j", "oe", "--", "/bin/true"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, patience, "health", func() error {
		if n := statusExit(t, c); n != 0 {
			return fmt.Errorf("exit status %d", n)
		}
		return nil
	})
	want := map[string][]string{
		"replica": {
			`rampart_raft_role{role="leader"}`, `rampart_apply_commands_total{kind="SubmitJob"} 1`, `rampart_store_write_duration_seconds_count{op="append"}`,
			`rampart_gossip_members{role="replica",state="alive"} 3`, `rampart_rpc_requests_total{code="ok",method="Cluster/Status"}`,
			`rampart_hosts{state="up"} 1`, "go_goroutines", "process_open_fds", `rampart_replica_alarm{kind="disk_full"} 0`, "rampart_ledger_lag_records",
		},
		"mom": {"rampart_mom_spool_facts", `rampart_rpc_requests_total{code="ok",method="Agent/Deliver"}`, "rampart_mom_lease_age_seconds", "rampart_mom_trouble 0"},
	}
	pages := map[string]string{"mom": momAddress(t, c, "borg")}
	for _, r := range all {
		pages[r.Name] = r.Address
	}
	for name, address := range pages {
		kind, role := "replica", transport.RoleReplica
		if name == "mom" {
			kind, role = "mom", transport.RoleMom
		}
		waitFor(t, patience, "the metrics of "+name, func() error {
			code, text, err := page(reader(role), "https://"+address+"/metrics")
			if err != nil || code != http.StatusOK {
				return fmt.Errorf("%d, %w", code, err)
			}
			for _, w := range want[kind] {
				if !strings.Contains(text, w) {
					return fmt.Errorf("no %s", w)
				}
			}
			return nil
		})
		hc := stranger(t, c)
		// A mom's certificate is good for no name.
		hc.Transport.(*http.Transport).TLSClientConfig.ServerName = name
		hc.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = kind == "mom"
		if code, _, err := page(hc, "https://"+address+"/metrics"); err != nil || code != http.StatusUnauthorized {
			t.Errorf("metrics of %s for a stranger: %d, %v", name, code, err)
		}
		waitFor(t, patience, name+" to be ready", func() error {
			code, text, err := page(hc, "https://"+address+"/readyz")
			if err == nil && code != http.StatusOK {
				err = fmt.Errorf("%d %s", code, text)
			}
			return err
		})
	}
	for _, step := range []struct {
		dies string
		exit int
	}{{all[1].Name, 3}, {all[2].Name, 4}} {
		if err := c.Signal(step.dies, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		waitFor(t, patience, "the exit status", func() error {
			if n := statusExit(t, c); n != step.exit {
				return fmt.Errorf("%d, want %d", n, step.exit)
			}
			return nil
		})
	}
}

// momAddress returns where a mom answers.
func momAddress(t *testing.T, c *devrun.Cluster, mom string) string {
	t.Helper()
	var address string
	waitFor(t, 10*time.Second, "the address of the mom", func() error {
		out, err := c.Output(t.Context(), "sh", "-c", `sed -n 's/.*"listen": "\(.*\)".*/\1/p' "$RAMPART_DEV/homes/`+mom+`/mom_priv/mom.json"`)
		address = strings.TrimSpace(out)
		if address == "" {
			return fmt.Errorf("none: %w", err)
		}
		return err
	})
	return address
}
