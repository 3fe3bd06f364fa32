package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// farHost answers to no name: what goes there and comes from there is for the site's scp.
const farHost = "far.example.org"

// siteCopy is a scp of the site: the far host is the folder %FAR%.
const siteCopy = `#!/bin/sh
echo "$(id -u) $*" >>"%FAR%/said"
for last; do :; done
case $last in
*@far.example.org:*) into="%FAR%/${last#*:}" ;;
*) into=$last ;;
esac
while [ $# -gt 1 ]; do
	case $1 in
	-*) ;;
	*@far.example.org:*) cp -r "%FAR%/${1#*:}" "$into" || exit 1 ;;
	*) cp -r "$1" "$into" || exit 1 ;;
	esac
	shift
done
`

// dropInCopies: PBS_SCP moves what a job stages in and out, and its output, where the other
// host is none of the cluster; a scp that fails leaves the output below undelivered/. The job
// has the core limit of pbs.conf.
func dropInCopies(t *testing.T, a *siteHost) {
	t.Helper()
	far := filepath.Join(a.site.dir, "far")
	if err := os.Mkdir(far, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(a.site.dir, "scp")
	for path, text := range map[string]string{program: strings.ReplaceAll(siteCopy, "%FAR%", far), filepath.Join(far, "data"): "from afar\n"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	conf, err := os.ReadFile(a.confPath())
	if err != nil {
		t.Fatal(err)
	}
	a.conf(t, string(conf)+"PBS_SCP="+program+"\n")
	staged := []string{
		"qsub", "-W", "block=true", "-W", "sandbox=private", "-W", "stagein=here@" + farHost + ":data", "-j", "oe",
	}
	id := a.ok(t, append(staged, "-W", "stageout=result@"+farHost+":kept", "-o", farHost+":out", "--",
		"/bin/bash", "-c", "cat here >result; echo said; ulimit -c")...)
	for file, want := range map[string]string{"kept": "from afar\n", "out": "said\n40\n"} {
		if got, err := os.ReadFile(filepath.Join(far, file)); string(got) != want {
			t.Errorf("%s on the far host: %q, %v", file, got, err)
		}
	}
	said, err := os.ReadFile(filepath.Join(far, "said"))
	if err != nil || strings.Count(string(said), "0 -B -r -p -- ") != 3 || !strings.Contains(string(said), " root@"+farHost+":data ") {
		t.Errorf("the program was run so: %v\n%s", err, said)
	}
	a.logged(t, "mom_logs", ";0080;pbs_mom;Job;"+id+";copy file request received\n")

	if err := os.WriteFile(program, []byte("#!/bin/sh\necho no way >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	id = a.ok(t, "qsub", "-j", "oe", "-o", farHost+":out2", "--", "/bin/echo", "kept")
	waitFor(t, patience, "the output below undelivered/", func() error {
		_, err := os.Stat(filepath.Join(a.home, "undelivered", id+".OU"))
		return err
	})
	a.conf(t, string(conf))
}
