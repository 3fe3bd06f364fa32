package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rampart/chaos/world"
	"rampart/cmd/rampart/dev"
	"rampart/mom/hook"
)

// Options say how scenarios are played.
type Options struct {
	Replicas int // 0: as many as the file says, or one
	Seed     uint64
	Update   bool // what cmp got becomes what it wants
	Verbose  bool
	Out      io.Writer   // for what Verbose tells
	Quit     func() bool // somebody has had enough; nil: nobody has
}

// Interrupted reports whether somebody has had enough.
func (o Options) Interrupted() bool { return o.Quit != nil && o.Quit() }

// A Report is what came of a scenario.
type Report struct {
	Virtual time.Duration // how far the clock has come
	Took    time.Duration
	Updated bool // the file was written anew
}

// A run is a scenario that is being played.
type run struct {
	s        *scenario
	o        Options
	files    *files
	world    *world.World
	programs programs

	env            map[string]string
	stdin          []byte
	stdout, stderr string
	status         int
	last           string    // command
	first          int       // the replica that commands ask first
	lurks          step      // of the last ambush
	since          time.Time // virtual time was moved on last
	fatal          int       // of what ended by itself, so many were told
	out            io.Writer
	hooks          *hook.Elsewhere

	met     sync.Mutex
	waiters []*waiter

	putOff sync.WaitGroup
	over   chan struct{} // closed when what is put off does not happen any more
	late   atomic.Pointer[error]
}

// Play plays the scenario of a file. An error that is a *Failure is of one of its lines; others are of the
// file, or of the machine.
func Play(file string, o Options) (Report, error) {
	begun := time.Now()
	data, err := os.ReadFile(file)
	if err != nil {
		return Report{}, err
	}
	s, err := parse(file, data)
	if err != nil {
		return Report{}, err
	}
	dir, err := scratch()
	if err != nil {
		return Report{}, err
	}
	played.Store(&dir)
	defer Clear()
	defer setProcess(s.begin.Location(), o.Seed, filepath.Join(dir, workFolder))()
	r := &run{s: s, o: o, files: &files{s: s, dir: dir, updates: map[string]string{}}, env: map[string]string{}, out: o.Out, hooks: hook.NewElsewhere(prompt)}
	defer r.hooks.Close()
	if r.out == nil {
		r.out = io.Discard
	}
	var report Report
	// A bubble wants a test, which is never asked whether it has failed.
	synctest.Test(new(testing.T), func(*testing.T) { report.Virtual, err = r.play() })
	if err == nil && len(r.files.updates) > 0 {
		report.Updated, err = true, r.files.update()
	}
	report.Took = time.Since(begun)
	return report, err
}

// lead is how long before its clock a scenario's cluster is started.
const lead = time.Minute

// play plays the scenario in a bubble.
func (r *run) play() (time.Duration, error) {
	if wait := time.Until(r.s.begin.Add(-lead)); wait > 0 {
		<-time.After(wait)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.over = make(chan struct{})
	err := r.start(ctx)
	if r.world != nil {
		defer r.world.Stop()
	}
	defer r.putOff.Wait()
	defer close(r.over)
	if err != nil {
		return 0, r.unstarted(err)
	}
	r.since = r.now()
	for _, st := range r.s.steps {
		if r.o.Interrupted() {
			err = ErrInterrupted
		} else {
			err = r.step(ctx, st)
		}
		if errors.Is(err, errStop) {
			err = nil
			break
		}
		if err != nil {
			err = r.explain(st, err)
			break
		}
	}
	if err == nil {
		err = cmp.Or(r.unsprung(), r.unmet())
	}
	return time.Since(r.s.begin), err
}

// errStop ends a scenario before its end.
var errStop = errors.New("stop")

// step does what a line says, and everything that follows from it at once.
func (r *run) step(ctx context.Context, st step) error {
	if r.o.Verbose {
		fmt.Fprintf(r.out, "%s %s:%d: %s\n", r.now().Format(moment), r.s.file, st.line, st.text)
	}
	words := make([]string, len(st.words))
	for i, w := range st.words {
		words[i] = w.expand(r.value)
	}
	verb := verbs[st.verb]
	var err error
	if verb.command != nil {
		err = verb.command(r, ctx, st, words)
	} else {
		err = verb.do(r, st, words)
	}
	synctest.Wait()
	if err != nil {
		return err
	}
	if err := cmp.Or(r.badProgram(), r.lateFault()); err != nil {
		return err
	}
	if ended := r.world.Fatal(); len(ended) > r.fatal {
		r.fatal = len(ended)
		return errors.New(ended[len(ended)-1])
	}
	return nil
}

// value returns that of a variable; NAME@R is it as a part of a pattern that matches nothing else.
func (r *run) value(name string) string {
	if plain, ok := strings.CutSuffix(name, "@R"); ok {
		return regexp.QuoteMeta(r.env[plain])
	}
	return r.env[name]
}

// start brings up the cluster, and lets time go on to where the clock of the scenario is.
func (r *run) start(ctx context.Context) error {
	replicas := r.s.replicas
	if r.o.Replicas > 0 {
		replicas = r.o.Replicas
	}
	c := world.Config{
		Size: world.Size{Servers: max(1, replicas), Older: r.s.older}, Class: r.s.class, Seed: r.o.Seed, Dir: r.files.dir, Plain: true, Submit: []string{login},
		Chance: draw, Program: r.programs.of, Elsewhere: r.hooks, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, m := range r.s.hosts {
		c.Hosts = append(c.Hosts, world.Host{Name: m.Name, Vnodes: m.Definition(), CPUs: processors(m)})
	}
	var err error
	if r.world, err = world.New(c); err != nil {
		return err
	}
	r.files.world = r.world
	if err := r.files.furnish(); err != nil {
		return err
	}
	if err := r.world.Start(ctx); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"WORK": workAs, "SERVER": serverName, "USER": "root", "ANN": "ann", "BOB": "bob", "FROM": login,
	} {
		r.env[name] = value
	}
	if r.command(ctx, "root", []string{"qmgr", "-c", "set server timezone = " + r.s.zone}); r.status != 0 {
		return errors.New(strings.TrimSpace(r.stderr))
	}
	r.stdout, r.stderr, r.last = "", "", ""
	if late := time.Since(r.s.begin); late > 0 {
		return fmt.Errorf("it took %s", lead+late)
	}
	return r.until(r.s.begin)
}

// processors returns how many a host has for what its vnodes offer.
func processors(m dev.Mom) int {
	n := 0
	for _, v := range m.Vnodes {
		for _, res := range v.Resources {
			if cpus, err := strconv.Atoi(res.Value); err == nil && res.Name == "ncpus" {
				n += cpus
			}
		}
	}
	return n
}

// Names within a world.
const (
	login       = "login" // the host where the commands run
	serverName  = "srv"
	workFolder  = "work" // what the commands see as workAs
	filesFolder = "files"
	tmpFolder   = "tmp"
	workAs      = "/sim"
)
