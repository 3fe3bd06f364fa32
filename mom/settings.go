package mom

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/task"
	"rampart/transport/daylog"
)

// settings is mom_priv/config and pbs_environment.
type settings struct {
	task.Settings
	logEvents uint16
	memSet    bool // the site says whether limits of memory are enforced
	keepDays  int  // of log files; 0: for ever
	amounts   []amount
	elim      string // prints numbers of the host; empty: there is none
	load      loadBounds
	restrict  restriction

	checkpoints string // folder of the checkpoints of jobs, while this mom runs; empty: checkpoint in PBS_HOME

	prologAlarm time.Duration // how long a prologue or an epilogue may take
	// cgroupParent is a folder of each cgroup hierarchy that job cgroups are made in.
	cgroupParent string
}

// readSettings reads the files. Directives that it does not know are passed over, as
// PBS does; a malformed one that it knows is an error that names the line.
func readSettings(config, environment, tmpDir string) (settings, error) {
	s := settings{logEvents: daylog.MomMask, prologAlarm: defaultPrologAlarm, restrict: restriction{system: lastSystemUser}}
	s.TmpDir, s.Enforce = tmpDir, task.PBSEnforce()
	lines, err := readLines(config)
	if err != nil {
		return s, err
	}
	for i, line := range lines {
		if err := s.directive(line); err != nil {
			return s, fmt.Errorf("%s line %d: %w", config, i+1, err)
		}
	}
	s.Environment = make(map[string]string)
	lines, err = readLines(environment)
	for _, line := range lines {
		if strings.Contains(line, "\x00") {
			continue // no program can be given it: each job would fail
		}
		if name, value, ok := strings.Cut(line, "="); ok && name != "" && name[0] != '#' {
			s.Environment[name] = value
		} else if value, has := os.LookupEnv(line); has && line != "" {
			s.Environment[line] = value // a bare name passes the mom's own on
		}
	}
	return s, err
}

func (s *settings) directive(line string) error {
	f := strings.Fields(line)
	if len(f) == 0 || !strings.HasPrefix(f[0], "$") {
		s.amount(line)
		return nil
	}
	arg := func(i int) string {
		if i < len(f) {
			return f[i]
		}
		return ""
	}
	switch f[0] {
	case "$logevent":
		mask, err := strconv.ParseInt(arg(1), 0, 64) // PBS knows more events than we have; -1 has them all
		if err != nil || mask < -1 || mask > math.MaxUint32 {
			return fmt.Errorf("$logevent %q is no mask", arg(1))
		}
		s.logEvents = uint16(mask)
	case "$log_keep_days":
		days, err := strconv.ParseUint(arg(1), 10, 16)
		if err != nil {
			return fmt.Errorf("$log_keep_days %q is no number of days", arg(1))
		}
		s.keepDays = int(days)
	case "$usecp":
		host, from, ok := strings.Cut(arg(1), ":")
		if !ok || from == "" || arg(2) == "" {
			return errors.New("$usecp wants HOST:FROM TO")
		}
		s.UseCopy = append(s.UseCopy, task.UseCopy{Host: host, From: from, To: arg(2)})
	case "$tmpdir":
		dir := strings.TrimSpace(strings.TrimPrefix(line, f[0])) // it may hold blanks
		if !strings.HasPrefix(dir, "/") {
			return errors.New("$tmpdir wants an absolute path")
		}
		s.TmpDir = dir
	case "$checkpoint_path":
		return s.checkpointPath(strings.TrimSpace(strings.TrimPrefix(line, f[0])))
	case "$suspendsig":
		return s.suspendSignals(f[1:])
	case "$jobdir_root":
		dir := strings.TrimSpace(strings.TrimPrefix(line, f[0])) // it may hold blanks
		if len(f) > 2 && f[len(f)-1] == "shared" {               // between hosts: only the mother superior makes folders anyhow
			dir = strings.TrimSpace(strings.TrimSuffix(dir, "shared"))
		}
		if !strings.HasPrefix(dir, "/") {
			return errors.New("$jobdir_root wants an absolute path")
		}
		s.JobDirRoot = dir
	case "$max_poll_downtime", "$sister_join_job_alarm", "$job_launch_delay", "$prologalarm":
		return s.wait(f[0], arg(1))
	case "$job_launch_early":
		return truth(&s.LaunchEarly, f[0], arg(1))
	case "$reject_root_scripts":
		return truth(&s.NoRootJobs, f[0], arg(1))
	case "$elim":
		s.elim = strings.TrimSpace(strings.TrimPrefix(line, f[0]))
		if s.elim == "" {
			return errors.New("$elim wants a command")
		}
	case "$ideal_load", "$max_load": // PBS takes a word behind $max_load, for jobs to be suspended
		return s.load.read(f[0], arg(1))
	case "$restrict_user", "$restrict_user_exceptions", "$restrict_user_maxsysid":
		return s.restrict.read(f[0], strings.Join(f[1:], ""))
	case "$cgroup_parent":
		parent := filepath.Clean("/" + arg(1))
		if parent == "/" || strings.Contains(arg(1), "..") {
			return errors.New("$cgroup_parent wants a path below the cgroup hierarchies")
		}
		s.cgroupParent = parent
	case "$action":
		return s.action(f)
	case "$enforce":
		return s.enforce(strings.TrimPrefix(arg(1), "!"), arg(2), !strings.HasPrefix(arg(1), "!"))
	}
	return nil
}

// enforce reads $enforce [!]NAME [VALUE]. Names that PBS's manual has and this mom has not are ignored.
func (s *settings) enforce(name, value string, on bool) error {
	numbers := map[string]*float64{
		"average_cpufactor": &s.Enforce.AverageFactor, "average_percent_over": &s.Enforce.AverageOver,
		"delta_cpufactor": &s.Enforce.BurstFactor, "delta_percent_over": &s.Enforce.BurstOver,
	}
	switch name {
	case "mem":
		s.Enforce.Mem, s.Enforce.VMem, s.Enforce.PMem, s.memSet = on, on, on, true
	case "cpuaverage":
		s.Enforce.Average = on
	case "cpuburst":
		s.Enforce.Burst = on
	case "average_trialperiod":
		n, err := seconds("$enforce "+name, value)
		s.Enforce.Trial = n
		return err
	default:
		into, known := numbers[name]
		if !known {
			return nil
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || n < 0 || n > 1e6 {
			return fmt.Errorf("$enforce %s %q is no number from 0 on", name, value)
		}
		*into = n
	}
	return nil
}

// checkpointPath reads $checkpoint_path. What lies there is run from as root: nobody else may put it there.
func (s *settings) checkpointPath(dir string) error {
	if !filepath.IsAbs(dir) {
		return errors.New("$checkpoint_path wants an absolute path")
	}
	if info, err := os.Stat(dir); err == nil && (!info.IsDir() || info.Mode().Perm()&0o022 != 0) {
		return fmt.Errorf("$checkpoint_path %s is no folder in which nobody but its owner may write", dir)
	}
	s.checkpoints = dir
	return nil
}

// suspendSignals reads $suspendsig SUSPEND [RESUME].
func (s *settings) suspendSignals(names []string) error {
	if len(names) == 0 || len(names) > 2 {
		return errors.New("$suspendsig wants a signal, and another one to resume by")
	}
	for i, into := range []*syscall.Signal{&s.Suspend, &s.Resume}[:len(names)] {
		sig, err := task.ParseSignal(names[i])
		if err != nil || sig == 0 {
			return fmt.Errorf("$suspendsig %q is no signal", names[i])
		}
		*into = sig
	}
	return nil
}

// truth reads what is true or false, in the words of PBS's moms.
func truth(into *bool, directive, text string) error {
	value, ok := map[string]bool{
		"true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false,
	}[strings.ToLower(text)]
	if !ok {
		return fmt.Errorf("%s %q is neither true nor false", directive, text)
	}
	*into = value
	return nil
}

// wait reads for how long a mother superior waits for sisters.
func (s *settings) wait(directive, text string) error {
	n, err := seconds(directive, text)
	if err != nil {
		return err
	}
	switch directive {
	case "$max_poll_downtime":
		s.PollDowntime = n
	case "$sister_join_job_alarm":
		s.JoinAlarm = n
	case "$job_launch_delay":
		s.LaunchDelay = n
	case "$prologalarm":
		s.prologAlarm = n
	}
	return nil
}

// tell notes in the log which waits for the start of jobs the site has set.
func (s *settings) tell(lines lines) {
	for _, w := range []struct {
		name string
		n    time.Duration
	}{{"sister_join_job_alarm", s.JoinAlarm}, {"job_launch_delay", s.LaunchDelay}} {
		if w.n > 0 {
			lines.system(pbs.LogSystem, w.name, strconv.Itoa(int(w.n/time.Second)))
		}
	}
}

// seconds reads what a directive waits for: a whole number above 0.
func seconds(directive, text string) (time.Duration, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s %q is no number of seconds", directive, text)
	}
	return time.Duration(n) * time.Second, nil
}

// readLines returns the lines of a file; one that is missing has none.
func readLines(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines, nil
}
