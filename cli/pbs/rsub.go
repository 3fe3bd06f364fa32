package pbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/cli/render"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

const rsubUsage = `usage: pbs_rsub [-I seconds] [-m mail_points] [-M mail_list]
                [-N reservation_name] [-u user_list] [-g group_list]
                [-U auth_user_list] [-G auth_group_list] [-H auth_host_list]
                [-R start_time] [-E end_time] [-D duration] [-q destination]
                [-r rrule_expression] [-W otherattributes=value...]
                -l resource_list | --hosts host1 [... hostn]
       pbs_rsub --version
`

const (
	// maxRule is how many characters a rule of recurrence may have.
	maxRule = 66
	// qmoveWait is the -I of -Wqmove.
	qmoveWait = "-10"
)

// A reserving is what pbs_rsub asks for.
type reserving struct {
	booking
	server string // of -q
	hosts  []string
	job    string // that it is made of
	qmove  string // the job that is moved into it
	rule   string
	zone   string // PBS_TZID
}

// rsub asks for a reservation (specification: advance-reservations section 3).
func rsub() *cli.Command {
	c := &cli.Command{
		Name: "pbs_rsub", Summary: "reserve vnodes for a time", Grammar: own("D:E:g:G:H:I:l:m:M:N:q:r:R:u:U:W:"),
		Usage: rsubUsage, UsageStatus: 2,
	}
	c.Grammar.Words = map[string]int{"hosts": -1, "job": 1}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		r := &reserving{booking: booking{request: request{env: env}}}
		if err := r.read(c, opts); err != nil {
			return err
		}
		s, err := open(env, c, opts)
		if err != nil {
			return unreachable(env, c, env.Target(opts.Last("server")).Server, err)
		}
		return s.reserve(ctx, r)
	}
	return c
}

// read takes over what the command line says. What is wrong with it is told first, then what the command itself refuses.
func (r *reserving) read(c *cli.Command, opts *cli.Options) error {
	if len(opts.Raw) == 0 {
		return c.Misuse()
	}
	r.common(opts)
	r.others(opts)
	r.together(opts)
	switch {
	case len(r.faults) > 0:
		return c.Misuse(r.faults...)
	case opts.Has("job") && r.job == "", opts.Has("job") && (r.qmove != "" || len(r.hosts) > 0), r.qmove != "" && len(r.hosts) > 0:
		return c.Misuse()
	case r.qmove != "" && opts.Has("I") && r.wait >= 0:
		return r.plainly(c, c.Name+": -I <timeout> value must be negative when used with -Wqmove option.")
	}
	if err := r.tooLong(c); err != nil {
		return err
	}
	switch {
	case opts.Has("r") && r.zone == "":
		return r.plainly(c, c.Name+" error: a valid PBS_TZID timezone environment variable is required.")
	case opts.Has("r") && r.rule == "":
		return pbs.Refuse(pbs.BadRule)
	}
	for _, a := range r.changes {
		if a.Name == "Resource_List" && a.Value == "" { // the server would take it for none
			return pbs.Attribute(pbs.BadAttributeValue, "Resource_List."+a.Resource)
		}
	}
	for _, id := range []string{r.job, r.qmove} {
		if _, err := pbs.ParseJobID(id, "server"); id != "" && err != nil {
			return err
		}
	}
	r.complete(opts)
	return nil
}

// others reads the options that pbs_ralter does not have.
func (r *reserving) others(opts *cli.Options) {
	for _, v := range opts.All("l") {
		if !r.amounts(v) {
			r.bad("l", "")
		}
	}
	if opts.Has("D") {
		r.set("Resource_List", "walltime", opts.Last("D"))
	}
	for _, v := range opts.All("W") {
		if !r.extended(v) {
			r.bad("W", "")
		}
	}
	if server, ok := strings.CutPrefix(opts.Last("q"), "@"); opts.Has("q") && ok && server != "" {
		r.server = server
	} else if opts.Has("q") {
		r.faults = append(r.faults, `illegal -q value: format "@server"`)
	}
	if r.rule = opts.Last("r"); utf8.RuneCountInString(r.rule) > maxRule {
		r.faults = append(r.faults, "illegal -r value (expression too long)")
	}
	r.zone = r.env.Getenv("PBS_TZID")
	r.job = opts.Last("job")
	if opts.Has("hosts") {
		r.hosts = opts.All("hosts")
	}
	if len(opts.Operands) > 0 {
		r.faults = append(r.faults, "directive error: "+strings.Join(opts.Raw, " ")+" ")
	}
}

// extended reads -W. Which attributes there are the server knows.
func (r *reserving) extended(v string) bool {
	pairs, ok := pairsOf(v)
	for _, p := range pairs {
		attribute, resource, _ := strings.Cut(p.name, ".")
		if !isWord(attribute) || p.value == "" || !utf8.ValidString(p.value) {
			return false
		}
		if p.name == "qmove" {
			r.qmove = p.value
			continue
		}
		r.set(attribute, resource, p.value)
	}
	return ok
}

// together notes what does not go together.
func (r *reserving) together(opts *cli.Options) {
	fault := func(is bool, text string) {
		if is {
			r.faults = append(r.faults, text)
		}
	}
	fault(opts.Has("job") && timed(opts), "Start/End time cannot be used with --job option")
	fault(r.qmove != "" && timed(opts), "-Wqmove is not compatible with -R or -E option")
	if !opts.Has("hosts") {
		return
	}
	fault(opts.Has("I"), "can't use -I with --hosts")
	fault(opts.Has("l"), "can't use -l with --hosts")
	fault(slices.Contains(r.hosts, ""), "missing host(s)")
	for i, host := range r.hosts {
		if host != "" && slices.Contains(r.hosts[:i], host) {
			fault(true, "Duplicate host: "+host)
			break
		}
	}
}

// complete adds what comes from the command's surroundings.
func (r *reserving) complete(opts *cli.Options) {
	list := variables{seen: map[string]bool{}}
	if name, ok := r.env.Lookup("LOGNAME"); ok {
		list.add("PBS_O_LOGNAME", name)
	}
	if host, err := r.env.Hostname(); err == nil {
		list.add("PBS_O_HOST", host)
	}
	if opts.Has("r") {
		r.set("reserve_rrule", "", r.rule)
		list.add("PBS_TZID", r.zone)
	}
	r.set("Variable_List", "", list.list.String())
	if r.qmove != "" && !opts.Has("I") {
		r.set("interactive", "", qmoveWait)
	}
}

// reserve asks the server, and tells what has become of it.
func (s *session) reserve(ctx context.Context, r *reserving) error {
	id, outcome, err := s.askReservation(ctx, r)
	if err != nil {
		err = unreachable(s.env, s.command, s.meant, err)
		if _, told := errors.AsType[cli.Status](err); told {
			return err
		}
		s.fail(err, nil)
		return s.end()
	}
	if _, err := fmt.Fprintf(s.env.Stdout, "%s %s\n", id, reserved(outcome)); err != nil {
		return fmt.Errorf("reservation %s is there: %w", id, err)
	}
	return nil
}

func (s *session) askReservation(ctx context.Context, r *reserving) (id string, outcome api.ReservationOutcome, err error) {
	err = s.mean(r.server)
	if err == nil && r.qmove != "" {
		err = s.checkMovable(ctx, r)
	}
	if err == nil && r.job != "" {
		if r.job, err = s.meanOf(at(r.job, r.server)); err == nil {
			r.set("reserve_job", "", r.job)
		}
	}
	if err == nil && len(r.hosts) > 0 {
		err = s.checkHosts(ctx, r.hosts)
	}
	if err != nil {
		return "", 0, err
	}
	reply, err := s.batch.Reserve(s.only(ctx), connect.NewRequest(&api.ReserveRequest{Attributes: r.changes, Hosts: r.hosts}))
	if err != nil {
		return "", 0, err
	}
	return reply.Msg.Reservation, reply.Msg.Outcome, nil
}

// reserved returns PBS's words for what has become of a request.
func reserved(o api.ReservationOutcome) string {
	switch o {
	case api.ReservationOutcome_RESERVATION_OUTCOME_CONFIRMED:
		return "CONFIRMED"
	case api.ReservationOutcome_RESERVATION_OUTCOME_DENIED:
		return "DENIED"
	case api.ReservationOutcome_RESERVATION_OUTCOME_WAIT_EXPIRED:
		return "delete, wait period expired"
	case api.ReservationOutcome_RESERVATION_OUTCOME_FAILED:
		return "FAILED"
	}
	return "UNCONFIRMED"
}

// checkMovable refuses a job that is not there, or that is not queued any more.
func (s *session) checkMovable(ctx context.Context, r *reserving) error {
	job, err := s.meanOf(at(r.qmove, r.server))
	if err != nil {
		return err
	}
	_, found, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: []string{job}, Attributes: []string{"job_state"}})
	if err == nil && len(found) > 0 && found[0].Refusal != nil {
		err = refusal(found[0])
	}
	switch {
	case errors.Is(err, pbs.Refuse(pbs.UnknownJob)), errors.Is(err, pbs.Refuse(pbs.HasFinished)):
		return r.plainly(s.command, "Job "+s.fullID(ctx, job)+" does not exist")
	case err != nil:
		return err
	case len(found) > 0 && strings.Contains("RTE", cmp.Or(value(found[0], "job_state"), "?")):
		return r.plainly(s.command, "Job not in qmove state")
	}
	r.set("qmove", "", job)
	return nil
}

// checkHosts refuses hosts of which no vnode has cpus.
func (s *session) checkHosts(ctx context.Context, hosts []string) error {
	with := map[string]bool{}
	err := s.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_VNODE, Attributes: []string{"resources_available.host", "resources_available.ncpus"},
	}, nil, func(o *api.Object) error {
		if n := render.Find(o, "resources_available", "ncpus"); n != "" && n != "0" {
			with[render.Find(o, "resources_available", "host")] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, host := range hosts {
		if !with[host] {
			s.complain("Host with resources not found: "+host, s.command.UsageStatus)
			return s.end()
		}
	}
	return nil
}
