package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/transport/api"
)

const bjobsUsage = `bjobs [-h] [-V] [-noheader] [-a] [-d] [-p] [-r] [-s]
             [-w | -l [-UF] | -W | -WF | -WL | -WP] [-X] [-A | -sum | -psum] [-o "field_name[:[-][output_width]] ... [delimiter='character']" [-json] [-hms]]
             [-J job_name] [-m host_name] [-P project_name] [-q queue_name]
             [-app application_name]
             [-u user_name ... | -u all] [job_ID | "job_ID[index_list]" ...]
`

func bjobs() *cli.Command {
	g := cli.Grammar{
		Letters: "adprsAwlJ:m:P:q:u:o:",
		Dashed: map[string]bool{
			"noheader": false, "json": false, "UF": false, "sla": true, "app": true, "g": true, "sum": false, "aff": false,
			"N": true, "pe": false, "pi": false, "psum": false, "hms": false, "U": true, "W": false, "WF": false, "WL": false, "WP": false, "X": false,
		},
	}
	return command("bjobs", "show jobs", bjobsUsage, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		for _, name := range []string{"sla", "g", "aff", "N", "pe", "pi", "U"} {
			if opts.Has(name) {
				return refusedOption(name, "")
			}
		}
		v, err := newJobsView(s, opts)
		if err != nil {
			return err
		}
		return v.run(ctx, opts.Operands)
	})
}

// A jobsView is what bjobs was asked to show.
type jobsView struct {
	*session
	out         *bufio.Writer
	states      []string // of LSF; empty: all
	name        string   // a pattern
	host        string
	project     string
	app         string
	queue       string
	users       string // for the server; empty: whoever asks
	everyone    bool
	finished    bool
	wide        bool
	long        bool
	unfolded    bool
	reasons     bool
	halts       bool // why jobs are suspended
	header      bool
	json        bool
	format      *format
	site        *siteView      // for -l
	config      *lsf.Config    // nil: nobody has asked for it
	usage       bool           // -W
	ending      *field         // -WF, -WL, -WP: the column that tells of the end
	arrays      bool           // -A
	sums        *sums          // nil: each job is shown by itself
	causes      map[string]int // -psum: how many jobs wait for a reason
	hms         bool           // times as hours, minutes and seconds
	count       int
	held, holds string // the number of the array that was seen last, if it is held, and its Hold_Types
}

// siteView is what the long form shows that is not of the job.
type siteView struct {
	byAgent bool             // some hosts say what is free of them
	limitOf func(job) string // behind a run limit: the host for which it is said
	site    combiner
	defs    []resource.Def
	hosts   []offer
	usable  map[string][]string // the words of HOSTS, by queue
	// reasons are why hosts have no room for jobs that ask for the same, and have nothing kept for them.
	reasons map[string][]string

	bounds *bounds // nil: nobody has asked

	look func() *around // reads what hosts are seen with
	seen *around        // nil: nobody has looked
}

// around returns what hosts are seen with, their load and what files say of them only if that is wanted.
func (v *siteView) around(whole bool) *around {
	if !whole {
		return &around{defs: v.defs, hosts: v.hosts}
	}
	if v.seen == nil {
		v.seen = v.look()
	}
	return v.seen
}

func newJobsView(s *session, opts *cli.Options) (*jobsView, error) {
	v := &jobsView{
		session: s, out: bufio.NewWriter(s.env.Stdout), wide: opts.Has("w"), long: opts.Has("l"), unfolded: opts.Has("UF"),
		reasons: opts.Has("p"), halts: opts.Has("s"), header: !opts.Has("noheader"), json: opts.Has("json"),
		name: opts.Last("J"), host: opts.Last("m"), project: opts.Last("P"), app: opts.Last("app"), queue: opts.Last("q"),
	}
	for _, o := range []struct {
		letter string
		states []string
	}{
		{"p", []string{lsf.Pending, lsf.HeldPending}},
		{"r", []string{lsf.Running}},
		{"s", []string{lsf.HeldPending, lsf.UserSuspended, lsf.SysSuspended}},
		{"d", []string{lsf.Done, lsf.Exited}},
	} {
		if opts.Has(o.letter) {
			v.states = append(v.states, o.states...)
		}
	}
	v.finished = opts.Has("a") || opts.Has("d")
	if opts.Has("a") {
		v.states = nil
	}
	for option, name := range map[string]string{"WF": "finish_time", "WL": "time_left", "WP": "%complete"} {
		if opts.Has(option) {
			f := endings[name]
			v.ending, v.wide = &f, true
		}
	}
	v.usage, v.arrays = opts.Has("W"), opts.Has("A")
	if v.hms = opts.Has("hms"); v.hms && !opts.Has("o") {
		return nil, told("bjobs: -hms is an option of -o: it shows times as hours:minutes:seconds")
	}
	if opts.Has("psum") {
		v.causes, v.states = map[string]int{}, []string{lsf.Pending, lsf.HeldPending}
	}
	if v.arrays || opts.Has("sum") {
		v.sums, v.finished = &sums{slots: map[string]int{}}, v.finished || v.arrays
	}
	switch users := strings.Fields(opts.Last("u")); {
	case opts.Has("u") && len(users) == 0:
		return nil, s.command.Misuse()
	case slices.Contains(users, "all"):
		v.everyone = true
	default:
		v.users = strings.Join(users, ",")
	}
	if opts.Has("o") || v.json {
		f, err := parseFormat(cmp.Or(opts.Last("o"), defaultFormat))
		if err != nil {
			return nil, err
		}
		v.format = f
	}
	if v.json && !opts.Has("o") {
		return nil, told("bjobs: -json is an option of -o: say which fields are wanted")
	}
	if v.format != nil && (v.long || v.wide && v.ending == nil) {
		return nil, told("bjobs: -o goes with neither -l nor -w")
	}
	forms := 0
	for _, form := range []bool{v.format != nil, v.long, v.usage, opts.Has("WF"), opts.Has("WL"), opts.Has("WP"), v.arrays, opts.Has("sum"), v.causes != nil} {
		if form {
			forms++
		}
	}
	if forms > 1 {
		return nil, told("bjobs: -o, -l, -W, -WF, -WL, -WP, -A, -sum and -psum go with none of the others")
	}
	return v, nil
}

// run shows the jobs that are asked for, or all that the options choose.
func (v *jobsView) run(ctx context.Context, operands []string) error {
	r := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Subjobs: true, History: v.finished, Attributes: jobAttributes}
	switch {
	case v.long, v.usage, v.ending != nil, v.format != nil:
		r.Attributes = nil
	case v.arrays:
		r.Attributes = append(slices.Clone(jobAttributes), "project", lsf.JobApplication, "array_indices_submitted")
	case v.reasons, v.causes != nil:
		r.Attributes = append(slices.Clone(jobAttributes), "comment", "lsf_unready", "depend", "project", lsf.JobApplication, lsf.JobRequirement, lsf.JobCombined, lsf.JobSelect, lsf.JobQueueSelect, lsf.JobOrder,
			lsf.JobHosts, lsf.JobLayout)
	case v.halts:
		r.Attributes = append(slices.Clone(jobAttributes), "comment", "lsf_resumed", "project", lsf.JobApplication)
	case v.project != "" || v.app != "":
		r.Attributes = append(slices.Clone(jobAttributes), "project", lsf.JobApplication)
	}
	if v.queue != "" {
		r.Queues = []string{v.queue}
	}
	if v.long || v.reasons || v.causes != nil {
		if err := v.learn(ctx); err != nil {
			return err
		}
	}
	if v.long {
		if err := v.learnBounds(ctx); err != nil {
			return err
		}
	}
	if v.format != nil && (v.format.wants("combined_resreq") || v.format.wants("effective_resreq")) {
		if err := v.learn(ctx); err != nil {
			return err
		}
	}
	v.begin()
	named := len(operands) > 0 && !slices.Equal(operands, []string{"0"})
	var err error
	if named {
		err = v.named(ctx, r, operands)
	} else {
		if !v.everyone {
			r.Where = append(r.Where, &api.Criterion{Name: "Job_Owner", Value: v.users})
		}
		if len(v.states) > 0 {
			r.Where = append(r.Where, &api.Criterion{Name: "job_state", Value: lsf.Letters(v.states...) + "B"})
		}
		_, err = v.list(ctx, r, func(o *api.Object) error { return v.show(newJob(o)) })
	}
	if err != nil {
		if refusedWith(err, pbs.UnknownQueue) {
			return told(v.queue + ": No such queue")
		}
		return err
	}
	v.finish()
	if v.count == 0 && v.status == 0 && (v.sums == nil || v.arrays) {
		v.complain(v.none())
	}
	return v.out.Flush()
}

// named shows the jobs of operands. Only the server knows whether a number names an array: both are
// asked for.
func (v *jobsView) named(ctx context.Context, r *api.ListRequest, operands []string) error {
	r.History = true
	for _, operand := range operands {
		id := trimmed(operand)
		if id == "" {
			v.complain(fmt.Sprintf("%s: Illegal job ID.", operand))
			continue
		}
		r.Names = names(id)
		before, found := v.count, false
		_, err := v.list(ctx, r, func(o *api.Object) error {
			if o.Refusal != nil {
				return nil
			}
			found = true
			return v.show(newJob(o))
		})
		switch {
		case err != nil:
			return err
		case !found || v.count == before && len(v.states) == 0:
			_ = v.out.Flush()
			v.complain(fmt.Sprintf("Job <%s> is not found", operand))
		}
	}
	return nil
}

// names returns the identifiers that an operand may mean: only the server knows whether a number names an array.
func names(id string) []string {
	if strings.Contains(id, "[") {
		return []string{id}
	}
	return []string{id, id + "[]"}
}

// trimmed returns a job id as the server takes it, empty if it is none.
func trimmed(operand string) string {
	id := strings.ReplaceAll(operand, " ", "")
	if number, set, ok := cutIndices(id); ok && len(set) > 0 {
		id = number + "[" + set.String() + "]"
	}
	if _, err := pbs.ParseJobID(id, "server"); err != nil {
		return ""
	}
	return id
}

// none says that there was nothing to show.
func (v *jobsView) none() string {
	switch {
	case v.finished && len(v.states) == 0:
		return "No job found"
	case slices.Contains(v.states, lsf.Done):
		return "No DONE/EXIT job found"
	case slices.Contains(v.states, lsf.Pending):
		return "No pending job found"
	case slices.Contains(v.states, lsf.Running):
		return "No running job found"
	case slices.Contains(v.states, lsf.HeldPending):
		return "No suspended job found"
	}
	return "No unfinished job found"
}

// wants reports whether a job is one of those that the options choose.
func (v *jobsView) wants(j job) bool {
	switch {
	case j.Refusal != nil, j.isArray(), j.state == lsf.Moved:
		return false
	case len(v.states) > 0 && !slices.Contains(v.states, j.state):
		return false
	case v.name != "" && !matchesName(v.name, j):
		return false
	case v.project != "" && projectOf(j) != v.project, v.app != "" && j.get(lsf.JobApplication) != v.app:
		return false
	}
	return v.host == "" || slices.ContainsFunc(j.shares(), func(s share) bool { return s.host == v.host })
}

// matchesName compares the name of a job with a pattern: of an array's job also without its index, or with a list of indices.
func matchesName(pattern string, j job) bool {
	if bare, set, ok := cutIndices(pattern); ok && len(set) > 0 {
		if j.get("array_index") == "" || !set.Has(j.index()) {
			return false
		}
		pattern = bare
	}
	for _, name := range []string{j.name(), j.get("Job_Name")} {
		if name == pattern {
			return true
		}
		if ok, err := path.Match(strings.NewReplacer("[", `\[`, "]", `\]`).Replace(pattern), name); ok && err == nil {
			return true
		}
	}
	return false
}

// show prints a job that is wanted.
func (v *jobsView) show(j job) error {
	if v.arrays && j.Refusal == nil && j.isArray() {
		v.sums.of(j).spec = j.get("Job_Name") + "[" + j.get("array_indices_submitted") + "]"
	}
	j = v.asItsArray(j)
	if !v.wants(j) {
		return nil
	}
	if v.sums != nil {
		if v.sums.add(j, v.arrays) {
			v.count++
		}
		return nil
	}
	v.count++
	switch {
	case v.causes != nil:
		for _, reason := range v.pendingReasons(j) {
			v.causes[reasonAlone(reason)]++
		}
	case v.format != nil:
		v.format.row(v, j)
	case v.long:
		v.details(j)
	case v.usage:
		v.usageRow(j)
	default:
		v.row(j)
	}
	return nil
}

// asItsArray returns a job of an array that waits as one that is held if the array is, which comes before it: holds are the array's.
func (v *jobsView) asItsArray(j job) job {
	switch {
	case j.Refusal != nil:
	case j.isArray():
		v.held = ""
		if j.state == lsf.HeldPending {
			v.held, v.holds = j.array(), j.get("Hold_Types")
		}
	case j.index() != 0 && j.state == lsf.Pending && j.array() == v.held:
		j.state = lsf.HeldPending
		j.Object = &api.Object{Name: j.Name, Attributes: append([]*api.Attribute{{Name: "Hold_Types", Value: v.holds}}, j.Attributes...)}
	}
	return j
}

func (v *jobsView) begin() {
	if v.format != nil {
		v.format.begin(v)
	}
}

func (v *jobsView) finish() {
	switch {
	case v.format != nil:
		v.format.end(v)
	case v.causes != nil:
		v.writeCauses()
	case v.sums != nil:
		v.writeSums()
	}
}

// pendingReasons returns why a job waits.
func (v *jobsView) pendingReasons(j job) []string {
	holds := j.get("Hold_Types")
	switch {
	case j.state == lsf.HeldPending && !strings.Contains(holds, "u"):
		return []string{lsf.ReasonAdmin}
	case j.state == lsf.HeldPending:
		return []string{lsf.ReasonUser}
	case j.get("job_state") == "H" && j.get("depend") != "":
		return []string{lsf.ReasonDepend}
	case j.get("job_state") == "W":
		return []string{lsf.ReasonTime}
	}
	if j.get("lsf_unready") == "True" {
		return []string{lsf.ReasonUnready}
	}
	if all := v.hostReasons(j); len(all) > 0 {
		return all
	}
	return []string{lsf.ReasonOf(j.get("comment"))}
}

// projectOf returns a job's project; that of jobs without one has LSF's name.
func projectOf(j job) string {
	if p := j.get("project"); p != "" && p != noProject {
		return p
	}
	return "default"
}
