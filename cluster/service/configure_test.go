package service

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// siteFiles writes the files of a site, and has the replica find them.
func siteFiles(t *testing.T, texts map[string]string) (write func(name, text string)) {
	t.Helper()
	dir := t.TempDir()
	batch := filepath.Join(dir, "lsbatch", "crash", "configdir")
	if err := os.MkdirAll(batch, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LSF_ENVDIR", dir)
	write = func(name, text string) {
		to := dir
		if strings.HasPrefix(name, "lsb.") {
			to = batch
		}
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("lsf.conf", "LSF_CONFDIR="+dir+"\nLSB_CONFDIR="+filepath.Join(dir, "lsbatch")+"\nLSB_TIME_RESERVE_NUMJOBS=4\n")
	write("lsf.cluster.crash", "Begin ResourceMap\nRESOURCENAME LOCATION\nlicX (10@[all])\ntok (3@[hosta hostb])\nEnd ResourceMap\n")
	write("lsf.shared", "Begin Resource\nRESOURCENAME TYPE CONSUMABLE\nlicX Numeric Y\ntok Numeric Y\nEnd Resource\n")
	for name, text := range texts {
		write(name, text)
	}
	return write
}

const oneQueue = "Begin Queue\nQUEUE_NAME = crash\nPRIORITY = 40\nRES_REQ = rusage[mem=10]\nEnd Queue\n"

// RSV-56 and reservation section 8.7: managers and operators alone; nothing is changed by a check, nor when something is fatal.
func TestConfigure(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	b.host("hostb", "hostb")
	write := siteFiles(t, map[string]string{"lsb.queues": oneQueue})
	ask := func(who string, check bool) (*api.ConfigureReply, error) {
		r, err := b.Batch.Configure(b.as(who), request(&api.ConfigureRequest{Check: check}, ""))
		if err != nil {
			return nil, err
		}
		return r.Msg, nil
	}
	crash := func() bool {
		_, ok := b.store.View().Queue("crash")
		return ok
	}
	if _, err := ask("ann@hosta", false); pbs.CodeOf(err) != pbs.Unauthorized || err.Error() != "User permission denied" {
		t.Errorf("a user: %v", err)
	}
	if r, err := ask("op@hosta", true); err != nil || len(r.Messages) > 0 || r.Fatal || crash() {
		t.Errorf("a check: %v, %v, and the queue is there: %t", r, err, crash())
	}
	if r, err := ask("op@hosta", false); err != nil || len(r.Messages) > 0 || r.Fatal || !crash() || b.store.View().LSF().TimeReserveJobs != 4 {
		t.Fatalf("%v, %v", r, err)
	}
	if value, _ := b.store.View().Server().Attrs.Get("resources_available", "licX"); value != "10" {
		t.Errorf("licX is %q", value)
	}
	for host, want := range map[pbs.VnodeName]string{"hosta": "3", "hostb": "@hosta"} {
		v, _ := b.store.View().Vnode(host)
		if value, _ := v.Configured.Get("tok"); value != want {
			t.Errorf("tok of %s is %q, want %q", host, value, want)
		}
	}
	b.host("hostc", "hostc") // of which nothing is said
	write("lsb.queues", "Begin Queue\nPRIORITY = 1\nEnd Queue\n")
	r, err := ask("op@hosta", false)
	if err != nil || !r.Fatal || len(r.Messages) != 2 || !strings.HasSuffix(r.Messages[0], "in section Queue ending at line 3: Begin Queue without QUEUE_NAME") || !crash() {
		t.Errorf("%v, %v", r, err)
	}
	files, err := b.Batch.Configuration(b.as("ann@hosta"), connect.NewRequest(&api.ConfigurationRequest{}))
	if err != nil || !slices.ContainsFunc(files.Msg.Files, func(f *api.ConfigurationFile) bool {
		return f.Name == "lsb.queues" && strings.Contains(string(f.Text), "RES_REQ          = rusage[mem=10]\n")
	}) {
		t.Errorf("dumped: %v, %v", files, err)
	}
}

// A place without any files is none where a site has its configuration: nothing is taken away for it.
func TestConfigure_NoFiles(t *testing.T) {
	b := newBench(t)
	t.Setenv("LSF_ENVDIR", t.TempDir())
	_, err := b.Batch.Configure(b.as("boss@hosta"), request(&api.ConfigureRequest{}, ""))
	if err == nil || b.store.View().Reconfigured().Revision != 0 {
		t.Errorf("%v", err)
	}
}
