package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A site is an installation for PBS's tools: PBS_EXEC and hosts of its own, each a
// namespace with a network, a name and a pbs.conf.
type site struct {
	dir, exec string
}

// A siteHost is one host of a site. Commands run on it find nothing but its pbs.conf.
type siteHost struct {
	site *site
	name string
	home string
	init int // the process that holds its namespaces
}

// newSite installs the programs as `make install` does, or skips the test where the
// machine has no namespaces to offer.
func newSite(t *testing.T) *site {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("hosts of their own need root")
	}
	for _, tool := range []string{"unshare", "nsenter", "ip", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("hosts of their own need %s: %v", tool, err)
		}
	}
	if out, err := exec.Command("unshare", "--net", "--uts", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("this machine makes no namespaces: %v: %s", err, out)
	}
	dir, err := os.MkdirTemp("", "rs-") // short: paths of sockets are below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the site's folder is kept: %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	s := &site{dir: dir, exec: filepath.Join(dir, "pbs")}
	programs, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	install := exec.Command("make", "-o", "build", "install", "PREFIX="+s.exec, "PROGRAMS="+programs)
	install.Dir = filepath.Join("..", "..")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// host makes a host with an address; conf are lines of its pbs.conf besides the folders.
func (s *site) host(t *testing.T, name, hosts, conf string) *siteHost {
	t.Helper()
	h := &siteHost{site: s, name: name, home: filepath.Join(s.dir, name, "home")}
	if err := os.MkdirAll(filepath.Dir(h.home), 0o755); err != nil {
		t.Fatal(err)
	}
	names := filepath.Join(s.dir, name, "hosts")
	text := fmt.Sprintf("PBS_EXEC=%s\nPBS_HOME=%s\nSITE_KEY=kept\n%s", s.exec, h.home, conf)
	if err := os.WriteFile(names, []byte(hosts), 0o644); err != nil {
		t.Fatal(err)
	}
	h.conf(t, text)
	cmd := exec.Command("unshare", "--net", "--uts", "--mount", "--propagation", "private", "sh", "-c",
		`mount --bind "$0" /etc/hosts && hostname "$1" && ip link set lo up && echo ready && exec sleep 1000`, names, name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.init = cmd.Process.Pid
	t.Cleanup(func() {
		h.endAll()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("host %s: %q, %v", name, line, err)
	}
	return h
}

func (h *siteHost) confPath() string { return filepath.Join(h.site.dir, h.name, "pbs.conf") }

// conf writes the pbs.conf as a whole.
func (h *siteHost) conf(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(h.confPath(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// join connects two hosts by a wire.
func join(t *testing.T, a *siteHost, aAddress string, b *siteHost, bAddress string) {
	t.Helper()
	a.ok(t, "ip", "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(b.init))
	for h, address := range map[*siteHost]string{a: aAddress, b: bAddress} {
		h.ok(t, "ip", "addr", "add", address, "dev", "eth0")
		h.ok(t, "ip", "link", "set", "eth0", "up")
	}
}

// A said is what came of a command.
type said struct {
	out, err string
	status   int
}

// run runs a command on the host, in an environment with PBS's variables of these alone.
// It waits until nothing holds the command's output any more.
func (h *siteHost) run(t *testing.T, variables []string, args ...string) said {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "nsenter", append([]string{"-t", strconv.Itoa(h.init), "-n", "-u", "-m", "--"}, args...)...)
	cmd.Dir = h.site.dir
	cmd.Env = append([]string{
		"PATH=" + filepath.Join(h.site.exec, "bin") + ":" + os.Getenv("PATH"), "HOME=" + h.site.dir, "PBS_CONF_FILE=" + h.confPath(),
	}, variables...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, isExit := err.(*exec.ExitError); err != nil && !isExit {
		t.Fatalf("%s: %v: %v", h.name, args, err)
	}
	return said{strings.TrimSuffix(stdout.String(), "\n"), strings.TrimSuffix(stderr.String(), "\n"), cmd.ProcessState.ExitCode()}
}

// ok runs a command that succeeds, and returns what it prints.
func (h *siteHost) ok(t *testing.T, args ...string) string {
	t.Helper()
	s := h.run(t, nil, args...)
	if s.status != 0 {
		t.Fatalf("%s: %s: status %d\n%s\n%s", h.name, strings.Join(args, " "), s.status, s.out, s.err)
	}
	return s.out
}

func (h *siteHost) initScript() string { return filepath.Join(h.site.exec, "libexec", "pbs_init.d") }

func (h *siteHost) sbin(name string) string {
	return filepath.Join(h.site.exec, "sbin", name)
}

// pid returns the process of the daemon from its lock file; it must run under that name.
func (h *siteHost) pid(t *testing.T, lock, name string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.home, lock))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatalf("%s: %v", lock, err)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(line), name) {
		t.Fatalf("%s: process %d is %q: %v", lock, pid, line, err)
	}
	return pid
}

// logged waits for a line in a log of the host.
func (h *siteHost) logged(t *testing.T, folder, line string) {
	t.Helper()
	waitFor(t, patience, line+" in "+folder, func() error {
		text := h.log(folder)
		if !strings.Contains(text, line) {
			return fmt.Errorf("%s", text[max(0, len(text)-2000):])
		}
		return nil
	})
}

func (h *siteHost) log(folder string) string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(h.home, folder, "[0-9]*"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		all.Write(text)
	}
	return all.String()
}

// prints waits until a command prints the words.
func (h *siteHost) prints(t *testing.T, words string, args ...string) {
	t.Helper()
	waitFor(t, patience, words+" by "+strings.Join(args, " "), func() error {
		if s := h.run(t, nil, args...); !strings.Contains(s.out, words) {
			return fmt.Errorf("status %d\n%s\n%s", s.status, s.out, s.err)
		}
		return nil
	})
}

// endAll kills what still lives in the namespaces of the host.
func (h *siteHost) endAll() {
	ours, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", h.init))
	if err != nil {
		return
	}
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net")
	for _, link := range links {
		if at, err := os.Readlink(link); err != nil || at != ours {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(link, "/")[2]); err == nil && pid != h.init {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
