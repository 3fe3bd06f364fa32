package mom

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What mom_priv/config says that the host has is reported of its natural vnode, and again when a command says otherwise.
func TestAmounts(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		tapes, config := filepath.Join(t.TempDir(), "tapes"), filepath.Join(w.home, "mom_priv", "config")
		write := func(path, text string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		reported := func(want ...string) {
			t.Helper()
			w.servers.mu.Lock()
			defer w.servers.mu.Unlock()
			var got []string
			for _, a := range w.servers.regs[len(w.servers.regs)-1].GetVnodes()[0].GetAttributes() {
				if a.GetName() == measured {
					got = append(got, a.GetResource()+"="+a.GetValue())
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("reported are %v, want %v", got, want)
			}
		}
		reported()
		write(tapes, "3\n")
		open := filepath.Join(t.TempDir(), "open")
		write(open, "#!/bin/sh\necho 7\n")
		if err := os.Chmod(open, 0o722); err != nil {
			t.Fatal(err)
		}
		write(config, "$logevent 255\nscratch 20gb\nncpus 17\ntapes\t!cat "+tapes+"\nbroken !false\nanyones !"+open+" -x\nnothing !no/such/program\nempty\n")
		if err := w.mom.Reload(); err != nil {
			t.Fatal(err)
		}
		sleep(time.Second)
		reported("scratch=20gb", "tapes=3")
		for _, want := range []string{
			";0020;pbs_mom;Svr;mom_resources;error: " + open + " file has a non-secure file access, errno: 1\n",
			";0020;pbs_mom;Svr;mom_resources;error: no/such/program file has a non-secure file access, errno: 2\n",
			"broken: false says nothing",
		} {
			if log := w.log(); !strings.Contains(log, want) {
				t.Errorf("%q is not in the log\n%s", want, log)
			}
		}
		day, err := filepath.Glob(filepath.Join(w.home, "mom_logs", "*"))
		if err != nil || len(day) != 1 {
			t.Fatalf("logs %v, %v", day, err)
		}
		if err := os.Rename(day[0], day[0]+".moved"); err != nil {
			t.Fatal(err)
		}
		if err := w.mom.Reload(); err != nil {
			t.Fatal(err)
		}
		sleep(time.Second)
		if text, err := os.ReadFile(day[0]); err != nil || !strings.Contains(string(text), "broken: false says nothing") {
			t.Errorf("the log in the place of the one that was moved says %q, %v", text, err)
		}
		write(tapes, "2\n")
		sleep(amountsEvery)
		reported("scratch=20gb", "tapes=2")
		write(config, "")
		if err := w.mom.Reload(); err != nil {
			t.Fatal(err)
		}
		sleep(time.Second)
		reported()
	})
}
