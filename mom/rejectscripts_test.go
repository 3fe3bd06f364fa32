package mom

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"connectrpc.com/connect"

	"rampart/transport/api"
)

// TestRejectRootScripts_Hooks: a host with $reject_root_scripts takes no new script of a hook, and runs the one that it has; when the line is gone it takes it.
func TestRejectRootScripts_Hooks(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		generation := uint64(0)
		send := func(scripts map[string]string) {
			t.Helper()
			generation++
			r := &api.SetHooksRequest{Epoch: w.servers.epoch, Term: w.term, Generation: generation, Server: "srv"}
			for _, name := range slices.Sorted(maps.Keys(scripts)) {
				body := []byte(scripts[name])
				sum := fmt.Sprintf("%x", sha256.Sum256(body))
				r.Hooks = append(r.Hooks, &api.Hook{Name: name, Seq: 1, Script: sum, Attributes: []*api.Attribute{
					{Name: "type", Value: "site"}, {Name: "enabled", Value: "true"}, {Name: "event", Value: "execjob_begin"},
				}})
				r.Files = append(r.Files, &api.HookFile{Sum: sum, Content: body})
			}
			if reply, err := w.mom.SetHooks(t.Context(), connect.NewRequest(r)); err != nil || len(reply.Msg.GetMissing()) > 0 {
				t.Fatal(reply, err)
			}
		}
		has := func(want string) {
			t.Helper()
			var all []string
			for _, name := range []string{"new", "old"} {
				body, _ := os.ReadFile(filepath.Join(w.home, "mom_priv", "hooks", name+".PY"))
				all = append(all, string(body))
			}
			runs := ""
			for _, h := range w.mom.running().hooks.store.At("execjob_begin") {
				runs += " " + h.Name
			}
			if got := strings.Join(all, "|") + runs; got != want {
				t.Errorf("the host has %q, want %q", got, want)
			}
		}
		set := func(line string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(w.home, "mom_priv", "config"), []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := w.mom.Reload(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		send(map[string]string{"old": "pass"})
		set("$reject_root_scripts true\n")
		send(map[string]string{"old": "pass # 2", "new": "pass # 3"})
		has("|pass old")
		if got := strings.Count(w.log(), ";0080;pbs_mom;Req;req_reject;Reject reply code=15168, aux=0, type=85, from root@"); got != 2 {
			t.Errorf("the log has %d refusals: %s", got, w.log())
		}
		set("")
		send(map[string]string{"old": "pass # 2", "new": "pass # 3"})
		has("pass # 3|pass # 2 new old")
	})
}
