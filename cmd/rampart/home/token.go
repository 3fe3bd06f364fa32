package home

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"rampart/transport"
)

// TokenVariable is the variable of the environment with a token: an enrolment token for what
// joins a cluster, a login token for the user commands. Neither takes the other's.
const TokenVariable = "RAMPART_TOKEN"

// DropToken takes a token out of the environment: a daemon has its identity, and what it starts,
// jobs and hooks above all, is not to find one.
func DropToken() error { return os.Unsetenv(TokenVariable) }

// maxToken bounds what is read for a token.
const maxToken = 16 << 10

// ErrNoToken is the want of an enrolment token.
var ErrNoToken = errors.New("--token-file is missing: the file with the token, or - for standard input; or set " + TokenVariable)

// A TokenSource says where an enrolment token comes from; that of the environment is taken if
// nothing else is named.
type TokenSource struct {
	Text   string // of the command line
	Path   string // of a file, "-" is Stdin
	Stdin  io.Reader
	Stderr io.Writer // for warnings
	Mounts string    // the table of mounted file systems; "" is this process's own
}

// Token returns the token. Warned of is what lets others of the host have it: a command line in
// a process list that all may read, or a file.
func (s TokenSource) Token() (string, error) {
	if s.Text != "" && s.Path != "" {
		return "", errors.New("--token and --token-file: one of them")
	}
	text, err := s.read()
	if err != nil {
		return "", err
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", ErrNoToken
	}
	return text, nil
}

func (s TokenSource) read() (string, error) {
	switch s.Path {
	case "":
	case "-":
		return readToken(s.Stdin, "standard input")
	default:
		return s.readFile()
	}
	if s.Text == "" {
		return fromEnvironment()
	}
	if s.processesAreOpen() {
		fmt.Fprintln(s.Stderr, "warning: --token shows the token to every user of this host, in its list of processes; use --token-file PATH, or - for standard input, or "+TokenVariable)
	}
	return s.Text, nil
}

// fromEnvironment leaves where it is what is no enrolment token: it is for the caller's commands.
func fromEnvironment() (string, error) {
	text := os.Getenv(TokenVariable)
	if strings.TrimSpace(text) == "" {
		return "", nil
	}
	if !transport.Enrols(text) {
		return "", errors.New(TokenVariable + " holds no enrolment token; a login token lets nobody join: see rampart token create")
	}
	return text, DropToken()
}

func (s TokenSource) readFile() (string, error) {
	f, err := os.OpenFile(s.Path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(s.Stderr, "warning: --token-file %s may be read by others (mode %04o); make it 0600\n", s.Path, info.Mode().Perm())
	}
	return readToken(f, s.Path)
}

func readToken(r io.Reader, name string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("--token-file: read %s: %w", name, err)
	}
	if len(data) > maxToken {
		return "", fmt.Errorf("--token-file: %s has more than %d bytes and is no token", name, maxToken)
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return "", fmt.Errorf("--token-file: %s is empty", name)
	}
	return string(data), nil
}

// processesAreOpen reports whether users see the command lines of each other's processes: where
// /proc is mounted without hidepid, which is the rule.
func (s TokenSource) processesAreOpen() bool {
	mounts := s.Mounts
	if mounts == "" {
		text, err := os.ReadFile("/proc/self/mounts")
		if err != nil {
			return false // no /proc, no list
		}
		mounts = string(text)
	}
	open := false
	for line := range strings.Lines(mounts) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[1] != "/proc" || fields[2] != "proc" {
			continue
		}
		open = true // the last one counts: it lies over those before
		for option := range strings.SplitSeq(fields[3], ",") {
			if how, ok := strings.CutPrefix(option, "hidepid="); ok && how != "0" && how != "off" {
				open = false
			}
		}
	}
	return open
}
