package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
)

func testEnv(files fstest.MapFS, environ ...string) (*Env, *bytes.Buffer, *bytes.Buffer) {
	stdout, stderr := new(bytes.Buffer), new(bytes.Buffer)
	return &Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Environ:  func() []string { return environ },
		Hostname: func() (string, error) { return "login1", nil },
		Open:     func(name string) (fs.File, error) { return files.Open(strings.TrimPrefix(name, "/")) },
	}, stdout, stderr
}

// echo prints what it was given, as urfave/cli handed it over.
func echo() *Command {
	return &Command{
		Name: "echo", Usage: "usage: echo\n", UsageStatus: 2, Grammar: Grammar{Letters: "hvl:N:", Long: map[string]bool{"server": true}},
		Run: func(_ context.Context, env *Env, o *Options) error {
			fmt.Fprintf(env.Stdout, "h=%v v=%v l=%q N=%q server=%q dashed=%v %q raw=%q\n",
				o.All("h"), o.Has("v"), o.All("l"), o.Last("N"), o.Last("server"), o.Dashed, o.Operands, o.Raw)
			return nil
		},
	}
}

func TestMain_ThroughUrfave(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"echo|-hv", `h=[] v=true l=[] N="" server="" dashed=false [] raw=["-hv"]`},
		{"echo|-lselect=1,ncpus=2|x|-l|b|-N|", `h=[] v=false l=["select=1,ncpus=2" "b"] N="" server="" dashed=false ["x"] raw=["-lselect=1,ncpus=2" "x" "-l" "b" "-N" ""]`},
		{"pbs|echo|--server=s1|--|-h|--version", `h=[] v=false l=[] N="" server="s1" dashed=true ["-h" "--version"] raw=["--server=s1" "--" "-h" "--version"]`},
		{"echo|help|-N|--help", `h=[] v=false l=[] N="--help" server="" dashed=false ["help"] raw=["help" "-N" "--help"]`},
	} {
		env, stdout, stderr := testEnv(nil)
		status := Main(t.Context(), env, strings.Split(c.args, "|"), []*Command{echo()})
		got := strings.Replace(strings.TrimSpace(stdout.String()), "h=[ ]", "h=[]", 1)
		got = strings.Replace(got, "h=[true]", "h=[]", 1)
		if status != 0 || got != c.want || stderr.Len() > 0 {
			t.Errorf("%s: status %d, %s\n got %s\nwant %s", c.args, status, stderr, got, c.want)
		}
	}
}

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestMain_OutputThatDoesNotArrive: a command that cannot say what it was asked for has
// not succeeded.
func TestMain_OutputThatDoesNotArrive(t *testing.T) {
	for _, args := range []string{"echo|x", "echo|--version", "pbs|completion|bash"} {
		env, _, stderr := testEnv(nil)
		env.Stdout = full{}
		status := Main(t.Context(), env, strings.Split(args, "|"), []*Command{echo()})
		if status != 1 || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%s: status %d, %q", args, status, stderr)
		}
	}
}

func TestMain_NamesAndUsage(t *testing.T) {
	for _, c := range []struct {
		args, stdout, stderr string
		status               int
	}{
		{"/opt/bin/echo|--version", "pbs_version = 23.06.06\n", "", 0},
		{"pbs|--version", "pbs_version = 23.06.06\n", "", 0},
		{"echo|-Z|-N", "", "echo: invalid option -- 'Z'\necho: option requires an argument -- 'N'\nusage: echo\n", 2},
		{"nosuch|x", "", "pbs: unknown command: nosuch\nusage: pbs COMMAND [argument ...]\ncommands: echo\n", 2},
		{"pbs", "", "usage: pbs COMMAND [argument ...]\ncommands: echo\n" + Environment, 2},
		{"pbs|completion", "", "usage: pbs completion bash\n", 2},
	} {
		env, stdout, stderr := testEnv(nil)
		status := Main(t.Context(), env, strings.Split(c.args, "|"), []*Command{echo()})
		if status != c.status || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%s: status %d, stdout %q, stderr %q", c.args, status, stdout, stderr)
		}
	}
}

func TestCompletion(t *testing.T) {
	env, stdout, _ := testEnv(nil)
	if status := Main(t.Context(), env, []string{"pbs", "completion", "bash"}, []*Command{echo()}); status != 0 {
		t.Fatalf("status %d", status)
	}
	for _, want := range []string{"complete -o default -F _pbs_complete echo\n", `echo) echo "--version -N -h -l --server -v" ;;`} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is missing from\n%s", want, stdout)
		}
	}
}

func TestTarget(t *testing.T) {
	named := "PBS_HOME=/none\nPBS_SERVER=batch\nPBS_SERVER_HOST_NAME=s1\n"
	conf := "PBS_HOME=/srv\n# PBS_SERVER=no\nPBS_SERVER=s1:17001, s2\nNEVER_HEARD=1\n"
	files := fstest.MapFS{
		"etc/pbs.conf":      {Data: []byte(conf)},
		"named.conf":        {Data: []byte(named)},
		"other.conf":        {Data: []byte("PBS_HOME=/else\n")},
		"srv/run/s2.sock":   {},
		"srv/run/s1.sock":   {},
		"srv/run/s1.pid":    {},
		"else/run/mom.sock": {},
	}
	for _, c := range []struct {
		name, server string
		environ      []string
		want         Target
	}{
		{"pbs.conf", "", nil, Target{Server: "s1", Home: "/srv", Names: []string{"s1:17001", "s2"}, Replicas: []string{"s1:17001", "s2:15001"}, Gateways: []string{"/srv/run/s1.sock", "/srv/run/s2.sock"}}},
		{"PBS_CONF_FILE", "", []string{"PBS_CONF_FILE=/other.conf"}, Target{Server: "login1", Home: "/else", Names: []string{}, Gateways: []string{"/else/run/mom.sock"}}},
		{"PBS_DEFAULT", "", []string{"PBS_DEFAULT=s9"}, Target{Server: "s9", Home: "/srv", Names: []string{"s9"}, Replicas: []string{"s9:15001"}, Gateways: []string{"/srv/run/s1.sock", "/srv/run/s2.sock"}}},
		{"PBS_GATEWAY", "", []string{"PBS_GATEWAY=/a.sock,,/b.sock,"}, Target{Server: "s1", Home: "/srv", Names: []string{"s1:17001", "s2"}, Replicas: []string{"s1:17001", "s2:15001"}, Gateways: []string{"/a.sock", "/b.sock"}}},
		{"environment over file", "", []string{"PBS_SERVER=s3", "PBS_HOME=/none"}, Target{Server: "s3", Home: "/none", Names: []string{"s3"}, Replicas: []string{"s3:15001"}}},
		{"PBS_SERVER_HOST_NAME", "", []string{"PBS_CONF_FILE=/named.conf"}, Target{Server: "s1", Home: "/none", Names: []string{"s1"}, Replicas: []string{"s1:15001"}}},
		{"PBS_SERVER_HOST_NAME for its name alone", "", []string{"PBS_CONF_FILE=/named.conf", "PBS_DEFAULT=s3"}, Target{Server: "s3", Home: "/none", Names: []string{"s3"}, Replicas: []string{"s3:15001"}}},
		{"--server", "s2", nil, Target{Server: "s2", Home: "/srv", Names: []string{"s2"}, Replicas: []string{"s2:15001"}, Gateways: []string{"/srv/run/s2.sock"}}},
		{"--server with port", "[::1]:99", nil, Target{Server: "::1", Home: "/srv", Names: []string{"[::1]:99"}, Replicas: []string{"[::1]:99"}, Gateways: []string{"/srv/run/s1.sock", "/srv/run/s2.sock"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, _, _ := testEnv(files, c.environ...)
			if got := env.Target(c.server); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err    error
		text   string
		status int
	}{
		{pbs.Refuse(pbs.Unauthorized), "Unauthorized Request ", 159},
		{&pbs.Error{Code: pbs.SystemError}, "Server returned error 15010", 162},
		{pbs.Refuse(pbs.UnknownHost), "Access from host not allowed, or unknown host", 160},
		{pbs.Refuse(pbs.NoServer), "cannot connect to server srv (errno=15008)", 160},
		{fmt.Errorf("dial: %w", syscall.ECONNREFUSED), "cannot connect to server srv (errno=111)", 111},
		{connect.NewError(connect.CodeUnavailable, errors.New("gone")), "cannot connect to server srv (errno=15010): gone", 162},
		{&tls.CertificateVerificationError{Err: errors.New("unknown authority")}, "server srv is not of this cluster: tls: failed to verify certificate: unknown authority", 1},
		{context.DeadlineExceeded, "outcome unknown: the request may yet take effect", 102},
		{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "write /dev/stdout: no space left on device", 1},
		{errors.New("odd"), "odd", 1},
	} {
		f := Explain(Located("srv", c.err))
		if f.Text != c.text || f.Status != c.status {
			t.Errorf("%v: got %q, %d; want %q, %d", c.err, f.Text, f.Status, c.text, c.status)
		}
	}
}
