package sim

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"rampart/cmd/rampart/dev"
	"rampart/fsm/acct"
	"rampart/fsm/pbs"
)

// A scenario is a file that has been read.
type scenario struct {
	file    string
	archive *txtar.Archive

	clock    int       // its line; 0: there is none
	begin    time.Time // in the zone of the cluster
	zone     string
	replicas int  // 0: it does not say
	older    bool // the replicas are builds that know a feature level less
	class    pbs.RTTClass
	hosts    []dev.Mom
	steps    []step
}

// A step is one line that does something.
type step struct {
	line  int
	text  string
	not   bool // it is to fail
	verb  string
	words []word // after the verb
}

// Defaults of a scenario.
var (
	standardBegin = time.Date(2005, 4, 22, 15, 0, 0, 0, time.UTC)
	standardHost  = "hosta:ncpus=4,mem=8gb"
)

// earliest is the first moment of virtual time for which there is a cluster: a bubble begins in 2000.
var earliest = time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)

// at names a place in a file.
func at(file string, line int, err error) error { return fmt.Errorf("%s:%d: %w", file, line, err) }

// parse reads a scenario. All faults are told.
func parse(file string, data []byte) (*scenario, error) {
	s := &scenario{file: file, archive: txtar.Parse(data), begin: standardBegin, zone: "UTC"}
	var faults []error
	for i, line := range strings.Split(string(s.archive.Comment), "\n") {
		if err := s.add(i+1, line); err != nil {
			faults = append(faults, at(file, i+1, err))
		}
	}
	if len(s.hosts) == 0 {
		m, err := dev.ReadMom(standardHost)
		s.hosts, faults = append(s.hosts, m), append(faults, err)
	}
	line := 1 + strings.Count(string(s.archive.Comment), "\n")
	for i, f := range s.archive.Files {
		if err := s.check(i, f.Name); err != nil {
			faults = append(faults, at(file, line, err))
		}
		line += 1 + strings.Count(string(f.Data), "\n")
	}
	return s, errors.Join(faults...)
}

// add takes one line.
func (s *scenario) add(number int, line string) error {
	words, err := split(line)
	if err != nil || len(words) == 0 {
		return err
	}
	st := step{line: number, text: strings.TrimSpace(line)}
	if text, _ := words[0].plain(); text == "!" {
		st.not, words = true, words[1:]
	}
	if len(words) == 0 {
		return errors.New("want a word behind the exclamation mark")
	}
	verb, ok := words[0].plain()
	if !ok {
		return errors.New("a line begins with a word of the language, not with a variable")
	}
	st.verb, st.words = verb, words[1:]
	if declare, ok := declarations[verb]; ok {
		return s.declare(st, declare)
	}
	v, ok := verbs[verb]
	if !ok {
		return unknown(verb)
	}
	if st.not && !v.negatable {
		return fmt.Errorf("%s cannot be negated", verb)
	}
	if n := len(st.words); n < v.least || v.most >= 0 && n > v.most {
		return fmt.Errorf("usage: %s", v.usage)
	}
	if v.check != nil {
		if err := v.check(st); err != nil {
			return err
		}
	}
	s.steps = append(s.steps, st)
	return nil
}

func unknown(verb string) error {
	if isCommand(verb) {
		return fmt.Errorf("unknown word %q: a command stands behind exec, or behind as USER", verb)
	}
	return fmt.Errorf("unknown word %q", verb)
}

// A declaration says what there is before anything happens.
type declaration func(s *scenario, line int, words []string) error

var declarations = map[string]declaration{
	"clock":    (*scenario).setClock,
	"replicas": (*scenario).setReplicas,
	"host":     (*scenario).addHost,
}

func (s *scenario) declare(st step, do declaration) error {
	if len(s.steps) > 0 {
		return fmt.Errorf("%s comes before everything that happens", st.verb)
	}
	var words []string
	for _, w := range st.words {
		text, ok := w.plain()
		if !ok {
			return fmt.Errorf("%s knows no variables", st.verb)
		}
		words = append(words, text)
	}
	if st.not {
		return fmt.Errorf("%s cannot be negated", st.verb)
	}
	return do(s, st.line, words)
}

// setClock takes MOMENTZ, or MOMENT ZONE.
func (s *scenario) setClock(line int, words []string) error {
	if s.clock > 0 {
		return fmt.Errorf("clock: it was set in line %d", s.clock)
	}
	if len(words) == 0 || len(words) > 2 {
		return errors.New("usage: clock YYYY-MM-DDThh:mm:ssZ, or clock YYYY-MM-DDThh:mm:ss ZONE")
	}
	text, zone := words[0], "UTC"
	if len(words) == 2 {
		zone = words[1]
	} else if !strings.HasSuffix(text, "Z") {
		return fmt.Errorf("clock: %q ends in no Z, and no zone stands behind it", text)
	}
	if !acct.IsZone(zone) {
		return fmt.Errorf("clock: there is no time zone %q", zone)
	}
	begin, err := time.ParseInLocation(moment, strings.TrimSuffix(text, "Z"), acct.Zone(zone))
	if err != nil || len(words) == 2 && strings.HasSuffix(text, "Z") {
		return fmt.Errorf("clock: %q is no moment YYYY-MM-DDThh:mm:ss", text)
	}
	if begin.Before(earliest) {
		return fmt.Errorf("clock: virtual time begins %s", earliest.Format(moment+"Z"))
	}
	s.clock, s.begin, s.zone = line, begin, zone
	return nil
}

// moment is how times are written.
const moment = "2006-01-02T15:04:05"

func (s *scenario) setReplicas(_ int, words []string) error {
	if s.replicas > 0 {
		return errors.New("replicas: it was said before")
	}
	if n := len(words) - 1; n > 0 && words[n] == "older" {
		s.older, words = true, words[:n]
	}
	if len(words) == 2 {
		var err error
		if s.class, err = pbs.ParseRTTClass(words[1]); err != nil {
			return fmt.Errorf("replicas: %w", err)
		}
		words = words[:1]
	}
	n, err := 0, error(nil)
	if len(words) == 1 {
		n, err = strconv.Atoi(words[0])
	}
	if len(words) != 1 || err != nil || n < 1 || n > mostReplicas {
		return fmt.Errorf("usage: replicas N [CLASS] [older], from 1 to %d", mostReplicas)
	}
	s.replicas = n
	return nil
}

// mostReplicas is how many a cluster may have.
const mostReplicas = 7

// addHost takes NAME [RES=VALUE...] [/VNODE [RES=VALUE...]]..., or what --mom of rampart dev takes.
func (s *scenario) addHost(_ int, words []string) error {
	if len(words) == 0 {
		return errors.New("usage: host NAME [RES=VALUE...] [/VNODE [RES=VALUE...]]")
	}
	spec, valued := words[0], strings.Contains(words[0], ":")
	for _, w := range words[1:] {
		switch {
		case strings.HasPrefix(w, "/"):
			spec, valued = spec+w, strings.Contains(w, ":")
		case valued:
			spec += "," + w
		default:
			spec, valued = spec+":"+w, true
		}
	}
	m, err := dev.ReadMom(spec)
	if err != nil {
		return fmt.Errorf("host: %w", err)
	}
	if !hostName.MatchString(m.Name) || replicaName.MatchString(m.Name) || slices.Contains(reserved, m.Name) {
		return fmt.Errorf("host: %q cannot be the name of an execution host", m.Name)
	}
	for _, old := range s.hosts {
		for _, v := range old.Vnodes {
			for _, n := range m.Vnodes {
				if n.Name == v.Name {
					return fmt.Errorf("host: there is a host or vnode %q already", n.Name)
				}
			}
		}
	}
	for i, v := range m.Vnodes {
		for _, n := range m.Vnodes[:i] {
			if n.Name == v.Name {
				return fmt.Errorf("host: there is a host or vnode %q already", n.Name)
			}
		}
	}
	s.hosts = append(s.hosts, m)
	return nil
}

var (
	hostName    = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9_]*$`)
	replicaName = regexp.MustCompile(`^(s|c)[0-9]+$`)
	// reserved are names of hosts and folders of every world.
	reserved = []string{login, "admin", "liar", "people", "leader", "follower", filesFolder, workFolder, tmpFolder}
)

// home returns the replica or host whose home a file HOST:PATH of the archive is for.
func home(name string) (host, file string, ok bool) { return strings.Cut(name, ":") }

// check refuses names of files that lead elsewhere, come twice, or are for nobody's home.
func (s *scenario) check(n int, name string) error {
	for _, f := range s.archive.Files[:n] {
		if f.Name == name {
			return fmt.Errorf("there are two files %q", name)
		}
	}
	file := name
	if host, rest, ok := home(name); ok {
		file = rest
		known := slices.ContainsFunc(s.hosts, func(m dev.Mom) bool { return m.Name == host })
		if !known && !replicaName.MatchString(host) {
			return fmt.Errorf("file %q is for the home of %s, which is no host", name, host)
		}
	}
	if file == "" || path.IsAbs(file) || path.Clean(file) != file || file == ".." || strings.HasPrefix(file, "../") {
		return fmt.Errorf("file %q leads elsewhere", name)
	}
	return nil
}
