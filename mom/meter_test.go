package mom

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// figures reads the gauges and counters of the mom by name and labels.
func figures(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "{" + l.GetValue() + "}"
			}
			all[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// TestReadyz_SaysWhatIsWrong: a full spool and servers that are away, while they last.
func TestReadyz_SaysWhatIsWrong(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		reg := prometheus.NewPedanticRegistry()
		w.config.Registry = reg
		w.up()
		want := func(code int, text string) {
			t.Helper()
			r := httptest.NewRecorder()
			w.mom.Readyz().ServeHTTP(r, httptest.NewRequest("GET", "/readyz", nil))
			if r.Code != code || !strings.Contains(r.Body.String(), text) {
				t.Errorf("%d %s, want %d %s", r.Code, r.Body, code, text)
			}
		}
		want(200, "ok")
		w.deliver(w.run("1.srv", "sleep 100"))
		w.setFull(true)
		sleep(10 * time.Second)
		want(503, "the spool cannot be written: no space left on device")
		if n := figures(t, reg); n["rampart_mom_trouble"] != 1 {
			t.Errorf("trouble %v", n["rampart_mom_trouble"])
		}
		w.setFull(false)
		sleep(10 * time.Second)
		want(200, "ok")
		w.servers.set(func(s *servers) { s.away = true })
		w.deliver(w.kill("1.srv", 0, false))
		sleep(30 * time.Second)
		want(503, "no word of the servers for 3")
		n := figures(t, reg)
		if n["rampart_mom_lease_age_seconds"] < 25 || n["rampart_mom_spool_facts"] != 1 || n["rampart_mom_reports_total{facts}{failed}"] < 1 {
			t.Errorf("away: %v", n)
		}
		w.servers.set(func(s *servers) { s.away = false })
		sleep(10 * time.Second)
		want(200, "ok")
		n = figures(t, reg)
		if n["rampart_mom_trouble"] != 0 || n["rampart_mom_spool_facts"] != 0 || n["rampart_mom_reports_total{lease}{ok}"] < 3 || n["rampart_mom_report_duration_seconds{facts}"] < 2 {
			t.Errorf("back: %v", n)
		}
		if _, ok := n["rampart_mom_tasks{running}"]; !ok {
			t.Errorf("no tasks in %v", n)
		}
		w.down()
		want(503, "the mom does not run")
	})
}
