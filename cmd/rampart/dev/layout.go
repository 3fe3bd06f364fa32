package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A layout is the folder of a cluster and the names of what is in it.
type layout struct{ dir string }

func (l layout) home(name string) string    { return filepath.Join(l.dir, "homes", name) }
func (l layout) tmp(name string) string     { return filepath.Join(l.home(name), "tmp") }
func (l layout) pidFile(name string) string { return filepath.Join(l.dir, "run", name+".pid") }
func (l layout) logFile(name string) string { return filepath.Join(l.dir, "logs", name+".log") }
func (l layout) bin() string                { return filepath.Join(l.dir, "bin") }
func (l layout) conf() string               { return filepath.Join(l.dir, "pbs.conf") }
func (l layout) env() string                { return filepath.Join(l.dir, "env.sh") }
func (l layout) plan() string               { return filepath.Join(l.dir, "dev.json") }
func (l layout) control() string            { return filepath.Join(l.dir, "run", "dev.sock") }
func (l layout) gateway(name string) string {
	return filepath.Join(l.home(name), "run", name+".sock")
}

// maxSocketPath is what Linux allows for the path of a Unix socket.
const maxSocketPath = 107

// create makes the folders. Job owners must reach homes and scripts, so all may enter.
func (l layout) create() error {
	if n := len(l.gateway("a-name-of-16-lett")); n > maxSocketPath {
		return fmt.Errorf("--dir %s: too long by %d characters for the sockets in it", l.dir, n-maxSocketPath)
	}
	if err := l.ours(); err != nil {
		return err
	}
	for _, d := range []string{l.dir, filepath.Join(l.dir, "run"), filepath.Join(l.dir, "logs"), filepath.Join(l.dir, "homes"), l.bin()} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("--dir %s: %w", l.dir, err)
		}
		if err := os.Chmod(d, 0o755); err != nil {
			return fmt.Errorf("--dir %s: %w", l.dir, err)
		}
	}
	return nil
}

// ours refuses a folder of something else: a cluster opens its folder to everybody and
// fills it.
func (l layout) ours() error {
	if _, err := os.Stat(l.plan()); err == nil {
		return nil
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--dir %s: %w", l.dir, err)
	}
	for _, e := range entries {
		switch e.Name() {
		case "bin", "dev.lock", "etc", "homes", "logs", "run": // of a start that was broken off
		default:
			return fmt.Errorf("--dir %s: holds %s, so it is no cluster's; name an empty folder or a new one", l.dir, e.Name())
		}
	}
	return nil
}

// A plan is what the cluster in a folder consists of; it is kept there, so that a
// later start finds the same cluster.
type plan struct {
	Version  int      `json:"version"`
	Server   string   `json:"server"`
	Net      string   `json:"net"`            // first three bytes of every address
	Port     int      `json:"port,omitempty"` // the first one of those at ::1; 0: the addresses are in Net
	Replicas []string `json:"replicas"`
	Moms     []Mom    `json:"moms"`
}

const planVersion = 1

func (l layout) load() (plan, error) {
	data, err := os.ReadFile(l.plan())
	if err != nil {
		return plan{}, err
	}
	var p plan
	if err := json.Unmarshal(data, &p); err != nil {
		return plan{}, fmt.Errorf("read %s: %w", l.plan(), err)
	}
	if p.Version != planVersion {
		return plan{}, fmt.Errorf("read %s: version %d, want %d", l.plan(), p.Version, planVersion)
	}
	return p, nil
}

func (l layout) save(p plan) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(l.plan(), append(data, '\n'), 0o644)
}

// loadOrMake returns the plan of an earlier cluster in the folder, or a new one.
func (l layout) loadOrMake(o Options) (p plan, again bool, err error) {
	p, err = l.load()
	if err == nil {
		return p, true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return plan{}, false, err
	}
	p = plan{Version: planVersion, Server: o.Server, Moms: o.Moms}
	if o.IPv6 {
		p.Port, err = freePorts()
	} else {
		p.Net, err = freeNet(o.Replicas + len(o.Moms))
	}
	if err != nil {
		return plan{}, false, err
	}
	for i := range o.Replicas {
		p.Replicas = append(p.Replicas, "s"+strconv.Itoa(i+1))
	}
	return p, false, l.save(p)
}

// address returns the loopback address of a process: replicas from .1 on, moms from .101 on.
func (p plan) address(name string) netip.Addr {
	if p.Port > 0 {
		return netip.IPv6Loopback()
	}
	for i, r := range p.Replicas {
		if r == name {
			return netip.MustParseAddr(p.Net + "." + strconv.Itoa(1+i))
		}
	}
	for i, m := range p.Moms {
		if m.Name == name {
			return netip.MustParseAddr(p.Net + "." + strconv.Itoa(101+i))
		}
	}
	return netip.Addr{}
}

func (p plan) isReplica(name string) bool {
	for _, r := range p.Replicas {
		if r == name {
			return true
		}
	}
	return false
}

// names returns all processes, replicas first.
func (p plan) names() []string {
	all := append([]string(nil), p.Replicas...)
	for _, m := range p.Moms {
		all = append(all, m.Name)
	}
	return all
}

// variables returns the environment in which commands find this cluster.
func (l layout) variables(p plan) []string {
	var gateways []string
	for _, r := range p.Replicas {
		gateways = append(gateways, l.gateway(r))
	}
	return []string{
		"PATH=" + l.bin() + ":" + os.Getenv("PATH"),
		"PBS_CONF_FILE=" + l.conf(),
		"PBS_EXEC=" + l.dir,
		"PBS_HOME=" + l.home(p.Replicas[0]),
		"PBS_GATEWAY=" + strings.Join(gateways, ","),
		"RAMPART_DEV=" + l.dir,
	}
}

// writeEnvironment writes env.sh and pbs.conf.
func (l layout) writeEnvironment(p plan) error {
	var b strings.Builder
	b.WriteString("# Source this file to work with the cluster in this folder.\n")
	fmt.Fprintf(&b, "export PATH=%s:\"$PATH\"\n", quote(l.bin()))
	for _, v := range l.variables(p)[1:] {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, quote(value))
	}
	if err := os.WriteFile(l.env(), []byte(b.String()), 0o644); err != nil {
		return err
	}
	servers := make([]string, len(p.Replicas))
	for i, r := range p.Replicas {
		servers[i] = p.address(r).String()
		if p.Port > 0 {
			servers[i] = p.listen(r)
		}
	}
	conf := fmt.Sprintf("PBS_EXEC=%s\nPBS_HOME=%s\nPBS_SERVER=%s\n", l.dir, l.home(p.Replicas[0]), strings.Join(servers, ","))
	return os.WriteFile(l.conf(), []byte(conf), 0o644)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
