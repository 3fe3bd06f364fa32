package command

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// arrival is how a job comes to a queue.
type arrival uint8

const (
	submitted arrival = iota // qsub
	moved                    // qmove by its owner
	routed                   // from a routing queue
	placed                   // qmove by an operator, who is above what users may
)

// admit reports whether a job may come into a queue: whether the queue is enabled, who may
// use it, how much one job may ask for, and how much all jobs of its user, group and
// project may.
func admit(tx *state.Tx, q *state.Queue, j *state.Job, by arrival) error {
	if by != placed || q.Reservation != "" { // whose owner alone says who may use it
		if !q.Enabled {
			return pbs.Refuse(pbs.QueueDisabled)
		}
		if by != routed && q.Bool("from_route_only") {
			return pbs.Refuse(pbs.QueueAccess)
		}
		if err := permitted(tx, q, j); err != nil {
			return err
		}
	}
	if err := withinBounds(tx, q, j, anyResource); err != nil {
		return err
	}
	if err := walltimes(j); err != nil { // whose max_walltime may be a bound
		return err
	}
	if err := withinReservations(tx, q, j); err != nil {
		return err
	}
	if most := q.Int("max_array_size"); j.Array != nil && most > 0 && int64(j.Array.Indices.Count()) > most {
		return pbs.Refuse(pbs.ArrayTooLarge)
	}
	if by == placed || q.Routes() {
		return nil
	}
	in := *j
	in.Queue = q.Name
	return roomFor(tx, &in)
}

// permitted compares a job with the access lists of the queue, and with that of groups of
// the server: its others hold for every request, whatever it asks for (cluster/service). Of
// groups that under which the job runs counts, and all others of its owner.
func permitted(tx *state.Tx, q *state.Queue, j *state.Job) error {
	groups := []string{j.Subjects()[2].Name}
	if account, ok := tx.Account(j.Owner.Name); ok {
		groups = append(groups, account.Groups...)
	}
	s := tx.Server()
	switch {
	case s.Bool("acl_group_enable") && !GroupListed(s.List("acl_groups"), groups),
		q.Bool("acl_group_enable") && !GroupListed(q.List("acl_groups"), groups):
		return pbs.Refuse(pbs.Unauthorized)
	case q.Bool("acl_host_enable") && !HostListed(q.List("acl_hosts"), j.Owner.Host):
		return pbs.Refuse(pbs.UnknownHost)
	case q.Bool("acl_user_enable") && !UserListed(q.List("acl_users"), j.Owner) && !ownReservation(tx, q, j.Owner):
		return pbs.Refuse(pbs.Unauthorized)
	}
	return nil
}

// HostListed reports whether an access list of hosts lets a host in.
func HostListed(items []string, host pbs.HostName) bool {
	return access(items, matchHost(string(host)))
}

// UserListed reports whether an access list of users lets somebody in.
func UserListed(items []string, u pbs.User) bool { return access(items, matchUser(u)) }

// GroupListed reports whether an access list of groups lets in who is a member of groups: the first item
// that names any of them decides.
func GroupListed(items, groups []string) bool {
	return access(items, func(item string) bool { return slices.Contains(groups, item) })
}

// access looks for the first item that matches: with - in front it forbids. A subject that is not named is not let in.
func access(items []string, matches func(item string) bool) bool {
	for _, item := range items {
		name, minus := strings.CutPrefix(item, "-")
		if !minus {
			name = strings.TrimPrefix(item, "+")
		}
		if name == "" || matches(name) { // a sign alone is for all others
			return !minus
		}
	}
	return false
}

// matchHost compares a host with patterns such as *.example.org; * alone is any.
func matchHost(host string) func(pattern string) bool {
	return func(pattern string) bool { return Matches(strings.ToLower(pattern), strings.ToLower(host)) }
}

// matchUser compares a user with patterns such as ann, ann@hosta, *@*.example.org.
func matchUser(u pbs.User) func(pattern string) bool {
	return func(pattern string) bool {
		name, host, hosted := strings.Cut(pattern, "@")
		return Matches(name, u.Name) && (!hosted || matchHost(string(u.Host))(host))
	}
}

// Matches compares with a pattern in which "*" stands for any text.
func Matches(pattern, text string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	for ok {
		var part string
		if part, rest, star = strings.Cut(rest, "*"); !star {
			return strings.HasSuffix(text, part)
		}
		_, text, ok = strings.Cut(text, part)
	}
	return false
}

func anyResource(string) bool { return true }

// withinBounds compares what a job asks of some resources with resources_min and resources_max. A bound of the queue
// takes the place of the server's.
func withinBounds(tx *state.Tx, q *state.Queue, j *state.Job, compared func(resource string) bool) error {
	for _, bound := range []struct {
		name  string
		wrong int
	}{{"resources_max", +1}, {"resources_min", -1}} {
		for _, limit := range merged(q.Resources(bound.name), tx.Server().Resources(bound.name)) {
			def, known := tx.Resource(limit.Name)
			if !known {
				continue
			}
			for _, name := range boundedBy(j, limit.Name) {
				asked, ok := j.Resources.Get(name)
				if name == "walltime" && ok && compared(name) {
					asked = inReference(tx, j, asked)
				}
				if ok && compared(name) && beyond(def, asked, limit.Value, bound.wrong) {
					return pbs.Refuse(pbs.ResourceLimit)
				}
			}
		}
	}
	return nil
}

// beyond compares numbers; a value that is none must be the same.
func beyond(def resource.Def, asked, bound string, wrong int) bool {
	a, err1 := def.Parse(asked)
	b, err2 := def.Parse(bound)
	if err1 != nil || err2 != nil {
		return false
	}
	if !def.Type.Numeric() {
		return def.Type != resource.StringArray && a.Cmp(b) != 0
	}
	return a.Cmp(b) == wrong
}

// roomFor compares a job that is about to come into its queue with the limits on how much
// may be queued.
func roomFor(tx *state.Tx, j *state.Job) error {
	limits := tx.QueueLimits(j)
	for i, l := range limits {
		if w, reached := tx.Reached(limits[i:i+1], false, j.Weight(), nil); reached {
			code := pbs.TooManyJobs
			if l.Resource != "" {
				code = pbs.TooMuchResource
			}
			return pbs.Errorf(code, "%s", w.Text())
		}
	}
	return nil
}

// stillAdmitted compares what a queued job asks for after qalter with the bounds of its
// queue, and what it asks for beyond what it did with the limits.
func stillAdmitted(tx *state.Tx, q *state.Queue, old, j *state.Job) error {
	if err := walltimes(j); err != nil {
		return err
	}
	if err := withinBounds(tx, q, j, anyResource); err != nil {
		return err
	}
	if err := withinReservations(tx, q, j); err != nil {
		return err
	}
	if w, reached := beyondLimits(tx, old, j, tx.QueueLimits(j), false); reached {
		return pbs.Errorf(pbs.TooMuchResource, "%s", w.Text())
	}
	return nil
}

// withinRunLimits refuses a start that a limit of server, queue or vnode forbids by now.
func withinRunLimits(tx *state.Tx, j *state.Job, vnodes []pbs.VnodeName) error {
	for _, name := range vnodes {
		v, ok := tx.Vnode(name)
		if !ok || j.Reservation != "" { // for the assignment to refuse; or it is the reservation's
			continue
		}
		if own := pbs.QueueName(v.Get("queue")); own != "" && own != j.Queue {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s is for jobs of queue %s", name, own)
		}
		q, _ := tx.Queue(j.Queue)
		if part := v.Get("partition"); q != nil && part != q.Get("partition") {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s is in another partition than queue %s", name, j.Queue)
		}
		if err := checkVnodeLimits(tx, j, v); err != nil {
			return err
		}
		if most, err := strconv.Atoi(v.Get("max_running")); err == nil && most > 0 && v.Active() >= most {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s has %d jobs, which is max_running", name, v.Active())
		}
	}
	if w, unmatched := tx.Unmatched(j); unmatched {
		return pbs.Errorf(pbs.ResourceBusy, "%s", w.Text())
	}
	if w, reached := tx.Reached(tx.RunLimits(j), true, 1, nil); reached {
		return pbs.Errorf(pbs.ResourceBusy, "%s", w.Text())
	}
	return nil
}

// checkVnodeLimits refuses a job beyond what a vnode takes of its user or group.
func checkVnodeLimits(tx *state.Tx, j *state.Job, v *state.Vnode) error {
	subjects := j.Subjects()
	for _, limit := range []struct {
		name string
		whom state.Subject
	}{{"max_user_run", subjects[1]}, {"max_group_run", subjects[2]}} {
		most, err := strconv.Atoi(v.Get(limit.name))
		if err != nil || most <= 0 {
			continue
		}
		if n := tx.JobsOn(v, limit.whom.Kind, limit.whom.Name); n >= most {
			return pbs.Errorf(pbs.ResourceBusy, "vnode %s has %d jobs of %s, which is %s", v.Name, n, limit.whom.Name, limit.name)
		}
	}
	return nil
}
