package service

import (
	"net/http/httptest"
	"strings"
	"testing"

	"rampart/cluster/member"
)

// ill is a replica with a status of its own.
type ill struct {
	*bench
	status member.Status
}

func (i ill) Status() member.Status { return i.status }

// TestReadyz_AlarmsThatStopAndThoseThatDoNot: a replica with a slow disk serves, one
// that waits for room does not, and says why.
func TestReadyz_AlarmsThatStopAndThoseThatDoNot(t *testing.T) {
	slow := member.Alarm{Kind: member.AlarmSick, Text: "writes are slow", Serves: true}
	full := member.Alarm{Kind: member.AlarmFull, Text: "waiting for room"}
	for _, c := range []struct {
		name   string
		status member.Status
		code   int
		says   string
	}{
		{"well", member.Status{Applied: 1}, 200, "ok"},
		{"slow", member.Status{Applied: 1, Alarms: []member.Alarm{slow}}, 200, "ok"},
		{"full", member.Status{Applied: 1, Alarms: []member.Alarm{slow, full}}, 503, "waiting for room"},
		{"empty", member.Status{}, 503, "the state has not been loaded"},
	} {
		b := newBench(t)
		b.Cluster.Replica = ill{b, c.status}
		w := httptest.NewRecorder()
		b.Readyz().ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
		w = httptest.NewRecorder()
		b.Healthz().ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
		if w.Code != 200 {
			t.Errorf("%s: healthz %d", c.name, w.Code)
		}
	}
}
