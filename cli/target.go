package cli

import (
	"bufio"
	"cmp"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultConf is the site's configuration unless PBS_CONF_FILE names another file.
const DefaultConf = "/etc/pbs.conf"

const (
	defaultHome = "/var/spool/rampart"
	defaultPort = "15001"
)

// A Target is where a command may ask: the gateways of this host first, then the
// replicas themselves.
type Target struct {
	Server   string   // as users call it, for messages
	Names    []string // of the server or of hosts of it, as the user gave them
	Replicas []string // the same as HOST:PORT
	Gateways []string // Unix sockets, tried in order
	Home     string   // PBS_HOME
	Timeout  string   // seconds that a command may wait for an answer, as it was said; see Budget
	Operand  bool     // the last of Names was read in an operand
}

// Meaning returns the target for an operand that names a server: only that server may answer.
func (t Target) Meaning(name string) Target {
	t.Server, t.Names, t.Operand = hostOf(name), []string{name}, true
	return t
}

// Or returns the target for a job of a server that its identifier names: that, or one of those
// that are meant anyway, for a server has more names than one.
func (t Target) Or(name string) Target {
	if len(t.Names) > 0 && !slices.Contains(t.Names, name) {
		t.Names, t.Operand = append(slices.Clone(t.Names), name), true
	}
	return t
}

// Target resolves who to ask: --server (empty if not given), PBS_GATEWAY,
// PBS_DEFAULT, pbs.conf. The environment wins over the file. A name picks the gateway
// of the replica that is called so; whether a gateway's cluster goes by another name, only
// its replicas can tell.
func (e *Env) Target(server string) Target {
	conf := e.conf()
	t := Target{Home: conf["PBS_HOME"], Timeout: conf[timeoutKey]}
	t.Names = e.servers(server, conf)
	for _, name := range t.Names {
		t.Replicas = append(t.Replicas, withPort(name, conf["PBS_BATCH_SERVICE_PORT"]))
		t.Server = cmp.Or(t.Server, hostOf(name))
	}
	t.Gateways = e.gateways(t.Home)
	t.Server = cmp.Or(t.Server, e.hostname())
	i := slices.IndexFunc(t.Gateways, func(path string) bool { return filepath.Base(path) == t.Server+".sock" })
	if server != "" && i >= 0 {
		t.Gateways = t.Gateways[i : i+1]
	}
	return t
}

func (e *Env) servers(flag string, conf map[string]string) []string {
	named := list(conf["PBS_SERVER"])
	if flag != "" {
		named = []string{flag}
	} else if d := e.Getenv("PBS_DEFAULT"); d != "" {
		named = list(d)
	}
	return hosts(conf, named)
}

// hosts puts the host of PBS_SERVER_HOST_NAME in the place of the server that PBS_SERVER calls so, for such a name need not be
// one of a host.
func hosts(conf map[string]string, named []string) []string {
	host := list(conf["PBS_SERVER_HOST_NAME"])
	if len(host) == 0 || !slices.Equal(named, list(conf["PBS_SERVER"])) {
		return named
	}
	return host
}

// gateways returns the sockets of PBS_GATEWAY, else all under PBS_HOME/run.
func (e *Env) gateways(home string) []string {
	if g := e.Getenv("PBS_GATEWAY"); g != "" {
		return slices.DeleteFunc(strings.Split(g, ","), func(path string) bool { return path == "" })
	}
	return e.running(home, ".sock")
}

// TaskSockets returns the sockets at which the moms of this host take what programs of jobs
// ask, for somebody outside of a job, and the folder where they are looked for.
func (e *Env) TaskSockets() (dir string, paths []string) {
	home := e.conf()["PBS_HOME"]
	return runDir(home), e.running(home, ".tasks")
}

func runDir(home string) string { return filepath.Join(home, "run") }

// running lists the files of a kind in PBS_HOME/run, sorted.
func (e *Env) running(home, suffix string) []string {
	dir := runDir(home)
	f, err := e.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil
	}
	entries, _ := d.ReadDir(-1) // what could be read before an error will do
	var paths []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), suffix) {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	slices.Sort(paths)
	return paths
}

// conf reads the client configuration; a missing file is an empty one, unknown
// keys are ignored, and variables of the environment win.
func (e *Env) conf() map[string]string {
	conf := map[string]string{}
	if f, err := e.Open(cmp.Or(e.Getenv("PBS_CONF_FILE"), DefaultConf)); err == nil {
		defer f.Close()
		conf = ParseConf(f)
	}
	for _, key := range []string{"PBS_HOME", outputHostKey, "PBS_SERVER", "PBS_SERVER_HOST_NAME", "PBS_BATCH_SERVICE_PORT", timeoutKey} {
		if v := e.Getenv(key); v != "" {
			conf[key] = v
		}
	}
	conf["PBS_HOME"] = cmp.Or(conf["PBS_HOME"], defaultHome)
	conf["PBS_BATCH_SERVICE_PORT"] = cmp.Or(conf["PBS_BATCH_SERVICE_PORT"], defaultPort)
	return conf
}

// OutputHost returns the host to which the output of jobs goes that are submitted here without naming one, "" for this host:
// PBS_OUTPUT_HOST_NAME of pbs.conf.
func (e *Env) OutputHost() string { return e.conf()[outputHostKey] }

const outputHostKey = "PBS_OUTPUT_HOST_NAME"

// ParseConf reads the lines KEY=value of a pbs.conf; others are passed over.
func ParseConf(r io.Reader) map[string]string {
	conf := map[string]string{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		key, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if ok && !strings.HasPrefix(key, "#") {
			conf[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return conf
}

func (e *Env) hostname() string {
	h, err := e.Hostname()
	if err != nil {
		return "localhost"
	}
	return h
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

func withPort(name, port string) string {
	if _, _, err := net.SplitHostPort(name); err == nil {
		return name
	}
	return net.JoinHostPort(strings.Trim(name, "[]"), port)
}

func hostOf(name string) string {
	if h, _, err := net.SplitHostPort(name); err == nil {
		return h
	}
	return name
}
