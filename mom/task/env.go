package task

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/spec"
)

// taskSocket names the socket at which programs of a job find the mom of their host.
const taskSocket = "PBS_TASK_SOCKET"

// TaskID is the number of a job's first program at the task manager.
const taskID = "00000001"

// environment returns what a job's program finds: the site's variables, then the
// account's, then the submitter's, and over all of them PBS's own.
func (s *Site) environment(t Task, a Account) []string {
	env := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin"}
	for name, value := range s.Settings().Environment {
		env[name] = value
	}
	env["HOME"], env["USER"], env["LOGNAME"] = a.Home, a.Name, a.Name
	env["SHELL"] = t.shell(a, s.Host)
	for _, v := range splitVariables(t.Attrs.Get("Variable_List")) {
		env[v.name] = v.value
	}
	ncpus, threads := t.threads()
	for name, value := range map[string]string{
		"PBS_JOBID": string(t.Key.Job), "PBS_JOBNAME": t.Attrs.Get("Job_Name"),
		"PBS_QUEUE": t.Attrs.Get("queue"), "PBS_ENVIRONMENT": t.kind(),
		"PBS_JOBDIR": s.folders().jobDir(t, a), "PBS_JOBCOOKIE": t.Cookie, "PBS_NODENUM": "0", "PBS_TASKNUM": "1", taskSocket: s.Socket,
		"PBS_MOMPORT": strconv.Itoa(s.Port), "PBS_NODEFILE": s.Spool.NodeFile(t.Key.Job),
		"NCPUS": ncpus, "OMP_NUM_THREADS": threads, "TMPDIR": s.folders().tmpDir(t),
	} {
		env[name] = value
	}
	if index := t.Attrs.Get("array_index"); index != "" {
		env["PBS_ARRAY_INDEX"], env["PBS_ARRAY_ID"] = index, t.Attrs.Get("array_id")
	}
	if t.Attrs.Get("lsf_resreq") != "" {
		t.addLSF(env, string(s.Host))
	}
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// addLSF adds what scripts of LSF look for in a job that came by bsub.
func (o Order) addLSF(env map[string]string, host string) {
	number, _, _ := strings.Cut(string(o.Key.Job), ".")
	number, _, _ = strings.Cut(number, "[")
	env["LSB_JOBID"], env["LSB_JOBINDEX"], env["LSB_JOBNAME"], env["LSB_QUEUE"] = number, "0", o.Attrs.Get("Job_Name"), o.Attrs.Get("queue")
	if index := o.Attrs.Get("array_index"); index != "" {
		env["LSB_JOBINDEX"] = index
		env["LSB_JOBNAME"] += "[" + index + "]"
	}
	on, chunks, err := o.chunks()
	if err != nil {
		return
	}
	var names []string
	slots, total := map[string]int{}, 0
	for i, c := range chunks {
		name := on.Host(i, host)
		if c.ncpus == 0 { // of a unit that the job has to itself: it keeps others away, and no task is there
			continue
		}
		if slots[name] == 0 {
			names = append(names, name)
		}
		slots[name] += c.ncpus
		total += c.ncpus
	}
	var each, counted []string
	for _, name := range names {
		counted = append(counted, name, strconv.Itoa(slots[name]))
		for range min(slots[name], maxSlotWords/max(len(names), 1)) {
			each = append(each, name)
		}
	}
	env["LSB_MCPU_HOSTS"], env["LSB_DJOB_NUMPROC"] = strings.Join(counted, " "), strconv.Itoa(total)
	if total == len(each) { // as in LSF, a list that is too long is left out
		env["LSB_HOSTS"] = strings.Join(each, " ")
	}
}

// maxSlotWords bounds LSB_HOSTS: an environment has a limit, and LSB_MCPU_HOSTS says the same.
const maxSlotWords = 4096

// kind returns what the job finds in PBS_ENVIRONMENT.
func (o Order) kind() string {
	if o.interactive() {
		return "PBS_INTERACTIVE"
	}
	return "PBS_BATCH"
}

func (f *folders) tmpDir(t Task) string {
	parent := f.settings().TmpDir
	if parent == "" {
		parent = "/var/tmp"
	}
	return filepath.Join(parent, "pbs."+string(t.Key.Job))
}

type variable struct{ name, value string }

// splitVariables reads Variable_List: NAME=VALUE joined by commas, in which a
// backslash takes the meaning from the character after it.
func splitVariables(list string) []variable {
	var all []variable
	var item strings.Builder
	flush := func() {
		if name, value, ok := strings.Cut(item.String(), "="); ok && name != "" {
			all = append(all, variable{name, value})
		}
		item.Reset()
	}
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\' && i+1 < len(list):
			i++
			item.WriteByte(list[i])
		case c == ',':
			flush()
		default:
			item.WriteByte(c)
		}
	}
	flush()
	return all
}

// shell chooses from Shell_Path_List, "path[@host],...": this host's entry, else the
// one without a host, else the login shell.
func (o Order) shell(a Account, self pbs.HostName) string {
	anywhere := ""
	for entry := range strings.SplitSeq(o.Attrs.Get("Shell_Path_List"), ",") {
		shell, host, named := strings.Cut(entry, "@")
		switch {
		case shell == "":
		case named && isLocal(self, host):
			return shell
		case !named && anywhere == "":
			anywhere = shell
		}
	}
	switch {
	case anywhere != "":
		return anywhere
	case a.Shell != "":
		return a.Shell
	}
	return "/bin/sh"
}

// A program is what the shim executes.
type program struct {
	path  string
	args  []string
	stdin string
}

// shells read commands from standard input; other interpreters get the script's path
// as an argument.
var shells = []string{"sh", "bash", "dash", "ksh", "ksh93", "mksh", "zsh", "ash", "csh", "tcsh", "fish"}

// program returns what runs: a login shell that becomes the script, so that the
// script's first line is honoured and its traps are the job's; or the executable that
// was submitted in place of a script. An empty script is a shell with nothing to do. Where the
// job's environment names PBS_EXEC the script finds the commands there, whatever PATH the shell's
// profile has made.
func (s *Site) program(t Task, a Account, env []string) program {
	if executable := t.executable(); !t.Script && executable != "" {
		args := append([]string{executable}, pbs.Unwrap(pbs.Argument, t.Attrs.Get("argument_list"))...)
		return program{path: lookPath(executable, env), args: args}
	}
	shell, script := t.shell(a, s.Host), s.Spool.Script(t.Key)
	if !t.Script {
		return program{path: shell, args: []string{"-" + path.Base(shell)}}
	}
	if !slices.Contains(shells, path.Base(shell)) {
		return program{path: shell, args: []string{path.Base(shell), script}}
	}
	return program{
		path: shell, args: []string{"-" + path.Base(shell)},
		stdin: withCommands(path.Base(shell), env) + "exec " + quoted(script) + "\n",
	}
}

// withCommands puts the commands first, in the shell's own words. It is the shell that must execute the script: it
// interprets one that begins with no #!, which env would leave to /bin/sh. Where a profile has made PATH readonly it stays as it is: to
// set it would end the shell, or drop the rest of the line.
func withCommands(shell string, env []string) string {
	for _, v := range slices.Backward(env) {
		dir, ok := strings.CutPrefix(v, "PBS_EXEC=")
		if !ok || !path.IsAbs(dir) || strings.ContainsAny(dir, "\n!") {
			continue
		}
		bin := quoted(path.Join(dir, "bin"))
		switch shell {
		case "csh", "tcsh":
			return "setenv PATH " + bin + `:"$PATH"` + "\n"
		case "fish":
			return "set -x PATH " + bin + " $PATH\n"
		}
		return `(PATH="$PATH") 2>/dev/null && PATH=` + bin + `:"$PATH" && export PATH` + "\n"
	}
	return ""
}

func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// executable returns the program of a job that has one in place of a script.
func (o Order) executable() string {
	words := pbs.Unwrap(pbs.Executable, o.Attrs.Get("executable"))
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// maxNodeLines bounds the node file: users choose mpiprocs as they like.
const maxNodeLines = 1 << 20

// nodeFile returns the lines of $PBS_NODEFILE: for each chunk mpiprocs times its host,
// once if it has none and cpus.
func (o Order) nodeFile(host string) (string, error) {
	on, chunks, err := o.chunks()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	lines := 0
	for i, c := range chunks {
		if c.mpiprocs > maxNodeLines-lines {
			return "", fmt.Errorf("write the node file: more than %d processes", maxNodeLines)
		}
		lines += c.mpiprocs
		name := on.Host(i, host)
		b.WriteString(strings.Repeat(name+"\n", c.mpiprocs))
	}
	return b.String(), nil
}

// Nodes returns the node table: the host of each line of the node file. Without any it names this host.
func (o Order) Nodes(host pbs.HostName) ([]string, error) {
	text, err := o.nodeFile(string(host))
	if err != nil {
		return nil, err
	}
	return strings.Fields(text), nil
}

type chunk struct{ ncpus, mpiprocs, ompthreads int }

// chunks joins what each chunk asked for with what it got.
func (o Order) chunks() (Placement, []chunk, error) {
	on, err := o.Placement()
	if err != nil {
		return Placement{}, nil, err
	}
	var asked []spec.Chunk
	if text := o.Attrs.Get("schedselect"); text != "" {
		sel, err := spec.ParseSelect(text)
		if err != nil {
			return Placement{}, nil, err
		}
		for _, c := range sel.Chunks {
			for range c.Count {
				asked = append(asked, c)
			}
		}
	}
	all := make([]chunk, len(on.Vnodes))
	for i, g := range on.Vnodes {
		c := &all[i]
		for _, part := range g.Parts {
			c.ncpus += number(part.Items.Get("ncpus"))
		}
		if i < len(asked) {
			c.mpiprocs = number(asked[i].Items.Get("mpiprocs"))
			c.ompthreads = number(asked[i].Items.Get("ompthreads"))
		}
		if c.mpiprocs == 0 && c.ncpus > 0 {
			c.mpiprocs = 1
		}
	}
	return on, all, nil
}

func number(text string, _ bool) int {
	n, _ := strconv.Atoi(text)
	return max(n, 0)
}

// threads returns NCPUS and OMP_NUM_THREADS: both come from the first chunk.
func (o Order) threads() (ncpus, omp string) {
	_, chunks, err := o.chunks()
	if err != nil || len(chunks) == 0 {
		return "1", "1"
	}
	first := chunks[0]
	n := first.ncpus
	if first.ompthreads > 0 {
		n = first.ompthreads
	}
	return fmt.Sprint(max(n, 1)), fmt.Sprint(max(n, 1))
}
