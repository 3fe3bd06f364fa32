package mom

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rampart/cmd/internal/exported"
	"rampart/cmd/rampart/home"
	agent "rampart/mom"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/memnet"
)

// opened returns a mom with an identity that runs nothing yet.
func opened(t *testing.T, open bool) *daemon {
	t.Helper()
	host := memnet.New(1).Host("borg")
	config := Default("borg", host.IP().String())
	config.Home, config.OpenMetrics = home.Home(t.TempDir()), open
	ca, err := transport.NewCA("c1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	id, err := ca.Issue(transport.RoleMom, "borg", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Home.Make(config.Home.MomPriv()); err != nil {
		t.Fatal(err)
	}
	if err := (transport.Files{Dir: config.Home.MomTLS()}).SaveIdentity(id); err != nil {
		t.Fatal(err)
	}
	if err := home.Replace(config.gossipKeyPath(), make([]byte, 32)); err != nil {
		t.Fatal(err)
	}
	d := newDaemon(config, Options{Logger: slog.New(slog.DiscardHandler)}, Outside{
		Network: host, System: proc.NewFake(nil), Probe: func() agent.Hardware { return agent.Hardware{CPUs: 1} }, Accounts: nobody{},
	})
	if err := d.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.port.Close()
		d.close()
	})
	return d
}

type nobody struct{ transport.Accounts }

// TestMetrics_DocumentsAndRulesNameWhatIsExported: both ways, for what is the moms'.
func TestMetrics_DocumentsAndRulesNameWhatIsExported(t *testing.T) {
	there := exported.By(opened(t, false).metrics)
	for _, file := range []string{"../../../docs/operations.md", "../../../docs/alerts.yml"} {
		names, err := exported.In(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range exported.Missing(names, there) {
			if strings.HasPrefix(name, "rampart_mom_") {
				t.Errorf("%s speaks of %s, which no mom exports", file, name)
			}
		}
		if strings.HasSuffix(file, ".md") {
			for _, name := range exported.Missing(there, names) {
				t.Errorf("%s says nothing of %s", file, name)
			}
		}
	}
}

// TestPages_OfAMom: anybody may ask for its health; its metrics are for those who have a
// certificate, unless the site says otherwise.
func TestPages_OfAMom(t *testing.T) {
	for _, open := range []bool{false, true} {
		d := opened(t, open)
		get := func(path string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.RemoteAddr = net.JoinHostPort("10.0.0.1", "1")
			w := httptest.NewRecorder()
			d.handler.ServeHTTP(w, r)
			return w
		}
		if w := get("/healthz"); w.Code != http.StatusOK {
			t.Errorf("healthz: %d %s", w.Code, w.Body)
		}
		if w := get("/readyz"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the mom does not run") {
			t.Errorf("readyz: %d %s", w.Code, w.Body)
		}
		w := get("/metrics")
		if open && (w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "rampart_mom_spool_facts 0")) {
			t.Errorf("open metrics: %d %s", w.Code, w.Body)
		}
		if !open && w.Code != http.StatusUnauthorized {
			t.Errorf("metrics for a stranger: %d", w.Code)
		}
	}
}
