package dropin

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/mom"
)

// installed makes an installation with a mom.
func installed(t *testing.T) *probe {
	t.Helper()
	p := &probe{exec: t.TempDir(), home: t.TempDir(), owner: uint32(os.Getuid())}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	config := mom.Default("hosta", "127.0.0.1")
	config.Home = home.Home(p.home)
	must(os.MkdirAll(config.Home.MomTLS(), 0o755))
	must(home.WriteConfig(config.Home.MomConfig(), config))
	for _, key := range []string{"leaf.key", "gossip.key"} {
		must(os.WriteFile(filepath.Join(config.Home.MomTLS(), key), nil, 0o600))
	}
	for _, w := range p.installation() {
		path := filepath.Join(p.exec, w.path)
		switch w.kind {
		case aFolder:
			must(os.MkdirAll(path, 0o755))
		case aLink:
			must(os.Symlink(w.target, path))
		default:
			must(os.WriteFile(path, nil, 0o755))
		}
	}
	return p
}

// again probes, and returns what is said below the system's line.
func (p *probe) again(t *testing.T, fix bool) string {
	t.Helper()
	p.fix, p.fixed, p.looked, p.problems = fix, nil, nil, map[string][]string{}
	p.all()
	var out bytes.Buffer
	if err := p.tell(&out, false); (err != nil) != (len(p.problems) > 0) {
		t.Errorf("%v problems, and it ends with %v", p.problems, err)
	}
	_, found, _ := strings.Cut(out.String(), "machine=")
	_, found, _ = strings.Cut(found, "\n")
	return strings.TrimSpace(strings.NewReplacer(p.exec, "EXEC", p.home, "HOME").Replace(found))
}

// TestProbe: an installation that is whole is said to be; what is missing, leads elsewhere, or may be changed or read by others is
// told, and mended with -f if it can be.
func TestProbe(t *testing.T) {
	const well = "=== No PBS Infrastructure Problems Detected ==="
	for _, c := range []struct {
		name  string
		spoil func(p *probe) error
		told  string
		stays string // with -f; empty: it is mended
	}{
		{"a link is gone", func(p *probe) error { return os.Remove(p.exec + "/sbin/pbs_mom") }, "Missing Files: EXEC/sbin/pbs_mom: this link is missing", ""},
		{
			"a link leads elsewhere",
			func(p *probe) error {
				return errors.Join(os.Remove(p.exec+"/bin/qsub"), os.Symlink("rampart", p.exec+"/bin/qsub"))
			},
			"Wrong Links: EXEC/bin/qsub: leads to rampart, must lead to pbs", "",
		},
		{"a program for all to write", func(p *probe) error { return os.Chmod(p.exec+"/bin/pbs", 0o777) }, "Permissions: EXEC/bin/pbs: mode is 0777, must be 0755", ""},
		{"a folder for all to write", func(p *probe) error { return os.Chmod(p.home+"/mom_priv", 0o777) }, "Permissions: HOME/mom_priv: mode is 0777, must be 0755", ""},
		{"a key for all to read", func(p *probe) error { return os.Chmod(p.home+"/mom_priv/tls/leaf.key", 0o644) }, "Permissions: HOME/mom_priv/tls/leaf.key: mode is 0644, must be 0600", ""},
		{
			"a program is gone", func(p *probe) error { return os.Remove(p.exec + "/libexec/pbs_init.d") },
			"Missing Files: EXEC/libexec/pbs_init.d: this program is missing", "Missing Files: EXEC/libexec/pbs_init.d: this program is missing (not fixed: it comes with the installation)",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := installed(t)
			if got := p.again(t, false); got != well {
				t.Fatalf("at first: %s", got)
			}
			if err := c.spoil(p); err != nil {
				t.Fatal(err)
			}
			section := func(text string) string {
				category, line, _ := strings.Cut(text, ": ")
				return "====== " + category + " =======\n\n" + line
			}
			if got := p.again(t, false); got != section(c.told) {
				t.Errorf("said\n%s\nwant\n%s", got, section(c.told))
			}
			_, line, _ := strings.Cut(c.told, ": ")
			want, after := section("Fixed: "+line)+"\n\n"+well, well
			if c.stays != "" {
				want, after = section(c.stays), section(c.told)
			}
			if got := p.again(t, true); got != want {
				t.Errorf("with -f it said\n%s\nwant\n%s", got, want)
			}
			if got := p.again(t, false); got != after {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}
