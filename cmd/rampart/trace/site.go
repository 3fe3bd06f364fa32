package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rampart/cmd/rampart/dropin"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// qmgrFiles are the names under which a folder has what qmgr prints, first those of pbs_snapshot: what others need comes first.
var qmgrFiles = []string{
	"server/qmgr_pr.out", "server/qmgr_ps.out", "scheduler/qmgr_psched.out", "node/qmgr_pn_default.out", "hook/qmgr_ph_default.out",
}

// qmgrSuffix ends the names of files with lines for qmgr, which are read in the order of their names.
const qmgrSuffix = ".qmgr"

// schedFolders are where a folder has sched_config, resource_group, holidays and dedicated_time.
var schedFolders = []string{".", "sched_priv"}

// A site is what a folder says of a cluster.
type site struct {
	dir    string
	lines  int // for qmgr
	faults []Trouble
	hooks  map[string]bool // that were told of
}

// configure makes the machine what the folder of a site says: queues, limits, vnodes, policy. An empty name is a new cluster.
func (m *machine) configure(dir string) (*site, error) {
	s := &site{dir: dir}
	if dir == "" {
		return s, nil
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	sh := newShell(m)
	for _, name := range files {
		if err := s.qmgr(m, sh, name); err != nil {
			return nil, err
		}
	}
	found := len(files) > 0
	for _, sub := range schedFolders {
		some, err := s.sched(m, filepath.Join(dir, sub))
		if err != nil {
			return nil, err
		}
		found = found || some
	}
	if !found {
		return nil, fmt.Errorf("%s has neither files *%s nor a sched_config", dir, qmgrSuffix)
	}
	return s, s.raise(m)
}

func (s *site) files() ([]string, error) {
	var all []string
	for _, name := range qmgrFiles {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil {
			all = append(all, filepath.Join(s.dir, name))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	others, err := filepath.Glob(filepath.Join(s.dir, "*"+qmgrSuffix))
	return append(all, others...), err
}

// qmgr has the lines of a file carried out. What is refused is noted, and the others go on.
func (s *site) qmgr(m *machine, sh *shell, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, at := "", 0
	for i, line := range strings.Split(string(data), "\n") {
		if text == "" {
			at = i + 1
		}
		text += line
		if cut, ok := strings.CutSuffix(text, "\\"); ok {
			text = cut
			continue
		}
		if strings.Count(text, `"`)%2 != 0 && strings.Contains(text, "=") && i-at < mostLines {
			text += "\n"
			continue // a value of several lines
		}
		s.directive(m, sh, name, at, strings.TrimSpace(text))
		text = ""
	}
	if text != "" {
		s.faults = append(s.faults, Trouble{name, at, "a quote is not closed"})
	}
	return nil
}

// mostLines is how many lines a value may have.
const mostLines = 200

func (s *site) directive(m *machine, sh *shell, name string, at int, text string) {
	if text == "" || text[0] == '#' {
		return
	}
	s.lines++
	word := strings.Fields(text)
	if len(word) > 1 && isHook(word[1]) {
		s.hook(name, at, word)
		return
	}
	if len(word) > 2 && strings.HasPrefix("create", word[0]) && word[2] == firstQueue {
		// A new cluster has it, and a site's own is made anew.
		_ = m.do(&command.ManageQueue{Verb: command.VerbDelete, Queue: firstQueue})
	}
	if _, errs, status := sh.run("root", "", "qmgr", "-c", text); status != 0 {
		s.faults = append(s.faults, Trouble{name, at, firstLine(errs) + ": " + text})
	}
}

// isHook reports whether qmgr takes a word for the kind of a hook's object.
func isHook(word string) bool {
	return word != "" && (strings.HasPrefix("hook", word) || strings.HasPrefix("pbshook", word))
}

// hook tells of a hook, once, that it is not run: what it would make of a job is not in the workload, and a job that it has rejected is
// not there.
func (s *site) hook(file string, at int, word []string) {
	what := "hooks are not run"
	if len(word) > 2 {
		what = "hook " + word[2] + " is not run"
	}
	if s.hooks[what] {
		return
	}
	if s.hooks == nil {
		s.hooks = map[string]bool{}
	}
	s.hooks[what] = true
	s.faults = append(s.faults, Trouble{file, at, what + ": jobs are taken as they were recorded, and whatever is to start starts"})
}

// firstQueue is the queue of a new cluster.
const firstQueue = "workq"

// firstLine returns what qmgr says of a refusal, without its name and its object.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if _, rest, ok := strings.Cut(text, "svr=default: "); ok {
		text = rest
	}
	return strings.TrimSpace(strings.TrimPrefix(text, "qmgr: "))
}

// sched takes the files of a sched_priv.
func (s *site) sched(m *machine, dir string) (some bool, err error) {
	if _, err := os.Stat(filepath.Join(dir, "sched_config")); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	all, faults, err := dropin.ReadSched(dir)
	if err != nil {
		return false, err
	}
	name := filepath.Join(dir, "sched_config")
	for _, text := range faults {
		at := 0
		if rest, ok := strings.CutPrefix(text, "line "); ok {
			if n, err := fmt.Sscanf(rest, "%d:", &at); n == 1 && err == nil {
				_, text, _ = strings.Cut(rest, ": ")
			}
		}
		s.faults = append(s.faults, Trouble{name, at, text})
	}
	for _, one := range all {
		def, _ := attr.Lookup(attr.Sched, one.Name)
		value, err := def.Parse(one.Value)
		if err == nil {
			err = m.do(&command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{set(one.Name, "", value)}})
		}
		if err != nil {
			s.faults = append(s.faults, Trouble{name, lineOf(name, one.Name), fmt.Sprintf("%s: %s: %v", one.Name, one.Value, err)})
		}
	}
	return true, nil
}

// lineOf returns the last line of a sched_config that sets an attribute, or the one of which it is the prime part; 0: none is seen to.
func lineOf(file, attribute string) int {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	found := 0
	for i, line := range strings.Split(string(data), "\n") {
		if key, _, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == strings.TrimPrefix(attribute, "prime_") {
			found = i + 1
		}
	}
	return found
}

// raise brings up the hosts of the vnodes that the folder has, and lets nothing be kept that nobody asks for: finished jobs
// and mail.
func (s *site) raise(m *machine) error {
	var hosts []pbs.HostName
	met := map[pbs.HostName]bool{}
	for v := range m.view().Vnodes() {
		if !met[v.Host] {
			met[v.Host], hosts = true, append(hosts, v.Host)
		}
	}
	for _, h := range hosts {
		if err := m.hostUp(h); err != nil {
			return fmt.Errorf("host %s: %w", h, err)
		}
	}
	if !m.view().Server().Scheduling() {
		return fmt.Errorf("%s: scheduling is False: no job would start", s.dir)
	}
	return m.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{set("job_history_enable", "", "False")}})
}
