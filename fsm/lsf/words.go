package lsf

import (
	"fmt"
	"slices"
	"strings"
)

// A Word is one thing with its name in either face.
type Word struct{ LSF, PBS, Note string }

// Terms are the words of requests and hosts.
var Terms = []Word{
	{"host", "host with its vnodes", "commands of LSF sum the vnodes of a host"},
	{"slot", "`ncpus`", "`MAX` of bhosts is `resources_available.ncpus` of the host"},
	{"`bsub -n N`", "`select=N:ncpus=1`, `place=free`", "without a span, in sum"},
	{"`bsub -n min,max`", "the select of `min` slots, job attribute `lsf_slots`", "`lsf_alternatives` has those of all numbers, `a < b`; started, the job has that of its number"},
	{"`span[ptile=p]`, n = a*p + b", "`select=a:ncpus=p[+1:ncpus=b]`, `place=scatter`", "each chunk on a host of its own"},
	{"`span[ptile='!']`", "`select=N:ncpus=1`", "`lsf_layout`: `1:ptile=!`, with `'!',t:2` also `,t=2`: each host but one has as many of the chunks as it has slots"},
	{"`span[hosts=1]`", "`select=1:ncpus=N`, `place=pack`", ""},
	{"`2*{...}+3*{...}`", "groups of chunks for each term", "`span[ptile]` holds among the slots of its term: `lsf_layout`; `lsf_select` and `lsf_order` have a part for each term: `2*{select[mem>100]}+3*{}`"},
	{"`cu[type=t:maxcus=1]`", "`place=group=t`", "`t` is a resource of hosts, with the unit as its value"},
	{"`cu[type=t:maxcus=1:excl]`", "`place=exclhost:group=t`", "and `lsf_layout` has `unit`, with `-x` also `alone`: of the other vnodes of the unit the job has `ncpus=0`"},
	{"other `cu[type=t]`, `maxcus=n`, `usablecuslots=n`, `balance`", "`lsf_layout`: `cus=t`, `:max=n`, `:usable=n`, `:balance`", "over several units; with `excl` each is the job's own (`unit`)"},
	{"`same[r]`", "`place=group=r`", "further resources are in `lsf_layout` (`same=s`), and so are those of the hosts of a term (`2:same=s`); in one that no host has all are the same"},
	{"`select[r]`, `select[r==v]`", "`r=True`, `r=v` in each chunk", "joined by `&&`; others are asked of each host, `lsf_select`"},
	{"`rusage[r=v]` of hosts", "`r=v` in each chunk", "what each host gives, and by `PER_JOB` each instance: where that may have several chunks to the first of them, which `lsf_layout` says"},
	{"`rusage[r1m=v]` and other load that rises", "`r1m=v` in each chunk", "added to the load of the host; any amount fits"},
	{"`rusage[r=v]` of the cluster", "`Resource_List.r`", "a resource without the flag `h`"},
	{"`-R` string", "job attribute `lsf_resreq`", "`qstat -f` shows it"},
	{"`-app`", "job attribute `lsf_app`", "an application of lsb.applications"},
	{"`-W`", "`Resource_List.walltime`", "minutes, or hours:minutes; `/HOST` is the job attribute `lsf_host_spec`, and of a run `lsf_run_limit` what was said, where its hosts have made another limit of it"},
	{"`-We`", "`Resource_List.soft_walltime`", "where no run limit says it"},
	{"`-M`", "`Resource_List.pmem`", "of each process"},
	{"`-m host`", "`host=` in each chunk", "of several hosts: `lsf_select`, and the job attribute `lsf_asked_hosts`; of groups, and of hosts that are preferred, that alone"},
	{"`-x`", "`place=...:exclhost`", ""},
	{"`-P`", "`project`", "without one `default` is shown"},
	{"`-H`, `bstop` of a pending job", "hold `u`", "`bresume`, `qrls` release it"},
	{"`-w \"done(J)\"`", "`depend=afterok:J`", "`exit`: afternotok, `ended`: afterany, `started`: after"},
	{"`-J \"name[a-b:s]%m\"`", "`-J a-b:s%m`", "an array"},
	{"`-r`, `-rn`", "`Rerunable`", ""},
	{"command line", "`executable`, `argument_list`", "run by /bin/sh"},
	{"`PRIO` of a queue", "queue attribute `Priority`", ""},
	{"`QJOB_LIMIT` (`MAX`)", "`max_run_res.ncpus = [o:PBS_ALL=x]`", ""},
	{"`UJOB_LIMIT` (`JL/U`)", "`max_run_res.ncpus = [u:PBS_GENERIC=x]`", ""},
	{"`RES_REQ` of a queue", "queue attribute `lsf_res_req`", "merged into what `bsub -R` says; a ceiling of what jobs reserve"},
	{"`RESRSV_LIMIT` of a queue", "queue attribute `lsf_resrsv_limit`", "`[mem=30,100]`; in place of the ceiling"},
	{"`RESOURCE_RESERVE` of a queue", "queue attribute `resource_reserve`", "for so many dispatch turns its jobs keep slots and memory while they wait"},
	{"`SLOT_RESERVE` of a queue", "queue attribute `slot_reserve`", "slots alone, of jobs of several slots"},
	{"`BACKFILL` of a queue", "queue attribute `backfill`", "whether its jobs may use what others keep, or are promised"},
	{"`Reserved` of `bjobs -l`", "job attribute `lsf_reserved`", "what is kept of which vnode"},
	{"`||` of `rusage`", "job attribute `lsf_alternatives`", "one for each; of the first that fits all hosts are, and `lsf_effective` tells which"},
	{"`order[]`", "job attribute `lsf_order`", "by what the hosts are ordered that a job may have; `r15s:pg`, or none: as the scheduler has them"},
	{"terms, and what a host gives once", "job attribute `lsf_layout`", "a word for each group of chunks: its term, `scatter` (each chunk on a host of its own), `once=mem` (to the first on a host), `job=lic` (to the first on the hosts of an instance)"},
	{"`select[]` of numbers, `||`", "job attributes `lsf_select`, `lsf_queue_select`", "what chunks cannot say of hosts"},
	{"`RSV` of `bhosts`", "`resources_reserved.ncpus` of vnodes", ""},
	{"`PJOB_LIMIT`, `HJOB_LIMIT` of a queue", "queue attributes `lsf_pjob_limit`, `lsf_hjob_limit`", "slots of its jobs on one host, for each cpu or in all"},
	{"`HOSTS` of a queue", "queue attribute `lsf_hosts`", "hosts and groups of hosts, `all`, `~name`"},
	{"`RUNLIMIT` of a queue", "`resources_default.walltime`, `resources_max.walltime`", "default and maximum"},
	{"`DESCRIPTION` of a queue", "queue attribute `comment`", ""},
	{"loadSched, loadStop of a queue", "queue attribute `lsf_thresholds`", "`mem=100/20 r1m=3.5/4.5`: jobs start within loadSched, and are suspended beyond loadStop"},
	{"`STOP_COND`, `RESUME_COND` of a queue", "queue attributes `lsf_stop_cond`, `lsf_resume_cond`", "a `select[]` of what hosts report: load suspends jobs where the one holds, and lets them go on where the other does"},
	{"`MXJ` of a host", "`resources_available.ncpus` of its vnode", "unless it is `!`"},
	{"`Combined` of `bjobs -l`", "job attribute `lsf_combined`", "where the queue has a say"},
	{"`Open`, `Closed`", "queue attribute `enabled`", "whether jobs may come"},
	{"`Active`, `Inact`", "queue attribute `started`", "whether jobs may start"},
}

// Resources are the resources that PBS and LSF call differently, or measure in other units.
var Resources = []Word{
	{"`mem`", "`mem`", "LSF shows megabytes of 1024 KB"},
	{"`hname`", "`host`", ""},
	{"`type`", "`arch`", ""},
	{"`ncpus`", "`ncpus`", "slots"},
	{"`maxmem`", "`resources_available.mem`", "of the host"},
}

// modelNames are the names in the job model of what LSF calls otherwise in a requirement.
var modelNames = func() map[string]string {
	names := map[string]string{}
	for _, w := range Resources {
		lsf, model := strings.Trim(w.LSF, "`"), strings.Trim(w.PBS, "`")
		if lsf != model && !strings.Contains(model, ".") {
			names[lsf] = model
		}
	}
	return names
}()

// A StateWord says which states of LSF a state of PBS is.
type StateWord struct {
	Letter byte // of qstat
	Holds  string
	LSF    string
	Means  string
}

// The states of jobs in LSF's words.
const (
	Pending       = "PEND"
	HeldPending   = "PSUSP"
	Running       = "RUN"
	UserSuspended = "USUSP"
	SysSuspended  = "SSUSP"
	Done          = "DONE"
	Exited        = "EXIT"
	Moved         = "UNKWN"
)

// States is the table of states, the first that fits counts.
var States = []StateWord{
	{'Q', "", Pending, "waits to be started"},
	{'W', "", Pending, "waits for its time"},
	{'T', "", Pending, "on its way between queues"},
	{'H', "uop", HeldPending, "held by its owner, an operator or a manager"},
	{'H', "", Pending, "held by the system, as for a dependency"},
	{'B', "", Running, "an array of which something has started"},
	{'R', "", Running, "runs"},
	{'E', "", Running, "has ended, and is being cleaned up"},
	{'S', "", UserSuspended, "suspended by its owner or an operator; substate 45, by the scheduler, is SSUSP"},
	{'U', "", SysSuspended, "suspended because its host is busy"},
	{'F', "", Done, "ended with exit status 0; with any other it is EXIT"},
	{'X', "", Done, "a job of an array that ended with exit status 0; with any other it is EXIT"},
	{'M', "", Moved, "went to another server"},
}

// substateScheduler is the substate of jobs that the scheduler has suspended.
const substateScheduler = "45"

// StateOf returns what LSF calls the state of a job: by the letter of qstat, the letters of
// Hold_Types, the substate and Exit_status as they are shown.
func StateOf(letter, holds, substate, exit string) string {
	if letter == "" {
		return Moved
	}
	for _, w := range States {
		if w.Letter != letter[0] || w.Holds != "" && !strings.ContainsAny(holds, w.Holds) {
			continue
		}
		switch {
		case w.LSF == UserSuspended && substate == substateScheduler:
			return SysSuspended
		case w.LSF == Done && exit != "0":
			return Exited
		}
		return w.LSF
	}
	return Moved
}

// Letters returns the states of PBS that may be one of these states of LSF.
func Letters(states ...string) string {
	var letters []byte
	for _, w := range States {
		for _, s := range states {
			fits := w.LSF == s || w.LSF == Done && s == Exited || w.LSF == UserSuspended && s == SysSuspended
			if fits && !slices.Contains(letters, w.Letter) {
				letters = append(letters, w.Letter)
			}
		}
	}
	return string(letters)
}

// A ReasonWord says which pending reason of LSF a comment of PBS is. In the pattern a star stands for
// any words, and the first one is what the reason names.
type ReasonWord struct{ Pattern, LSF string }

// The reasons of jobs that no comment tells.
const (
	ReasonNew       = "New job is waiting for scheduling;"
	ReasonUnready   = "System is not ready for scheduling after reconfiguration;"
	ReasonUser      = "The job was suspended by the user while pending;"
	ReasonAdmin     = "The job was suspended by LSF admin or root while pending;"
	ReasonDepend    = "Job dependency condition not satisfied;"
	ReasonTime      = "The job has a specified start time;"
	ReasonNoSlots   = "Not enough job slot(s);"
	ReasonSlotLimit = "Job slot limit reached;"
	ReasonSpan      = "Not enough hosts to meet the job's spanning requirement;"
	ReasonOneHost   = "Not enough processors to meet the job's spanning requirement;"
	ReasonSelect    = "Job's resource requirements not satisfied;"
	ReasonQueueSel  = "Queue's resource requirements not satisfied;"
	ReasonUsage     = "Job requirements for reserving resource (%s) not satisfied;"
	ReasonQueueUse  = "Queue requirements for reserving resource (%s) not satisfied;"
	ReasonNotUsable = "Not usable to the queue;"
	ReasonNotAsked  = "Not specified in job submission;"
	ReasonClosed    = "Closed by LSF administrator;"
	ReasonHostUser  = "Host's per-user job slot limit reached;"
	ReasonQueueCPU  = "Queue's per-CPU job slot limit reached;"
	ReasonQueueHost = "Queue's per-host job slot limit reached;"
	ReasonQueue     = "The queue has reached its job slot limit;"
	ReasonQueueUser = "User has reached the per-user job slot limit of the queue;"
	ReasonWideLimit = "Resource (slot) limit defined cluster-wide has been reached;"
	ReasonLimit     = "Resource (slot) limit defined on host, queue, user or project has been reached;"
)

// reasonLimitBegin is how the reason begins of a job that a section Limit keeps waiting; what it bounds comes next.
const reasonLimitBegin = "Resource ("

// limitReason returns the reason of a job that a section Limit keeps waiting: one for all, or for some.
func limitReason(what string, wide bool) string {
	reason := ReasonLimit
	if wide {
		reason = ReasonWideLimit
	}
	return strings.Replace(reason, "(slot)", "("+what+")", 1)
}

// ReasonOfUsage returns the reason of a job that cannot reserve what it asks of a resource.
func ReasonOfUsage(resource string) string { return fmt.Sprintf(ReasonUsage, resource) }

// Reasons is the table of reasons, the first that fits counts.
var Reasons = []ReasonWord{
	{"Queue not started.", "The queue is inactivated by the administrator;"},
	{"Insufficient amount of resource: ncpus (R: * A: 0 T: *)", ReasonSlotLimit},
	{"Insufficient amount of resource: ncpus*", ReasonNoSlots},
	{"Insufficient amount of resource: host*", ReasonSelect},
	{"Insufficient amount of resource: * (* != *)", ReasonSelect},
	{"Insufficient amount of server resource: * (* != *)", ReasonSelect},
	{"Insufficient amount of queue resource: * (* != *)", ReasonSelect},
	{"Insufficient amount of resource: * (*", ReasonUsage},
	{"Insufficient amount of server resource: * (*", ReasonUsage},
	{"Insufficient amount of queue resource: * (*", ReasonUsage},
	{"Insufficient amount of resource: lsf_queue_select", ReasonQueueSel},
	{"Insufficient amount of resource: *", ReasonSelect},
	{"Not enough free nodes available", ReasonNoSlots},
	{"Not enough total nodes available", ReasonSpan},
	{"can't fit in the largest placement set*", ReasonSpan},
	{"Placement set * has too few free resources", ReasonSpan},
	{"Maximum number of jobs already in queue *", ReasonQueue},
	{"Maximum number of jobs already in complex", ReasonWideLimit},
	{"would exceed limit on resource ncpus in queue * (R: * A: 0 T: *)", ReasonQueue},
	{"would exceed limit on resource ncpus in queue * (R: *", "The queue has not enough job slots for the parallel job;"},
	{"would exceed limit on resource ncpus in queue *", ReasonQueue},
	{"would exceed limit on resource ncpus in complex*", ReasonWideLimit},
	{"would exceed per-user limit on resource ncpus in queue * (R: * A: 0 T: *)", ReasonQueueUser},
	{"would exceed per-user limit on resource ncpus in queue * (R: *", "Not enough per-user job slots of the queue for the parallel job;"},
	{"would exceed per-user limit on resource ncpus in queue *", ReasonQueueUser},
	{"would exceed queue *'s per-user limit*", ReasonQueueUser},
	{"Maximum number of jobs for user * already in queue *", ReasonQueueUser},
	{"Job would conflict with reservation or top job", ReasonNoSlots},
	{"Job would break strict sorted order", ReasonNoSlots},
	{"No available resources on nodes", ReasonNoSlots},
	{"Dedicated time conflict", "The queue is inactivated by its time windows;"},
	{"Job would cross *", "The queue is inactivated by its time windows;"},
	{"Job will run in *", "The queue is inactivated by its time windows;"},
}

// comments begin what PBS says of a job that waits.
var comments = []string{"Not Running: ", "Can Never Run: "}

// ReasonOf returns LSF's words for the comment of a pending job. What has none is told as it is.
func ReasonOf(comment string) string {
	if comment == "" {
		return ReasonNew
	}
	text := comment
	for _, begin := range comments {
		text = strings.TrimPrefix(text, begin)
	}
	for _, w := range Reasons {
		if named, ok := matches(w.Pattern, text); ok {
			if strings.Contains(w.LSF, "%s") {
				return fmt.Sprintf(w.LSF, named)
			}
			return w.LSF
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(text), ";") + ";"
}

// matches reports whether a text has the form of a pattern, and what stands for its first star.
func matches(pattern, text string) (named string, ok bool) {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(text, parts[0])
	for i, part := range parts[1:] {
		if !ok {
			return "", false
		}
		at := strings.Index(rest, part)
		if part == "" && i == len(parts)-2 {
			at = len(rest)
		}
		if at < 0 {
			return "", false
		}
		if i == 0 {
			named = rest[:at]
		}
		rest = rest[at+len(part):]
	}
	return named, ok && rest == ""
}
