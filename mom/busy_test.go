package mom

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"rampart/mom/load"
	"rampart/transport/api"
)

// TestLoadBounds: a host is busy from $max_load on until its load is below $ideal_load; of two that are not both set one stands for the other.
func TestLoadBounds(t *testing.T) {
	for text, steps := range map[string][]struct {
		load float64
		busy bool
	}{
		"$ideal_load 2\n$max_load 4":         {{3.99, false}, {4, true}, {3, true}, {2, true}, {1.99, false}, {3, false}},
		"$max_load 4 suspend\n$ideal_load 2": {{4, true}, {3, true}, {1, false}},
		"$max_load 4":                        {{3.9, false}, {4, true}, {3.9, false}},
		"$ideal_load 1.5":                    {{1.4, false}, {1.5, true}, {1.4, false}},
		"$ideal_load 5\n$max_load 4":         {{4, true}, {4, true}, {3.9, false}},
		"":                                   {{1000, false}},
	} {
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := readSettings(path, path+".none", "")
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		busy := false
		for i, step := range steps {
			if busy = s.load.busy(step.load, busy); busy != step.busy {
				t.Errorf("%q, step %d, load %g: busy %t", text, i, step.load, busy)
			}
		}
	}
	for _, bad := range []string{"$max_load", "$max_load x", "$ideal_load -1", "$max_load NaN", "$max_load 1e300"} {
		path := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSettings(path, path+".none", ""); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestBusy: what the load makes of the host goes with a renewal that does not wait for its time, and with registrations. While nothing is known of the
// load the host stays what it was; without thresholds it is free.
func TestBusy(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		source := &scripted{says: make(chan load.Values)}
		w.config.Load = source
		config := filepath.Join(w.home, "mom_priv", "config")
		write := func(text string) {
			t.Helper()
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		check := func(after string, want bool) {
			t.Helper()
			synctest.Wait()
			if got := w.servers.renewal().GetBusy(); got != want {
				t.Errorf("after %s: busy %t", after, got)
			}
		}
		if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
			t.Fatal(err)
		}
		write("$ideal_load 2\n$max_load 4\n")
		w.up()
		source.says <- load.Values{"r1m": 3}
		check("3", false)
		source.says <- load.Values{"r1m": 5}
		check("5", true)
		source.says <- nil
		check("nothing", true)
		source.says <- load.Values{"r1m": 2}
		check("2", true)
		source.says <- load.Values{"r1m": 1.5}
		check("1.5", false)
		reload := func(text string, busy, judges bool) {
			t.Helper()
			write(text)
			if err := w.mom.Reload(); err != nil {
				t.Fatal(err)
			}
			sleep(leaseEvery)
			check(text, busy)
			regs := []*api.RegisterRequest(nil)
			w.servers.set(func(s *servers) { regs = s.regs })
			if last := regs[len(regs)-1]; last.GetBusy() != busy || last.GetJudgesLoad() != judges {
				t.Errorf("%q registers %v", text, last)
			}
		}
		reload("$ideal_load 1\n$max_load 1.2\n", true, true)
		reload("", false, false)
		if said := w.log(); strings.Count(said, "the host is busy") != 2 || strings.Count(said, "the host is free") != 2 {
			t.Error(said)
		}
	})
}
