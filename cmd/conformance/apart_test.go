package conformance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"rampart/cmd/devrun"
)

// A land is hosts with a network between them that can be cut: network namespaces at one
// bridge. They share their files, so that a command reaches every gateway.
type land struct {
	*devrun.Cluster
	prefix string
	hosts  []string
	procs  map[string]*exec.Cmd
}

// newLand makes the hosts, addressed in their order.
func newLand(t *testing.T, hosts ...string) *land {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can make network namespaces")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp("", "rc-")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.Mkdir(filepath.Join(dir, "homes"), 0o755)); err != nil {
		t.Fatal(err)
	}
	l := &land{prefix: filepath.Base(dir), hosts: hosts, procs: make(map[string]*exec.Cmd), Cluster: &devrun.Cluster{Dir: dir}}
	t.Cleanup(func() { l.end(t) })
	if out, err := exec.CommandContext(t.Context(), "ip", "netns", "add", l.space("net")).CombinedOutput(); err != nil {
		t.Skipf("make a network namespace: %v\n%s", err, out)
	}
	l.ip(t, "net", "link", "add", "br0", "type", "bridge")
	l.ip(t, "net", "link", "set", "br0", "up")
	for _, h := range hosts {
		mustRun(t, "ip", "netns", "add", l.space(h))
		l.ip(t, h, "link", "set", "lo", "up")
		l.ip(t, h, "link", "add", "e0", "type", "veth", "peer", "name", h, "netns", l.space("net"))
		l.ip(t, h, "addr", "add", l.address(h)+"/24", "dev", "e0")
		l.ip(t, h, "link", "set", "e0", "up")
		l.ip(t, "net", "link", "set", h, "master", "br0", "up")
	}
	for _, program := range []string{"rampart", "pbs"} {
		if err := os.Symlink(filepath.Join(bin, program), filepath.Join(dir, "bin", program)); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, filepath.Join(bin, "rampart"), "links", "--dir", filepath.Join(dir, "bin"))
	l.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "PBS_CONF_FILE="+filepath.Join(dir, "pbs.conf"))
	l.Env = through(l.Cluster, hosts...).Env
	return l
}

func (l *land) space(host string) string { return l.prefix + "-" + host }

func (l *land) address(host string) string {
	for i, h := range l.hosts {
		if h == host {
			return fmt.Sprintf("10.77.0.%d", i+1)
		}
	}
	return ""
}

func (l *land) ip(t *testing.T, space string, args ...string) {
	t.Helper()
	mustRun(t, "ip", append([]string{"-n", l.space(space)}, args...)...)
}

// command is a program of ours on a host, with the host's home.
func (l *land) command(host string, args ...string) *exec.Cmd {
	cmd := exec.Command("ip", append([]string{"netns", "exec", l.space(host), filepath.Join(bin, "rampart")}, args...)...)
	cmd.Env = append(l.Env, "PBS_HOME="+l.Home(host))
	return cmd
}

func (l *land) run(t *testing.T, host string, args ...string) {
	t.Helper()
	if out, err := l.command(host, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %v\n%s", host, args, err, out)
	}
}

// start starts the daemon of a host.
func (l *land) start(t *testing.T, host, daemon string) {
	t.Helper()
	log, err := os.Create(filepath.Join(l.Dir, host+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := l.command(host, daemon)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.procs[host] = cmd
}

func (l *land) end(t *testing.T) {
	for _, p := range l.procs {
		_ = p.Process.Signal(syscall.SIGKILL)
		_ = p.Wait()
	}
	for _, h := range append([]string{"net"}, l.hosts...) {
		_ = exec.Command("ip", "netns", "del", l.space(h)).Run()
	}
	if t.Failed() {
		t.Logf("the hosts' folder is kept: %s", l.Dir)
		return
	}
	if err := os.RemoveAll(l.Dir); err != nil {
		t.Error(err)
	}
}

// found makes a cluster of three replicas and a login host.
func (l *land) found(t *testing.T) {
	t.Helper()
	at := func(h string) []string {
		return []string{"--host", h, "--listen", l.address(h) + ":15001", "--gossip", l.address(h) + ":15003"}
	}
	l.run(t, "s1", append([]string{"server", "init", "--name", "srv"}, at("s1")...)...)
	l.start(t, "s1", "server")
	token := func(role, host string) (out string) {
		waitFor(t, patience, "a token", func() (err error) {
			out, err = through(l.Cluster, "s1").Output(t.Context(), "rampart", "token", "create", "--role", role, "--host", host)
			return err
		})
		return out
	}
	first := l.address("s1") + ":15001"
	for _, h := range replicas[1:] {
		l.run(t, h, append([]string{"server", "join", "--token", token("replica", h), "--replica", first}, at(h)...)...)
		l.start(t, h, "server")
	}
	waitFor(t, 2*patience, "three voters", func() error { return agree(t.Context(), l.Cluster) })
	l.run(t, "login", "mom", "join", "--token", token("submit", "login"), "--replica", first, "--host", "login")
	l.start(t, "login", "mom")
	waitFor(t, patience, "the login host to answer", func() error {
		_, err := through(l.Cluster, "login").Output(t.Context(), "qstat")
		return err
	})
	if _, err := through(l.Cluster, "s1").Output(t.Context(), "qmgr", "-c", "set server acl_roots = root"); err != nil {
		t.Fatal(err)
	}
}

// TestMovesOn_PartitionedReplica: the leader's network is cut, and everybody's connections to
// it hang: the login host's, the other replicas', and those of its own people.
func TestMovesOn_PartitionedReplica(t *testing.T) {
	t.Parallel()
	l := newLand(t, "s1", "s2", "s3", "login")
	l.found(t)
	victim := leads(t, l.Cluster)
	movesOn(t, l.Cluster, map[string]*devrun.Cluster{"login-before": through(l.Cluster, "login")}) // its connections are there
	l.ip(t, "net", "link", "set", victim, "down")
	gateways := from(l.Cluster, victim)
	delete(gateways, "a-mom")
	gateways["login"] = through(l.Cluster, "login")
	movesOn(t, l.Cluster, gateways)
	l.ip(t, "net", "link", "set", victim, "up")
	waitFor(t, 2*patience, "replicas that agree", func() error { return agree(t.Context(), l.Cluster) })
}
