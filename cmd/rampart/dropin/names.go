package dropin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"rampart/cli"
	"rampart/cmd/rampart/home"
	"rampart/fsm/pbs"
)

// World is what the daemons need of the program that they are part of.
type World struct {
	Program string   // the path of the program itself, beside which the shim is
	Args    []string // as the process was started, the name included
	Stdout  io.Writer
	Stderr  io.Writer
	Logger  func(name string) *slog.Logger
	Address func() string // of this host, by which others reach it
}

// ErrUsage is a command line that the daemon does not know.
var ErrUsage = errors.New("wrong usage")

// A program is one of PBS's names.
type program struct {
	letters string // getopt's; those that are not in knows are PBS's, and refused
	knows   string
	idle    string // taken, for start scripts that have them, and without effect
	usage   string
	run     func(context.Context, *call) error
	user    bool // it is no daemon: PBS has it in bin
}

func programs() map[string]program {
	return map[string]program{
		"pbs_server": {letters: "a:A:Cd:e:F:L:M:Np:R:S:s:t:", knows: "CdLNpt", idle: "eFMRSs", usage: "pbs_server [-d PBS_HOME] [-L LOGFILE] [-N] [-p port] [-t hot|warm]", run: serverMain},
		"pbs_mom": {
			letters: "a:c:C:d:L:M:n:NpQrR:s:S:x", knows: "cCdLMNpQrsx", idle: "anRS", run: momMain,
			usage: "pbs_mom [-c CONFIGFILE] [-C CHECKPOINTS] [-d PBS_HOME] [-L LOGFILE] [-M port] [-N] [-p|-r] [-s list|show NAME|insert NAME FILE|replace NAME FILE|remove NAME]",
		},
		"pbs_sched": {letters: "a:c:d:I:L:nNp:S:t:", knows: "dINn", idle: "acpSt", usage: "pbs_sched [-d PBS_HOME] [-I NAME] [-N]", run: schedMain},
		"pbs_comm":  {letters: "d:Nr:t:", knows: "dNt", idle: "r", usage: "pbs_comm [-d PBS_HOME] [-N]", run: commMain},
		"pbsfs":     {letters: "c:dD:eg:I:ps:t", knows: "cdegIpst", usage: "pbsfs [-I NAME] [-p|-t|-e|-d|-g NAME|-c NAME NAME|-s NAME USAGE]", run: sharesMain},
		"pbs_probe": {letters: "fv", knows: "fv", usage: "pbs_probe [-f] [-v]", run: probeMain},
		"printjob":  {letters: "as", knows: "as", usage: "printjob [-a|-s] JOB|FILE...", run: printJobMain, user: true},
	}
}

// Knows reports whether a program of this name is one of the daemons.
func Knows(name string) bool {
	_, ok := programs()[name]
	return ok
}

// Names returns the names of the programs that PBS has in sbin: the daemons, and programs that look after them.
func Names() []string { return named(false) }

// UserNames returns the names of the programs that PBS has in bin.
func UserNames() []string { return named(true) }

func named(user bool) []string {
	all := slices.Sorted(maps.Keys(programs()))
	return slices.DeleteFunc(all, func(name string) bool { return programs()[name].user != user })
}

// A call is one command line, taken apart.
type call struct {
	world    World
	name     string
	options  map[string]string // of those that were given, the last value
	operands []string
	home     home.Home
}

func (c *call) has(letter string) bool {
	_, ok := c.options[letter]
	return ok
}

// Run is the daemon of that name until ctx ends, or its way into the background: then it
// returns when the daemon is up.
func Run(ctx context.Context, w World, name string) error {
	p := programs()[name]
	args := w.Args[1:]
	if len(args) == 1 && args[0] == "--version" {
		_, err := io.WriteString(w.Stdout, pbs.VersionLine)
		return err
	}
	c, err := p.parse(w, name, args)
	if err != nil {
		return err
	}
	unix.Umask(0o022) // logs are for everybody, whoever starts the daemon
	if err := home.LimitCore(); err != nil && name != "pbsfs" {
		fmt.Fprintf(w.Stderr, "%s: %v\n", name, err) // no reason not to start
	}
	return p.run(ctx, c)
}

// absolute refuses paths that would mean something else in the background.
func (c *call) absolute(letters ...string) error {
	for _, letter := range letters {
		if path, given := c.options[letter]; given && !filepath.IsAbs(path) {
			return fmt.Errorf("%w: -%s %s: want an absolute path", ErrUsage, letter, path)
		}
	}
	return nil
}

func (p program) parse(w World, name string, args []string) (*call, error) {
	line := cli.Grammar{Letters: p.letters}.Parse(args)
	faults := slices.Clone(line.Faults)
	c := &call{world: w, name: name, options: map[string]string{}, operands: line.Operands, home: home.Home(home.Of())}
	for _, o := range line.Options {
		if !strings.Contains(p.knows+p.idle, o.Name) {
			faults = append(faults, fmt.Sprintf("option -%s is not supported", o.Name))
		}
		c.options[o.Name] = o.Value
	}
	if edits := name == "pbs_mom" && c.has("s"); len(c.operands) > 0 && !edits && name != "pbsfs" && !p.user {
		faults = append(faults, fmt.Sprintf("%q is one word too many", c.operands[0]))
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%w: %s\nusage: %s", ErrUsage, strings.Join(faults, "; "), p.usage)
	}
	if dir := c.options["d"]; c.has("d") && name != "pbsfs" {
		c.home = home.Home(dir)
	}
	return c, nil
}
