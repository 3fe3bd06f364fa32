package pbs

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"rampart/cli"
	"rampart/cli/render"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

const qstatUsage = `usage: 
qstat [-f] [-J] [-p] [-t] [-x] [-E] [-F format | -w] [-D delim] [ job_identifier... | destination... ]
qstat [-a|-i|-r|-H|-T] [-J] [-t] [-u user] [-n] [-s] [-G|-M] [-1] [-w]
	[ job_identifier... | destination... ]
qstat -Q [-f] [-F format] [-D delim] [ destination... ]
qstat -q [-G|-M] [ destination... ]
qstat -B [-f] [-F format] [-D delim] [ server_name... ]
qstat --version
`

// A view is what qstat was asked to show.
type view struct {
	kind      api.ObjectKind
	long      bool
	wide      bool
	format    string // "", "json", "dsv"
	delimiter string
	history   bool
	stale     bool
	watch     bool
	arrays    bool // -J
	subjobs   bool // -t
	percent   bool // -p
	limits    bool // -q
	unit      render.Unit
	where     []*api.Criterion
	table     *render.Alternative // -a and its family; nil: the default table
}

func qstat() *cli.Command {
	c := &cli.Command{
		Name: "qstat", Summary: "show jobs, queues and servers", Usage: qstatUsage, UsageStatus: 2,
		Grammar: own("aEfHinpqrsTu:wxGMJ1QBtF:D:", "stale", "watch"),
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		v, err := parseView(c, opts, env.Zone)
		if err != nil {
			return err
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		out := newStatus(s, v)
		if v.watch {
			return s.watchJobs(ctx, opts.Operands, out)
		}
		s.showAll(ctx, v, opts.Operands, out)
		if err := out.end(); err != nil {
			return err
		}
		return s.end()
	}
	return c
}

func parseView(c *cli.Command, opts *cli.Options, zone *time.Location) (view, error) {
	v := view{
		kind: api.ObjectKind_OBJECT_KIND_JOB, long: opts.Has("f"), wide: opts.Has("w"), delimiter: "|",
		history: opts.Has("x") || opts.Has("H"), stale: opts.Has("stale"), watch: opts.Has("watch"), arrays: opts.Has("J"), subjobs: opts.Has("t"),
		format: strings.ToLower(opts.Last("F")), percent: opts.Has("p"), limits: opts.Has("q"), unit: unit(opts),
	}
	if opts.Has("D") {
		v.delimiter = opts.Last("D")
	}
	queue, server := opts.Has("Q"), opts.Has("B")
	v.table = alternative(opts, zone)
	other := v.table != nil || v.percent || v.limits
	switch {
	case queue && server, v.limits && (v.long || v.table != nil), other && (queue || server), opts.Has("F") && !v.long,
		v.percent && v.table != nil:
		return v, c.Misuse("conflicting options.")
	case v.delimiter == "":
		return v, c.Misuse()
	case opts.Has("F") && v.format != "json" && v.format != "dsv":
		return v, c.Misuse("illegal -F value")
	case v.watch && (queue || server || v.stale || v.format != "" || other):
		return v, c.Misuse("--watch goes with the table of jobs, -f, -w and -x only")
	case queue || v.limits:
		v.kind = api.ObjectKind_OBJECT_KIND_QUEUE
	case server:
		v.kind = api.ObjectKind_OBJECT_KIND_SERVER
	}
	v.where = choice(opts)
	if v.long { // of -a and its family only the choice of jobs counts
		v.table = nil
	}
	return v, nil
}

// alternative returns the table of -a and its family if one of them was given.
func alternative(opts *cli.Options, zone *time.Location) *render.Alternative {
	given := false
	for _, letter := range []string{"a", "H", "i", "n", "r", "s", "T", "u"} {
		given = given || opts.Has(letter)
	}
	units := opts.Has("G") || opts.Has("M")
	if !given && (!units && !opts.Has("1") || opts.Has("q")) {
		return nil
	}
	return &render.Alternative{
		Wide: opts.Has("w"), Nodes: opts.Has("n"), Comment: opts.Has("s"), OneLine: opts.Has("1"), Start: opts.Has("T"), Zone: zone, Unit: unit(opts),
	}
}

func unit(opts *cli.Options) render.Unit {
	switch {
	case opts.Has("G"):
		return render.Gigabytes
	case opts.Has("M"):
		return render.Megawords
	}
	return 0
}

// choice returns which jobs -i, -r, -H and -u choose.
func choice(opts *cli.Options) []*api.Criterion {
	var all []*api.Criterion
	for _, c := range []struct{ letter, states string }{{"i", "QHWT"}, {"r", "RSUE"}, {"H", "FM"}} {
		if opts.Has(c.letter) {
			all = append(all, &api.Criterion{Name: "job_state", Value: c.states})
		}
	}
	if opts.Has("u") {
		all = append(all, &api.Criterion{Name: "Job_Owner", Value: opts.Last("u")})
	}
	return all
}

// A question is one List call.
type question struct {
	operand string // for messages; empty if the call is about several
	server  string // after "@"
	job     string // one of the identifiers that are asked for
	list    *api.ListRequest
}

// questions turns operands into calls: identifiers side by side share one.
func (s *session) questions(v view, operands []string) []question {
	var all []question
	ask := func(operand, server string) *api.ListRequest {
		r := &api.ListRequest{Kind: v.kind, History: v.history, Stale: v.stale, Where: v.where}
		r.Arrays, r.Subjobs = v.arrays, v.subjobs
		if v.kind == api.ObjectKind_OBJECT_KIND_JOB {
			r.Attributes = v.columns()
		}
		all = append(all, question{operand: operand, server: server, list: r})
		return r
	}
	if len(operands) == 0 {
		ask("", "")
		return all
	}
	var ids *api.ListRequest // of jobs of one server
	var of string
	for _, operand := range operands {
		if v.kind == api.ObjectKind_OBJECT_KIND_JOB && isJobID(operand) {
			if _, err := pbs.ParseJobID(operand, "server"); err != nil {
				s.fail(err, nil)
				continue
			}
			id, at, named := strings.Cut(operand, "@")
			_, server, _ := strings.Cut(id, ".")
			if named {
				server = "@" + at
			}
			if ids == nil || server != of {
				ids, of = ask("", ""), server
				all[len(all)-1].job = operand
			}
			ids.Names = append(ids.Names, id)
			continue
		}
		ids = nil
		destination(v.kind, operand, ask)
	}
	return all
}

// columns returns the attributes that are to be shown; none: all.
func (v view) columns() []string {
	switch {
	case v.long && v.percent: // as in PBS
		return []string{"Resource_List"}
	case v.long:
		return nil
	case v.table != nil:
		return v.table.Columns()
	}
	t := render.NewJobTable(nil, v.wide)
	if v.percent {
		t.Percent()
	}
	return t.Columns()
}

func isJobID(operand string) bool { return operand != "" && operand[0] >= '0' && operand[0] <= '9' }

// destination asks for what a queue, a server, or queue@server stands for.
func destination(kind api.ObjectKind, operand string, ask func(operand, server string) *api.ListRequest) {
	name, server, _ := strings.Cut(operand, "@")
	if kind == api.ObjectKind_OBJECT_KIND_SERVER {
		ask(operand, strings.TrimPrefix(operand, "@"))
		return
	}
	r := ask(operand, server)
	switch {
	case name == "":
	case kind == api.ObjectKind_OBJECT_KIND_QUEUE:
		r.Names = []string{name}
	default:
		r.Queues = []string{name}
	}
}

func (s *session) showAll(ctx context.Context, v view, operands []string, out *status) {
	for _, q := range s.questions(v, operands) {
		if s.show(ctx, q, out) {
			return
		}
	}
}

// show asks one question. It returns true if it is no use to ask more.
func (s *session) show(ctx context.Context, q question, out *status) (fatal bool) {
	err := s.mean(q.server)
	if q.job != "" {
		_, err = s.meanOf(q.job)
	}
	if err != nil {
		return s.fail(err, nil)
	}
	err = s.list(ctx, q.list, out.begin, func(o *api.Object) error {
		if o.Refusal != nil {
			out.refused()
			s.refuse(ctx, q, o.Name, refusal(o))
			return nil
		}
		out.size(ctx)
		return out.object(o)
	})
	if err == nil {
		return false
	}
	out.refused()
	var r *pbs.Error
	if !errors.As(err, &r) || q.operand == "" && q.job == "" || s.explain(err).Fatal {
		return s.fail(err, nil)
	}
	if q.job == "" {
		s.refuse(ctx, q, q.operand, r)
		return false
	}
	for _, id := range q.list.GetNames() { // a PBS is asked for each by itself
		s.refuse(ctx, q, s.fullID(ctx, id), r)
	}
	return false
}

// refuse tells of an object that cannot be shown, in PBS's words for each case.
func (s *session) refuse(ctx context.Context, q question, name string, r *pbs.Error) {
	text := r.Message + " " + name
	switch r.Code {
	case pbs.UnknownQueue:
		text = "Unknown queue destination " + cmp.Or(q.operand, name)
	case pbs.HasFinished:
		text = s.fullID(ctx, name) + " Job has finished, use -x or -H to obtain historical job information"
	case pbs.UnknownJob:
		text = r.Message + " " + s.fullID(ctx, name)
	}
	s.complain(text, r.Code.ExitStatus())
}
