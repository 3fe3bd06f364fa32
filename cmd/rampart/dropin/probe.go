package dropin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"rampart/cli/lsf"
	"rampart/cli/pbs"
	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/mom"
	"rampart/cmd/rampart/server"
)

// A kind is what stands in a tree.
type kind string

// The kinds of what a probe looks for.
const (
	aFolder  kind = "folder"
	aFile    kind = "file"
	aProgram kind = "program"
	aLink    kind = "link"
)

// A wanted is what must stand somewhere below PBS_EXEC or PBS_HOME, and who may do what with it.
type wanted struct {
	path   string
	kind   kind
	secret bool   // nobody else may read it; else nobody else may write it
	target string // of a link: what it must lead to, relative to its folder
	maybe  bool   // it need not be there
}

// A probe looks at the installation of this host: whether all is there, whose it is, and that nobody else may change it.
type probe struct {
	exec, home string
	owner      uint32 // of the installation: root
	fix        bool
	problems   map[string][]string // by their category
	fixed      []string
	looked     []string
}

// categories are the kinds of problems, in the order in which they are told.
var categories = []string{"Missing Files", "Wrong Links", "Ownership", "Permissions"}

// errProblems is the end of a probe that has found some, which it has told.
var errProblems = errors.New("problems were found")

// probeMain looks at the files of the installation, and with -f mends what can be mended: pbs_probe.
func probeMain(_ context.Context, c *call) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("must be run as root")
	}
	p := &probe{
		exec: home.Conf("PBS_EXEC"), home: string(c.home), fix: c.has("f"), problems: map[string][]string{},
	}
	if p.exec == "" {
		p.exec = filepath.Dir(filepath.Dir(c.world.Program))
	}
	p.all()
	return p.tell(c.world.Stdout, c.has("v"))
}

func (p *probe) all() {
	for _, w := range p.installation() {
		p.look(p.exec, w, p.owner)
	}
	owner := p.owner
	var info unix.Stat_t
	if unix.Stat(p.home, &info) == nil {
		owner = info.Uid // replicas may have an account of their own
	}
	for _, w := range p.spool() {
		p.look(p.home, w, owner)
	}
}

// installation returns what stands below PBS_EXEC.
func (p *probe) installation() (all []wanted) {
	for _, dir := range []string{"", "bin", "sbin", "libexec", "etc", "lib", "lib/python", "lib/python/altair", "lib/python/altair/pbs"} {
		all = append(all, wanted{path: dir, kind: aFolder})
	}
	for _, name := range []string{"bin/rampart", "bin/pbs", "libexec/pbs_init.d"} {
		all = append(all, wanted{path: name, kind: aProgram})
	}
	for _, name := range []string{
		"etc/pbs.sh", "etc/pbs_sched_config", "etc/pbs_resource_group", "etc/pbs_holidays", "etc/pbs_dedicated", "lib/python/altair/pbs_ifl.py",
		"lib/python/altair/pbs/__init__.py",
	} {
		all = append(all, wanted{path: name, kind: aFile})
	}
	names := slices.Concat(pbs.LocalNames(), pbs.AbsentNames(false))
	for _, c := range slices.Concat(pbs.Commands(), lsf.Commands()) {
		names = append(names, c.Name)
	}
	for _, name := range names {
		all = append(all, wanted{path: "bin/" + name, kind: aLink, target: "pbs"})
	}
	for _, name := range UserNames() {
		all = append(all, wanted{path: "bin/" + name, kind: aLink, target: "rampart"})
	}
	for _, name := range Names() {
		all = append(all, wanted{path: "sbin/" + name, kind: aLink, target: "../bin/rampart"})
	}
	for _, name := range pbs.AbsentNames(true) {
		all = append(all, wanted{path: "sbin/" + name, kind: aLink, target: "../bin/pbs"})
	}
	return all
}

// spool returns what stands below PBS_HOME, of the daemons that this host has.
func (p *probe) spool() (all []wanted) {
	add := func(k kind, secret, maybe bool, paths ...string) {
		for _, path := range paths {
			all = append(all, wanted{path: path, kind: k, secret: secret, maybe: maybe})
		}
	}
	add(aFolder, false, false, "")
	if _, err := server.Load(home.Home(p.home)); !errors.Is(err, fs.ErrNotExist) {
		add(aFolder, false, false, "server_priv", "server_priv/raft", "server_priv/accounting", "server_priv/tls", "server_logs")
		add(aFile, true, false, "server_priv/replica.json", "server_priv/raft/log.db", "server_priv/tls/leaf.key", "server_priv/tls/gossip.key")
		add(aFile, true, true, "server_priv/tls/ca.key", "server_priv/.server.lock")
	}
	if _, err := mom.Load(home.Home(p.home)); !errors.Is(err, fs.ErrNotExist) {
		add(aFolder, false, false, "mom_priv", "mom_priv/tls")
		add(aFile, true, false, "mom_priv/mom.json", "mom_priv/tls/leaf.key", "mom_priv/tls/gossip.key")
		add(aFile, true, true, "mom_priv/spool.json", "mom_priv/orders.log", "mom_priv/.mom.lock")
		add(aFolder, false, true, "mom_priv/jobs", "mom_priv/reports", "mom_logs", "spool", "undelivered", "aux")
		add(aFile, false, true, "mom_priv/config")
	}
	add(aFolder, false, true, "run", "server_logs", "sched_logs", "comm_logs", "mom_logs", "server_priv", "sched_priv", "mom_priv")
	add(aFile, false, true, "pbs_environment")
	return all
}

// look looks at one path.
func (p *probe) look(root string, w wanted, owner uint32) {
	path := filepath.Join(root, w.path)
	if slices.Contains(p.looked, path) {
		return
	}
	p.looked = append(p.looked, path)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && w.maybe:
		return
	case errors.Is(err, fs.ErrNotExist):
		p.problem("Missing Files", fmt.Sprintf("%s: this %s is missing", path, w.kind), func() error { return w.make(path) })
		return
	case err != nil:
		p.problem("Missing Files", err.Error(), nil)
		return
	case w.kind == aLink:
		p.lookLink(path, w, info)
		return
	case info.IsDir() != (w.kind == aFolder):
		p.problem("Missing Files", fmt.Sprintf("%s: this is not a %s", path, w.kind), nil)
		return
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && sys.Uid != owner && sys.Uid != 0 {
		p.problem("Ownership", fmt.Sprintf("%s: belongs to uid %d, must belong to uid %d", path, sys.Uid, owner), func() error {
			return os.Lchown(path, int(owner), -1)
		})
	}
	must, mustNot := fs.FileMode(0o400), fs.FileMode(0o022)
	switch {
	case w.secret:
		mustNot = 0o077
	case w.kind == aProgram:
		must = 0o555
	case w.kind == aFolder:
		must = 0o500
	}
	if is := info.Mode().Perm(); is&mustNot != 0 || is&must != must {
		want := is&^mustNot | must
		p.problem("Permissions", fmt.Sprintf("%s: mode is %04o, must be %04o", path, is, want), func() error { return os.Chmod(path, want) })
	}
}

func (p *probe) lookLink(path string, w wanted, info fs.FileInfo) {
	target, err := os.Readlink(path)
	if info.Mode()&fs.ModeSymlink == 0 || err != nil {
		p.problem("Wrong Links", fmt.Sprintf("%s: this is no link to %s", path, w.target), nil)
		return
	}
	if is, err := os.Stat(path); err == nil {
		want, err := os.Stat(filepath.Join(filepath.Dir(path), w.target))
		if err == nil && os.SameFile(is, want) {
			return
		}
	}
	p.problem("Wrong Links", fmt.Sprintf("%s: leads to %s, must lead to %s", path, target, w.target), func() error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return w.make(path)
	})
}

// make makes what is missing, if that can be made out of nothing.
func (w wanted) make(path string) error {
	switch w.kind {
	case aFolder:
		return os.Mkdir(path, 0o755)
	case aLink:
		return os.Symlink(w.target, path)
	}
	return errors.New("it comes with the installation")
}

// problem notes a problem, or mends it.
func (p *probe) problem(category, text string, mend func() error) {
	if p.fix && mend != nil {
		err := mend()
		if err == nil {
			p.fixed = append(p.fixed, text)
			return
		}
		text += fmt.Sprintf(" (not fixed: %v)", err)
	}
	p.problems[category] = append(p.problems[category], text)
}

// tell prints what was found, in PBS's form.
func (p *probe) tell(out io.Writer, verbose bool) error {
	var name unix.Utsname
	_ = unix.Uname(&name)
	fmt.Fprintf(out, "\n\n====== System Information =======\n\nsysname=%s\nnodename=%s\nrelease=%s\nversion=%s\nmachine=%s\n\n",
		word(name.Sysname[:]), word(name.Nodename[:]), word(name.Release[:]), word(name.Version[:]), word(name.Machine[:]))
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(out, "\n====== %s =======\n\n", title)
		}
		for _, line := range lines {
			fmt.Fprintln(out, line)
		}
	}
	if verbose {
		section("Infrastructure Files Checked", p.looked)
	}
	section("Fixed", p.fixed)
	for _, c := range categories {
		section(c, p.problems[c])
	}
	if len(p.problems) > 0 {
		return errProblems
	}
	_, err := fmt.Fprint(out, "\n=== No PBS Infrastructure Problems Detected ===\n")
	return err
}

func word(text []byte) string { return unix.ByteSliceToString(text) }
