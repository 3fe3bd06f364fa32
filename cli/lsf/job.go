package lsf

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/transport/api"
)

// jobAttributes are what every view of jobs needs.
var jobAttributes = []string{
	"job_state", "Hold_Types", "substate", "Exit_status", "Job_Owner", "queue", "Submit_Host", "exec_host", "exec_vnode", "Job_Name",
	"array_index", "array", "executable", "argument_list", "ctime", "stime", "Resource_List", "lsf_reserved",
}

// A job is one as LSF sees it.
type job struct {
	*api.Object
	id    string // with the index of an array's job
	state string
	user  string
}

func newJob(o *api.Object) job {
	j := job{Object: o, id: jobNumber(o.Name)}
	j.state = lsf.StateOf(j.get("job_state"), j.get("Hold_Types"), j.get("substate"), j.get("Exit_status"))
	j.user, _, _ = strings.Cut(j.get("Job_Owner"), "@")
	return j
}

func (j job) get(name string) string { return value(j.Object, name) }

// isArray reports whether the job is an array as a whole, which LSF does not show: it shows its jobs.
func (j job) isArray() bool { return j.get("array") == "True" && j.get("array_index") == "" }

// array returns the number of the array of a job with an index, or of one that is an array.
func (j job) array() string {
	number, _, _ := strings.Cut(j.id, "[")
	return number
}

// index returns the index of an array's job.
func (j job) index() uint32 {
	n, _ := strconv.ParseUint(j.get("array_index"), 10, 32) // it is the server's
	return uint32(n)
}

// finished reports whether the job is over.
func (j job) finished() bool { return j.state == lsf.Done || j.state == lsf.Exited }

// suspended reports whether the job was started, and waits to go on.
func (j job) suspended() bool {
	return j.state == lsf.UserSuspended || j.state == lsf.SysSuspended
}

// pending reports whether the job is yet to be started.
func (j job) pending() bool { return j.state == lsf.Pending || j.state == lsf.HeldPending }

// slots returns how many slots the job has or wants.
func (j job) slots() int { return max(number(amount(j.Object, "Resource_List", "ncpus")), 1) }

// wanted returns between how many slots the job was to have, also when it has them.
func (j job) wanted() (least, most int) {
	if least, most, ok := lsf.ReadSlots(j.get(lsf.JobSlots)); ok {
		return least, most
	}
	return j.slots(), j.slots()
}

// moment returns a time that the server has sent, the zero time if there is none.
func (j job) moment(name string, zone *time.Location) time.Time {
	n, err := strconv.ParseInt(j.get(name), 10, 64)
	if err != nil || n == 0 {
		return time.Time{}
	}
	return time.Unix(n, 0).In(zone)
}

// shell is what command lines are run by.
const shell = "/bin/sh"

// redirected is how the command line of a job begins whose streams are files, in a line of its own.
var redirected = regexp.MustCompile(`^exec (<|>|2>) '`)

// commandLine returns the command of a job, empty if it is a script.
func (j job) commandLine() string {
	program := pbs.Unwrap(pbs.Executable, j.get("executable"))
	if len(program) == 0 {
		return ""
	}
	args := pbs.Unwrap(pbs.Argument, j.get("argument_list"))
	if program[0] == shell && len(args) == 2 && args[0] == "-c" {
		if _, line, ok := strings.Cut(args[1], "\n"); ok && redirected.MatchString(args[1]) {
			return line
		}
		return args[1]
	}
	return strings.Join(append(program, args...), " ")
}

// name returns the job's name. One that bsub has made of the command is shown as the command.
func (j job) name() string {
	name := j.get("Job_Name")
	if line := j.commandLine(); line != "" && name == nameOf(line) {
		name = line
	}
	if i := j.get("array_index"); i != "" {
		name += "[" + i + "]"
	}
	return name
}

// command returns what the job runs: a command line, of a script its name.
func (j job) command() string {
	if line := j.commandLine(); line != "" {
		return line
	}
	return j.get("Job_Name")
}

// named reports whether the job was given a name of its own.
func (j job) named() bool {
	line := j.commandLine()
	return line == "" || j.get("Job_Name") != nameOf(line)
}

// nameOf makes a name of a command line: what no name may have is an underscore.
func nameOf(line string) string {
	name := []byte(line[:min(len(line), attr.MaxJobName)])
	for i, c := range name {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("-_.+", c) < 0 {
			name[i] = '_'
		}
	}
	return string(name)
}

// A share is what a job has of one host.
type share struct {
	host  string
	slots int
}

// String prints "host", or "2*host".
func (s share) String() string {
	if s.slots == 1 {
		return s.host
	}
	return strconv.Itoa(s.slots) + "*" + s.host
}

// shares returns the hosts of a job with its slots on them, in the order of its chunks; those without are left out if it has any.
func (j job) shares() []share {
	hosts, err := spec.ParseExecHost(j.get("exec_host"))
	if err != nil {
		return nil
	}
	chunks, err := spec.ParseExecVnode(j.get("exec_vnode"))
	if err != nil {
		return nil
	}
	var all []share
	at := map[string]int{}
	for i, h := range hosts {
		slots := 1
		if i < len(chunks) {
			slots = 0
			for _, part := range chunks[i].Parts {
				n, _ := part.Items.Get("ncpus")
				slots += number(n)
			}
		}
		name := h.Host
		k, known := at[name]
		if !known {
			k = len(all)
			at[name] = k
			all = append(all, share{host: name})
		}
		all[k].slots += slots
	}
	if slices.ContainsFunc(all, func(s share) bool { return s.slots > 0 }) {
		all = slices.DeleteFunc(all, func(s share) bool { return s.slots == 0 })
	}
	return all
}

// A keeping is what a host keeps for a job that waits.
type keeping struct {
	share
	mem int64 // in megabytes
}

// kept returns what hosts keep for a job that waits, in the order in which it was taken.
func (j job) kept() (all []keeping) {
	chunks, err := spec.ParseExecVnode(j.get("lsf_reserved"))
	if err != nil {
		return nil
	}
	for _, c := range chunks {
		for _, part := range c.Parts {
			slots, _ := part.Items.Get("ncpus")
			mem, _ := part.Items.Get("mem")
			m, _ := megabytes(mem)
			host := hostOfVnode(string(part.Vnode))
			if k := len(all); k > 0 && all[k-1].host == host {
				all[k-1].slots, all[k-1].mem = all[k-1].slots+number(slots), all[k-1].mem+m
				continue
			}
			all = append(all, keeping{share{host, number(slots)}, m})
		}
	}
	return all
}

// keptSlots returns how many slots are kept for a job that waits.
func (j job) keptSlots() (n int) {
	for _, k := range j.kept() {
		n += k.slots
	}
	return n
}

// shown joins shares with a sign between them.
func shown(all []share, sign string) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = s.String()
	}
	return strings.Join(words, sign)
}

// merged returns the requirement with what the queue had to say when the job came.
func (j job) merged() string { return cmp.Or(j.get(lsf.JobCombined), j.requested()) }

// effective returns the requirement as it holds: of a job that has started with the one of its alternatives that it got.
func (j job) effective() string { return cmp.Or(j.get(lsf.JobEffective), j.merged()) }

// requested returns the requirement that the job was given: that of bsub -R, of a job that came by
// qsub what its chunks are in LSF's words.
func (j job) requested() string {
	if text := j.get("lsf_resreq"); text != "" {
		return text
	}
	return lsf.Described(amount(j.Object, "Resource_List", "select"), amount(j.Object, "Resource_List", "place"))
}
