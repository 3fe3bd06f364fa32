package conformance

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestHooks_StartupFails: an exechost_startup hook that fails sets the vnodes of its host offline, and the same hook
// frees them once it does not, after the leader that wrote that has died. Other hosts have nothing to do with it.
func TestHooks_StartupFails(t *testing.T) {
	if testing.Short() {
		t.Skip("moms are restarted time and again: see make test-long")
	}
	t.Parallel()
	h := newUsingHooks(t, "hosta:ncpus=1", "hostb:ncpus=1")
	h.hook("boot", "event=exechost_startup,fail_action='offline_vnodes,clear_vnodes_upon_recovery'",
		"import pbs\nif pbs.get_local_nodename() == 'hosta':\n    raise RuntimeError('no scratch')\n", "hosta", "hostb")
	restart := func() {
		t.Helper()
		hosts := []string{"hosta", "hostb"}
		for _, host := range hosts {
			if err := h.Signal(host, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Restart(t.Context(), hosts...); err != nil {
			t.Fatal(err)
		}
	}
	restart()
	comment := "comment = offlined by hook 'boot' due to hook error"
	h.shows([]string{"pbsnodes", "hosta"}, "state = offline", comment)
	h.shows([]string{"pbsnodes", "hostb"}, "state = free", "!comment")
	h.saysTimes("hosta", "RuntimeError: no scratch", 1)
	restart()
	h.saysTimes("hosta", "RuntimeError: no scratch", 2)
	h.shows([]string{"pbsnodes", "hosta"}, "state = offline", comment)
	killLeader(t, h.Cluster)
	h.shows([]string{"pbsnodes", "hosta"}, "state = offline", comment)
	file := filepath.Join(t.TempDir(), "mended")
	if err := os.WriteFile(file, []byte("import pbs\npbs.logmsg(pbs.LOG_DEBUG, 'there is scratch')\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h.must(t, "qmgr", "-c", "import hook boot application/x-python default "+file)
	h.saysTimes("hosta", "boot.PY;copy hook-related file request received", 2)
	restart()
	h.says("hosta", "there is scratch")
	h.shows([]string{"pbsnodes", "hosta"}, "state = free", "!comment")
}
