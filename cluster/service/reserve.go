package service

import (
	"context"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// reservations are what people ask of Batch about reservations, and the waits for what the scheduler decides.
type reservations struct {
	*base
	*serverHooks
}

// Reserve asks for a reservation, and waits for the decision if the caller wants that: pbs_rsub.
func (rs *reservations) Reserve(ctx context.Context, r *connect.Request[api.ReserveRequest]) (*connect.Response[api.ReserveReply], error) {
	made := rs.begun(r)
	result, err := rs.change(ctx, r, func(p person) ([]command.Command, error) {
		made = rs.now() // it is no repeat
		c, err := rs.reservation(ctx, p, r.Msg)
		return []command.Command{c}, err
	})
	if err != nil {
		return nil, err
	}
	outcome, err := rs.reserved(ctx, r.Msg, result.Reservation, made)
	return reply(&api.ReserveReply{Reservation: string(result.Reservation), Outcome: outcome}, err)
}

// A wish is what somebody asks of a reservation: values of attributes, of which times, the rule and jobs go apart from the
// others.
type wish struct {
	list       attr.List
	times      times
	rule, zone string
	job, qmove string
	wait       int64 // interactive
	waits      bool  // it was given
}

// wishOf reads the attributes of a request and permits each of them.
func wishOf(p person, asked []*api.Attribute) (*wish, error) {
	asked, err := fromNodes(asked, p.view)
	if err != nil {
		return nil, err
	}
	w := &wish{}
	for _, a := range asked {
		if err := w.add(p, a); err != nil {
			return nil, err
		}
	}
	vars, _ := w.list.Get("Variable_List", "")
	w.zone, _ = attr.Variable(vars, "PBS_TZID")
	return w, nil
}

// add takes an attribute over.
func (w *wish) add(p person, a *api.Attribute) error {
	if took, err := w.times.take(a); took || err != nil {
		return err
	}
	ch, err := parseChange(p, attr.Reservation, a)
	switch {
	case err != nil:
		return err
	case ch.Op != command.OpSet:
		return pbs.Refuse(pbs.InvalidRequest)
	case ch.Entry.Value == "":
		return nil
	}
	switch ch.Entry.Name {
	case "reserve_rrule":
		w.rule = ch.Entry.Value
	case "reserve_job":
		w.job = ch.Entry.Value
	case "qmove":
		w.qmove = ch.Entry.Value
	case "interactive":
		w.wait, w.waits = number(ch.Entry.Value), true
	default:
		w.list = w.list.Set(ch.Entry.Name, ch.Entry.Resource, ch.Entry.Value)
	}
	return nil
}

// number reads what a parser of the attribute table has let pass.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// reservation returns the command that makes what was asked for.
func (rs *reservations) reservation(ctx context.Context, p person, r *api.ReserveRequest) (*command.Reserve, error) {
	w, err := wishOf(p, r.GetAttributes())
	if err != nil {
		return nil, err
	}
	if err := rs.mayReserve(ctx, p); err != nil {
		return nil, err
	}
	if err := rs.submitHooks(ctx, p, w); err != nil {
		return nil, err
	}
	c := &command.Reserve{Owner: p.user, Hosts: r.GetHosts()}
	switch {
	case len(c.Hosts) > 0:
		err = w.maintenance(p, c, rs.now())
	case w.job != "":
		err = w.ofRunning(p, c)
	case w.qmove != "":
		err = w.forQueued(p, c)
	default:
		err = w.timed(c, rs.now())
	}
	if err != nil {
		return nil, err
	}
	c.Attributes = w.attributes(c.Owner)
	return c, nil
}

// mayReserve refuses reservations where the server has none, and people who may not have any: Managers are treated as others (specification:
// advance-reservations section 13).
func (rs *reservations) mayReserve(ctx context.Context, p person) error {
	s := p.view.Server()
	if !s.Bool("resv_enable") {
		return pbs.Errorf(pbs.ResvDenied, "reservations disallowed on %s", p.view.Cluster().Name)
	}
	if s.Bool("acl_resv_host_enable") && !command.HostListed(s.List("acl_resv_hosts"), p.user.Host) {
		return pbs.Refuse(pbs.ResvHostDenied)
	}
	if s.Bool("acl_resv_group_enable") {
		account, err := rs.account(ctx, p.user)
		if err != nil {
			return err
		}
		if !command.GroupListed(s.List("acl_resv_groups"), append([]string{account.Group}, account.Groups...)) {
			return pbs.Refuse(pbs.ResvGroupDenied)
		}
	}
	if s.Bool("acl_resv_user_enable") && !command.UserListed(s.List("acl_resv_users"), p.user) {
		return pbs.Refuse(pbs.ResvDenied)
	}
	return nil
}

// timed completes a reservation of times, and all that a rule makes of them.
func (w *wish) timed(c *command.Reserve, now pbs.Time) error {
	start, length, err := w.times.resolve(now)
	if err != nil {
		return err
	}
	c.Starts, c.Length = []pbs.Time{start}, length
	if w.rule == "" {
		return nil
	}
	return w.recurring(c, start, now)
}

// maintenance completes a reservation of hosts, whatever runs there.
func (w *wish) maintenance(p person, c *command.Reserve, now pbs.Time) error {
	if p.perm < attr.Operator {
		return pbs.Refuse(pbs.Unauthorized)
	}
	if w.job != "" || w.qmove != "" {
		return pbs.Refuse(pbs.InvalidRequest)
	}
	if !w.times.start.given {
		return pbs.Refuse(pbs.BadTimes)
	}
	w.withoutResources()
	return w.timed(c, now)
}

// ofRunning completes a reservation that is made of a running job. It is its owner's, whoever makes it.
func (w *wish) ofRunning(p person, c *command.Reserve) error {
	j, err := jobOf(p.view, w.job)
	if err != nil {
		return err
	}
	if err := mayChange(p, j, typeReserve); err != nil {
		return err
	}
	_, inside := p.view.ReservationOf(j.Queue)
	switch {
	case j.Array != nil || j.IsSubjob():
		return pbs.Refuse(pbs.ResvFromArray)
	case inside:
		return pbs.Refuse(pbs.ResvFromResv)
	case j.State != pbs.Running || j.Substate != pbs.SubRunning:
		return pbs.Refuse(pbs.BadState)
	case w.qmove != "" || w.rule != "":
		return pbs.Refuse(pbs.InvalidRequest)
	case w.times.start.given || w.times.end.given:
		return pbs.Refuse(pbs.BadTimes)
	}
	w.withoutResources()
	c.Owner, c.Job = j.Owner, j.ID
	return nil
}

// qmoveWait is how long a reservation for a queued job waits for the decision if nothing else is asked for.
const qmoveWait = -10

// forQueued completes a reservation that begins as soon as a queued job fits. Whether the job may be moved into it is seen
// once it is confirmed.
func (w *wish) forQueued(p person, c *command.Reserve) error {
	j, err := jobOf(p.view, w.qmove)
	if err != nil {
		return err
	}
	switch {
	case w.waits && w.wait >= 0:
		return pbs.Errorf(pbs.InvalidRequest, "-I <timeout> value must be negative when used with -Wqmove option.")
	case w.rule != "":
		return pbs.Refuse(pbs.InvalidRequest)
	case w.times.start.given || w.times.end.given:
		return pbs.Refuse(pbs.BadTimes)
	case j.IsSubjob() || j.State != pbs.Queued && j.State != pbs.Held:
		return pbs.Refuse(pbs.BadState)
	}
	w.withoutResources()
	if !w.waits {
		w.wait = qmoveWait
	}
	c.QMove = j.ID
	return nil
}

// withoutResources leaves out what was asked for where it follows from hosts or a job.
func (w *wish) withoutResources() {
	for _, e := range w.list.Of("Resource_List") {
		w.list = w.list.Unset(e.Name, e.Resource)
	}
}

// attributes returns what is kept of a wish. Whoever makes a reservation may always use it; where it was asked for is kept.
func (w *wish) attributes(owner pbs.User) attr.List {
	list := w.list
	users, _ := list.Get("Authorized_Users", "")
	list = list.Set("Authorized_Users", "", withItem(users, owner.String()))
	list = list.Set("Variable_List", "", w.origin(owner))
	if w.wait != 0 {
		list = list.Set("interactive", "", strconv.FormatInt(w.wait, 10))
	}
	return list
}

// withItem adds an item to a list that does not have it.
func withItem(list, item string) string {
	if list == "" {
		return item
	}
	for have := range strings.SplitSeq(list, ",") {
		if strings.TrimPrefix(have, "+") == item {
			return list
		}
	}
	return list + "," + item
}
