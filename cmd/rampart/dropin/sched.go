package dropin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rampart/cmd/rampart/home"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/daylog"
)

// The files of sched_priv and the defaults in PBS_EXEC/etc.
const (
	configFile   = "sched_config"
	holidaysFile = "holidays"
)

var schedFiles = map[string]string{
	configFile: "pbs_sched_config", "resource_group": "pbs_resource_group", holidaysFile: "pbs_holidays", "dedicated_time": "pbs_dedicated",
}

// retryEvery is how long settings wait that no replica would take.
const retryEvery = 2 * time.Second

// A settingsServer holds the scheduler's attributes: the replica of this host.
type settingsServer interface {
	// attributes returns what list sched shows, by name.
	attributes(ctx context.Context) (map[string]string, error)
	// set sets one, or unsets it with the empty value; errRefused: it will never be taken.
	set(ctx context.Context, name, value string) error
	close()
}

// A scheduler is the process pbs_sched: the leader does the work; it takes the files of
// sched_priv into the replicated state and reports who schedules.
type scheduler struct {
	call   *call
	name   string // of the scheduler
	priv   string // sched_priv
	log    journal
	server settingsServer
	want   *schedConfig // not yet taken over
	sum    string       // of the files that it is of
	last   string       // what was reported
	tried  time.Time
	first  string   // the sched_priv whose lock the process holds all its life
	lock   *os.File // of another sched_priv to which it has moved
}

func schedMain(ctx context.Context, c *call) error {
	server := newSchedServer(c)
	defer server.close()
	s := &scheduler{call: c, name: state.DefaultScheduler, priv: c.home.SchedPriv(), server: server}
	logs, lock := c.home.SchedLogs(), c.home.SchedLock()
	if c.further() {
		var err error
		if logs, err = s.furtherOne(ctx); err != nil {
			return err
		}
		lock = filepath.Join(s.priv, filepath.Base(lock))
	}
	s.first = s.priv
	s.log = newJournal(logs, "pbs_sched", "Sched", daylog.SchedMask)
	defer s.log.Close()
	err := c.run(ctx, duty{lock: lock, begin: s.begin, again: s.reconfigure, pipe: s.broken, look: s.look, every: retryEvery})
	if c.has("N") && err == nil {
		s.end()
		s.log.say(pbs.LogSystem, "pbs_sched", "Is down")
	}
	return err
}

// begin reads the files. What this host's files said before they were last taken over, and
// what they say as they are installed, is no wish: settings that were made since by qmgr, or
// on another replica's host, stay.
func (s *scheduler) begin(ctx context.Context) {
	s.log.say(pbs.LogSystem, "pbs_sched", fmt.Sprintf("pbs_sched started, pid = %d", os.Getpid()))
	s.rise(ctx)
	if err := s.install(); err != nil {
		s.log.say(pbs.LogError, "sched_priv", err.Error())
	}
	texts, sum, err := s.read()
	if err != nil {
		s.log.say(pbs.LogError, "sched_priv", err.Error())
		return
	}
	known, _ := os.ReadFile(s.notePath())
	if sum != strings.TrimSpace(string(known)) && (len(known) > 0 || !s.installed(texts)) {
		s.wish(ctx, texts, sum)
	}
	s.look(ctx)
}

// reconfigure is SIGHUP: the files say what is to be. The log is opened again, for whoever has moved its file.
func (s *scheduler) reconfigure(ctx context.Context) {
	_ = s.log.Close()
	s.log.say(pbs.LogSched, "reconfigure", "Scheduler is reconfiguring")
	if err := s.install(); err != nil {
		s.log.say(pbs.LogError, "sched_priv", err.Error())
	}
	texts, sum, err := s.read()
	if err != nil {
		s.log.say(pbs.LogError, "sched_priv", err.Error())
		return
	}
	s.wish(ctx, texts, sum)
}

// broken is SIGPIPE, which ends nothing.
func (s *scheduler) broken() {
	_ = s.log.Write(time.Now(), pbs.LogSched, "Req", "sig_pipe", "We've received a sigpipe: trying to continue")
}

// installed reports whether the files say what those of the installation do. Comments say nothing.
func (s *scheduler) installed(texts map[string]string) bool {
	for name, text := range texts {
		if standard, _ := os.ReadFile(s.standard(name)); !slices.Equal(lines(text), lines(string(standard))) {
			return false
		}
	}
	return true
}

// lines returns the lines that are no comments.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && line[0] != '*' {
			all = append(all, line)
		}
	}
	return all
}

// sayings returns the lines that are no comments as the value of an attribute.
func sayings(text string) string {
	all := lines(text)
	for i, line := range all {
		all[i] = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t,'\"", r) }), " ")
	}
	return strings.Join(all, ",")
}

// wish takes the files for what is wished, and tries to have it.
func (s *scheduler) wish(ctx context.Context, texts map[string]string, sum string) {
	c := parseSched(texts)
	for _, fault := range c.faults {
		s.log.say(pbs.LogError, configFile, fault)
	}
	for _, fault := range c.passedOver {
		_ = s.log.Write(time.Now(), pbs.LogSched, "Fil", holidaysFile, fault)
	}
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if idle(name, c.values[name]) {
			s.log.say(pbs.LogSched, configFile, fmt.Sprintf("%s: %s has no effect", name, c.values[name]))
		}
	}
	s.want, s.sum, s.tried = &c, sum, time.Time{}
	s.take(ctx)
}

// parseSched reads all files of sched_priv.
func parseSched(texts map[string]string) schedConfig {
	c := parseSchedConfig(texts[configFile])
	texts = maps.Clone(texts)
	texts[holidaysFile], c.passedOver = goodHolidays(texts[holidaysFile])
	for name, text := range texts {
		if value := sayings(text); name != configFile && value != "" {
			c.values[name] = value
		}
	}
	return c
}

// A Setting is what the files of a sched_priv say of an attribute of the scheduler.
type Setting struct{ Name, Value string }

// ReadSched reads the files of a sched_priv, of which any may be missing: the settings that are attributes, by name, and what
// of the files cannot be read or has no effect.
func ReadSched(dir string) (all []Setting, faults []string, err error) {
	texts := map[string]string{}
	for name := range schedFiles {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		texts[name] = string(data)
	}
	c := parseSched(texts)
	faults = c.faults
	for _, fault := range c.passedOver {
		faults = append(faults, holidaysFile+": "+fault)
	}
	for _, name := range slices.Sorted(maps.Keys(c.values)) {
		if idle(name, c.values[name]) {
			faults = append(faults, fmt.Sprintf("%s: %s has no effect", name, c.values[name]))
		} else if _, known := attr.Lookup(attr.Sched, name); known {
			all = append(all, Setting{name, c.values[name]})
		}
	}
	return all, faults, nil
}

// idle reports whether a setting says something that has no effect here.
func idle(name, value string) bool {
	_, known := attr.Lookup(attr.Sched, name)
	known = known || name == "mom_resources" // whatever a mom's configuration names counts
	return !known && value != "" && !strings.EqualFold(value, settings[name])
}

// look retries what was not taken, and reports who schedules when that changes.
func (s *scheduler) look(ctx context.Context) {
	if time.Since(s.tried) < lookEvery && s.want == nil {
		return
	}
	s.take(ctx)
	s.tried = time.Now()
	now, err := s.server.attributes(ctx)
	text := "no replica answers"
	switch {
	case errors.Is(err, pbs.Refuse(pbs.UnknownScheduler)):
		text = pbs.UnknownScheduler.Text() + " " + s.name
	case err == nil:
		s.furtherNow(ctx, now)
		text = fmt.Sprintf("the replica on %s schedules, state %s", cmp.Or(now["sched_host"], "no host"), now["state"])
	}
	if ctx.Err() == nil && text != s.last {
		s.last = text
		s.log.say(pbs.LogSystem, "pbs_sched", text)
	}
}

// take has the settings of the file become those of the state, and says what has changed.
func (s *scheduler) take(ctx context.Context) {
	if s.want == nil {
		return
	}
	now, err := s.server.attributes(ctx)
	if err != nil {
		return // look tries again, and reports it
	}
	names := slices.Collect(maps.Keys(settings))
	for name := range settings {
		names = append(names, attr.PrimeTime+name) // those that are attributes
	}
	for name := range schedFiles {
		if name != configFile {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		def, known := attr.Lookup(attr.Sched, name)
		value, said := s.want.values[name]
		if !known || !said && now[name] == def.WhenUnset() {
			continue
		}
		if canonical, err := def.Parse(value); said && err == nil && canonical == cmp.Or(now[name], def.WhenUnset()) {
			continue
		}
		switch err := s.server.set(ctx, name, value); {
		case errors.Is(err, errRefused):
			s.log.say(pbs.LogError, configFile, fmt.Sprintf("%s: %s: %v", name, value, err))
		case err != nil:
			return
		default:
			s.log.say(pbs.LogSched, "reconfigure", fmt.Sprintf("%s = %s (was %s)", name, cmp.Or(value, "unset"), cmp.Or(now[name], "unset")))
		}
	}
	if err := home.Replace(s.notePath(), []byte(s.sum+"\n")); err != nil {
		s.log.say(pbs.LogError, configFile, err.Error())
	}
	s.want = nil
}

// install lays the installed files where there are none.
func (s *scheduler) install() error {
	var faults []error
	for name := range schedFiles {
		path := s.path(name)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		text, err := os.ReadFile(s.standard(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // not installed with PBS's files
		}
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// read returns the files, and a sum of them all; one that is missing is empty.
func (s *scheduler) read() (texts map[string]string, sum string, err error) {
	texts = map[string]string{}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(schedFiles)) {
		data, err := os.ReadFile(s.path(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		texts[name] = string(data)
		fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
	}
	return texts, hex.EncodeToString(h.Sum(nil)), nil
}

func (s *scheduler) path(name string) string { return filepath.Join(s.priv, name) }

// notePath returns where the sum of the files is kept that were last taken over.
func (s *scheduler) notePath() string { return s.path("." + configFile + ".taken") }

// standard returns the path of an installed file.
func (s *scheduler) standard(name string) string {
	exec := cmp.Or(home.Conf("PBS_EXEC"), filepath.Dir(filepath.Dir(s.call.world.Program)))
	return filepath.Join(exec, "etc", schedFiles[name])
}
