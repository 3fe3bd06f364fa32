package lsf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
	"rampart/transport/api"
)

// noProject is the project of jobs without one.
const noProject = attr.DefaultProject

// The long form breaks its lines: continued text begins behind so many blanks.
const (
	lineWidth   = 79
	foldedBlank = 21
)

// historyTime is how LSF writes the moments of a job's life.
const historyTime = "Mon Jan _2 15:04:05"

// noThresholds stands where thresholds for the load of hosts would be.
const noThresholds = `           r15s   r1m  r15m   ut      pg    io   ls    it    tmp    swp    mem
 loadSched   -     -     -     -       -     -    -     -     -      -      -
 loadStop    -     -     -     -       -     -    -     -     -      -      -
`

// A combiner prints requirements as they are merged.
type combiner struct{ site resreq.Site }

// selection reads what hosts are asked for; nothing that is not there any more.
func (c combiner) selection(text string) resreq.Select {
	r, err := resreq.Parse("select["+text+"]", c.site)
	if text == "" || err != nil || len(r.Terms) == 0 {
		return resreq.Select{}
	}
	return r.Terms[0].Select
}

// selections reads what the hosts of a job are asked for, of all its slots or of each term.
func (c combiner) selections(text string) []resreq.Select {
	all, _ := lsf.ReadWhere(text, c.site)
	return all
}

// order reads the keys of a section order; none, if it names a resource that is there no more.
func (c combiner) order(text string) []resreq.Key {
	r, err := resreq.Parse("order["+text+"]", c.site)
	if text == "" || err != nil || len(r.Terms) == 0 {
		return nil
	}
	return r.Terms[0].Order
}

func (c combiner) combined(text string) string {
	r, err := resreq.Parse(text, c.site)
	if err != nil {
		return text // of a resource that is there no more
	}
	return r.Combined()
}

// learn reads what the long form shows of the site.
func (v *jobsView) learn(ctx context.Context) error {
	defs, err := v.resources(ctx)
	if err != nil {
		return err
	}
	_, hosts, err := v.hosts(ctx)
	if err != nil {
		return err
	}
	_, queues, err := v.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Attributes: []string{lsf.QueueHosts}})
	v.site = &siteView{site: combiner{lsf.SiteOf(defs)}, defs: defs, hosts: hosts, usable: map[string][]string{}, reasons: map[string][]string{}}
	for _, q := range queues {
		v.site.usable[q.Name] = queueHosts(q)
	}
	v.site.limitOf = func(j job) string {
		if host := j.get(lsf.JobReference); host != "" {
			return " of " + host
		}
		if config, err := v.configured(ctx); err != nil || len(hosts) == 0 || config.AbsRunlimit || config.Uneven() {
			return "" // it is of wall-clock time
		}
		return " of " + hosts[0].Name
	}
	v.site.byAgent = slices.ContainsFunc(hosts, func(h offer) bool { return value(h.Object, lsf.LoadSource) == lsf.SourceAgent })
	v.site.look = func() *around {
		a, err := v.session.around(ctx, hosts, func(*around) bool { return true })
		if err != nil {
			v.complain(v.explain(err).Text)
			return &around{defs: defs, hosts: hosts}
		}
		return a
	}
	return err
}

// line writes a line of the long form, folded.
func (v *jobsView) line(text string) {
	width := lineWidth
	for !v.unfolded && len(text) > width {
		v.out.WriteString(text[:width] + "\n" + strings.Repeat(" ", foldedBlank))
		text, width = text[width:], lineWidth-foldedBlank
	}
	v.out.WriteString(text + "\n")
}

// event writes a line that tells what happened when.
func (v *jobsView) event(at time.Time, format string, args ...any) {
	v.line(at.Format(historyTime) + ": " + fmt.Sprintf(format, args...))
}

// separator stands between the jobs of the long form.
var separator = strings.Repeat("-", 78) + "\n"

func (v *jobsView) details(j job) {
	if v.count > 1 {
		v.out.WriteString(separator)
	}
	v.out.WriteByte('\n')
	v.head(j)
	v.submitted(j)
	v.limits(j)
	v.life(j)
	if j.pending() {
		v.out.WriteString("\n PENDING REASONS:\n")
		for _, reason := range v.pendingReasons(j) {
			fmt.Fprintf(v.out, " %s\n", reason)
		}
	}
	if j.suspended() {
		fmt.Fprintf(v.out, "\n SUSPENDING REASONS:\n %s\n", j.suspendingReason())
	}
	v.out.WriteString(j.messagesShown(v.env.Zone))
	v.out.WriteString("\n SCHEDULING PARAMETERS:\n" + v.site.bounds.of(j))
	combined := v.site.site.combined(j.merged())
	effective := "-"
	if !j.pending() {
		effective = v.site.site.combined(j.effective())
	}
	v.out.WriteString("\n RESOURCE REQUIREMENT DETAILS:\n")
	v.line(" Combined: " + combined)
	v.line(" Effective: " + effective)
	v.out.WriteByte('\n')
}

func (v *jobsView) head(j job) {
	var b strings.Builder
	fmt.Fprintf(&b, "Job <%s>", j.id)
	if j.named() {
		fmt.Fprintf(&b, ", Job Name <%s>", j.name())
	}
	fmt.Fprintf(&b, ", User <%s>, Project <%s>", j.user, projectOf(j))
	if app := j.get(lsf.JobApplication); app != "" {
		fmt.Fprintf(&b, ", Application <%s>", app)
	}
	fmt.Fprintf(&b, ", Status <%s>, Queue <%s>", j.state, j.get("queue"))
	if p := j.get("Priority"); p != "" && p != "0" {
		fmt.Fprintf(&b, ", Job Priority <%s>", p)
	}
	fmt.Fprintf(&b, ", Command <%s>", j.command())
	v.line(b.String())
}

func (v *jobsView) submitted(j job) {
	var b strings.Builder
	vars := j.get("Variable_List")
	home, _ := attr.Variable(vars, "PBS_O_HOME")
	cwd, _ := attr.Variable(vars, "PBS_O_WORKDIR")
	if rest, ok := strings.CutPrefix(cwd, home); ok && home != "" && (rest == "" || rest[0] == '/') {
		cwd = "$HOME" + rest
	}
	fmt.Fprintf(&b, "Submitted from host <%s>", j.get("Submit_Host"))
	if j.state == lsf.HeldPending {
		b.WriteString(" with hold")
	}
	fmt.Fprintf(&b, ", CWD <%s>", cwd)
	if out := filePath(j.get("Output_Path")); out != "" {
		fmt.Fprintf(&b, ", Output File <%s>", out)
	}
	if e := filePath(j.get("Error_Path")); e != "" && j.get("Join_Path") != "oe" {
		fmt.Fprintf(&b, ", Error File <%s>", e)
	}
	if j.get("Rerunable") == "True" {
		b.WriteString(", Re-runnable")
	}
	if condition := dependShown(j.get("depend")); condition != "" { // others may wait for it, too
		fmt.Fprintf(&b, ", Dependency Condition <%s>", condition)
	}
	if least, most := j.wanted(); most > least {
		fmt.Fprintf(&b, ", %d-%d Processors Requested", least, most)
	} else if least > 1 {
		fmt.Fprintf(&b, ", %d Processors Requested", least)
	}
	if text := j.requested(); text != "" && text != anyHost {
		fmt.Fprintf(&b, ", Requested Resources <%s>", text)
	}
	if hosts := specifiedHosts(j); len(hosts) > 0 {
		fmt.Fprintf(&b, ", Specified Hosts <%s>", strings.Join(hosts, ">, <"))
	}
	v.event(j.moment("ctime", v.env.Zone), "%s;", b.String())
}

// filePath leaves the host out of where output goes.
func filePath(text string) string {
	if _, file, ok := strings.Cut(text, ":"); ok {
		return file
	}
	return text
}

// specifiedHosts returns the hosts that bsub -m has named: one is in the chunks and not in the requirement.
func specifiedHosts(j job) []string {
	if several := j.get(lsf.JobHosts); several != "" {
		return strings.Fields(several)
	}
	if text := j.get("lsf_resreq"); text == "" || strings.Contains(text, "hname") {
		return nil
	}
	sel, err := spec.ParseSelect(amount(j.Object, "Resource_List", "select"))
	if err != nil {
		return nil
	}
	if host, ok := sel.Chunks[0].Items.Get("host"); ok {
		return []string{host}
	}
	return nil
}

func (v *jobsView) limits(j job) {
	if seconds := j.runLimit(); seconds > 0 {
		fmt.Fprintf(v.out, "\n RUNLIMIT\n %.1f min%s\n", float64(seconds)/60, v.site.limitOf(j))
	}
	if m, ok := megabytes(amount(j.Object, "Resource_List", "pmem")); ok {
		fmt.Fprintf(v.out, "\n MEMLIMIT\n %6d M\n", m)
	}
}

// configured returns what the files of LSF say, which is asked for once.
func (v *jobsView) configured(ctx context.Context) (lsf.Config, error) {
	if v.config == nil {
		config, err := v.configuration(ctx)
		if err != nil {
			return config, err
		}
		v.config = &config
	}
	return *v.config, nil
}

// runLimit returns the run limit as it was said, in seconds.
func (j job) runLimit() int64 {
	return secondsOf(cmp.Or(j.get(lsf.JobRunLimit), amount(j.Object, "Resource_List", "walltime")))
}

// secondsOf reads a duration that the server has printed.
func secondsOf(text string) int64 {
	q, err := resource.Parse(resource.Time, text)
	if text == "" || err != nil {
		return 0
	}
	return q.Int()
}

// life tells what became of the job.
func (v *jobsView) life(j job) {
	v.reserved(j)
	started := j.moment("stime", v.env.Zone)
	if hosts := j.shares(); !started.IsZero() && len(hosts) > 0 && !j.pending() {
		total := 0
		for _, h := range hosts {
			total += h.slots
		}
		if total == 1 {
			v.event(started, "Started on <%s>;", hosts[0].host)
		} else {
			words := make([]string, len(hosts))
			for i, h := range hosts {
				words[i] = "<" + h.String() + ">"
			}
			v.event(started, "Started on %d Hosts/Processors %s;", total, strings.Join(words, " "))
		}
	}
	ended := j.moment("obittime", v.env.Zone)
	if ended.IsZero() {
		ended = j.moment("mtime", v.env.Zone)
	}
	cpu := float64(secondsOf(amount(j.Object, "resources_used", "cput")))
	switch {
	case j.state == lsf.Done:
		v.event(ended, "Done successfully. The CPU time used is %.1f seconds;", cpu)
	case j.state == lsf.Exited:
		v.event(ended, "%s. The CPU time used is %.1f seconds;", exitWords(j), cpu)
	case j.suspended():
		v.event(j.moment("mtime", v.env.Zone), "%s", j.suspendedEvent())
	}
}

// exitWords says how a job ended that was not done.
func exitWords(j job) string {
	code, err := strconv.Atoi(j.get("Exit_status"))
	if err != nil {
		return "Exited; job has been deleted before it was started"
	}
	return statusWords(code)
}

// statusWords says what an exit status other than 0 is.
func statusWords(status int) string {
	if status >= pbs.ExitSignal {
		return fmt.Sprintf("Exited by signal %d", status-pbs.ExitSignal)
	}
	return fmt.Sprintf("Exited with exit code %d", status&0xff)
}

// reserved tells what is kept for a job that waits, and when it is to start (specification: reservation section 9.1).
func (v *jobsView) reserved(j job) {
	if !j.pending() {
		return
	}
	since := j.moment("lsf_reserved_since", v.env.Zone)
	kept := j.kept()
	slots, mem := 0, int64(0)
	var onHosts, ofMem []string
	for _, k := range kept {
		slots, mem = slots+k.slots, mem+k.mem
		onHosts = append(onHosts, "<"+k.share.String()+">")
		if k.mem > 0 {
			ofMem = append(ofMem, fmt.Sprintf("<%dM*%s>", k.mem, k.host))
		}
	}
	switch {
	case slots == 1:
		v.event(since, "Reserved <1> job slot on host %s;", onHosts[0])
	case slots > 1:
		v.event(since, "Reserved <%d> job slots on host(s) %s;", slots, strings.Join(onHosts, " "))
	}
	switch {
	case len(ofMem) == 1:
		v.event(since, "Reserved <%d> megabyte memory on host %s;", mem, ofMem[0])
	case len(ofMem) > 1:
		v.event(since, "Reserved <%d> megabyte memory on host(s) %s;", mem, strings.Join(ofMem, " "))
	}
	at := estimatedStart(j)
	if at == 0 {
		return
	}
	if where := futureShares(j); len(where) > 0 {
		v.event(time.Unix(at, 0).In(v.env.Zone), "Estimated Job Start Time; alloc=%s", counted(where, " "))
		return
	}
	v.event(time.Unix(at, 0).In(v.env.Zone), "Job will start no sooner than indicated time stamp;")
}

// estimatedStart returns when a job is expected to start, 0 if that is not known.
func estimatedStart(j job) int64 {
	at, err := strconv.ParseInt(amount(j.Object, "estimated", "start_time"), 10, 64)
	if err != nil {
		return 0
	}
	return at
}

// futureShares returns where the job is planned to start.
func futureShares(j job) []share {
	chunks, err := spec.ParseExecVnode(amount(j.Object, "estimated", "exec_vnode"))
	if err != nil {
		return nil
	}
	var all []share
	for _, c := range chunks {
		for _, part := range c.Parts {
			n, _ := part.Items.Get("ncpus")
			host := hostOfVnode(string(part.Vnode))
			if k := len(all); k > 0 && all[k-1].host == host {
				all[k-1].slots += number(n)
				continue
			}
			all = append(all, share{host, number(n)})
		}
	}
	return all
}

// hostOfVnode returns the host by the name of its vnode, which its mom has given: host or host[n].
func hostOfVnode(vnode string) string {
	host, _, _ := strings.Cut(vnode, "[")
	return host
}

// counted joins shares each with its number.
func counted(all []share, sign string) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = strconv.Itoa(s.slots) + "*" + s.host
	}
	return strings.Join(words, sign)
}

func refusedWith(err error, code pbs.Code) bool {
	return errors.Is(err, pbs.Refuse(code))
}
