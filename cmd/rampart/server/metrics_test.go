package server

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"

	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/cmd/internal/exported"
	"rampart/cmd/rampart/home"
	"rampart/fsm/command"
	"rampart/transport/memnet"
)

// opened returns a replica of a new cluster that runs nothing yet.
func opened(t *testing.T) *Server {
	t.Helper()
	host := memnet.New(1).Host("s1")
	config := Default("s1", host.IP().String())
	config.Home = home.Home(t.TempDir())
	if err := Init(config); err != nil {
		t.Fatal(err)
	}
	s := New(config, Outside{Network: host, Stores: func() (store.Backend, error) { return store.NewMemory(), nil }}, slog.New(slog.DiscardHandler))
	if err := s.open(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.replica.Close()
		_ = s.port.Close()
		s.close()
	})
	return s
}

// TestMetrics_DocumentsAndRulesNameWhatIsExported: both ways, for all that is not the
// moms'.
func TestMetrics_DocumentsAndRulesNameWhatIsExported(t *testing.T) {
	there := exported.By(opened(t).Registry())
	if len(there) < 40 {
		t.Fatalf("only %d metrics: %q", len(there), there)
	}
	for _, file := range []string{"../../../docs/operations.md", "../../../docs/alerts.yml"} {
		names, err := exported.In(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range exported.Missing(names, there) {
			if !strings.HasPrefix(name, "rampart_mom_") {
				t.Errorf("%s speaks of %s, which no replica exports", file, name)
			}
		}
		if strings.HasSuffix(file, ".md") {
			for _, name := range exported.Missing(there, names) {
				t.Errorf("%s says nothing of %s", file, name)
			}
		}
	}
}

// TestMetrics_AlarmsAreDocumented: each kind, with what to do.
func TestMetrics_AlarmsAreDocumented(t *testing.T) {
	docs := read(t, "../../../docs/operations.md")
	for _, kind := range member.AlarmKinds() {
		if !strings.Contains(docs, "| `"+string(kind)+"` |") {
			t.Errorf("docs/operations.md has no line for the alarm %s", kind)
		}
	}
	for line := range strings.Lines(read(t, "../../../docs/alerts.yml")) {
		if _, name, ok := strings.Cut(line, "- alert: "); ok && !strings.Contains(docs, "| `"+strings.TrimSpace(name)+"` |") {
			t.Errorf("docs/operations.md has no line for the alert %s", name)
		}
	}
}

// TestMetrics_NoCensusOfPeople: no label holds what users choose.
func TestMetrics_NoCensusOfPeople(t *testing.T) {
	families, err := opened(t).Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{
		"role": true, "state": true, "op": true, "outcome": true, "result": true, "kind": true, "method": true, "code": true,
		"answer": true, "version": true, "build": true, "service": true,
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if strings.HasPrefix(f.GetName(), "rampart_") && !allowed[l.GetName()] {
					t.Errorf("%s has the label %s", f.GetName(), l.GetName())
				}
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// BenchmarkCountCommands is what counting adds to Apply of an entry of one command.
func BenchmarkCountCommands(b *testing.B) {
	count := countCommands(nil)
	e := command.Entry{Proposals: []command.Proposal{{Commands: []command.Command{&command.SubmitJob{}}}}}
	b.ReportAllocs()
	for b.Loop() {
		count(e)
	}
}
