package admin

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/cli/plan"
	"rampart/fsm/resource"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// PlanOptions says how far ahead the plan is drawn, and how.
type PlanOptions struct {
	Server string
	Hours  uint
	form
}

// defaultHours is how far the plan looks ahead where nobody says.
const defaultHours = 24

func planCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "plan",
		Usage: "draw what vnodes have to do: runs, reservations, jobs that are expected to start",
		Flags: append(formFlags(), &cli.UintFlag{Name: "hours", Value: defaultHours, Usage: "look so many hours ahead"}, serverFlag),
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return fmt.Errorf("plan: %s: it takes no operands", c.Args().First())
			}
			return Plan(c.Context, env, PlanOptions{Server: c.String("server"), Hours: c.Uint("hours"), form: formOf(env, c)})
		},
	}
}

// mostHours bounds how far ahead anybody looks.
const mostHours = 24 * 366

// Plan draws the plan of the cluster, as any replica knows it.
func Plan(ctx context.Context, env *Env, o PlanOptions) error {
	if err := o.check(); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if o.Hours == 0 || o.Hours > mostHours {
		return fmt.Errorf("plan: --hours: %d, want 1 to %d", o.Hours, mostHours)
	}
	client, err := env.Batch(o.Server)
	if err != nil {
		return err
	}
	p, err := planned(ctx, client, time.Duration(o.Hours)*time.Hour)
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	err = o.draw(env, p, func(w io.Writer) error { return plan.SVG(w, p) }, func(w io.Writer) error { return plan.Text(w, p, o.Columns) })
	if err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	return nil
}

// planned reads what is known of the time to come. Jobs that the caller may not see are not in it.
func planned(ctx context.Context, client apiconnect.BatchClient, ahead time.Duration) (*plan.Plan, error) {
	p := &plan.Plan{State: map[string]string{}, Bars: []plan.Bar{}}
	header, err := listed(ctx, client, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_VNODE, Attributes: []string{"state"}}, func(o values) {
		p.Rows = append(p.Rows, o.name)
		switch state := o.get("state", ""); state {
		case "free", "job-busy", "job-exclusive", "resv-exclusive", "job-busy,resv-exclusive", "job-exclusive,resv-exclusive":
		default:
			p.State[o.name] = state
		}
	})
	if err != nil {
		return nil, err
	}
	p.Now = time.Unix(header.GetTimestamp(), 0)
	p.Until = p.Now.Add(ahead)
	where := func(states string) []*api.Criterion {
		return []*api.Criterion{{Name: "job_state", Relation: api.Relation_RELATION_EQUAL, Value: states}}
	}
	_, err = listed(ctx, client, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"exec_vnode", "job_state", "stime", "Resource_List"}, Where: where("RSE"), Subjobs: true,
	}, func(o values) {
		if o.get("job_state", "") == "S" {
			p.Hold(plan.Suspended, o.name, o.get("exec_vnode", ""), p.Now, time.Time{})
			return
		}
		start := o.moment("stime", "")
		p.Hold(plan.Run, o.name, o.get("exec_vnode", ""), start, after(start, o.get("Resource_List", "walltime"), p.Now))
	})
	if err != nil {
		return nil, err
	}
	_, err = listed(ctx, client, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"estimated", "Resource_List"}, Where: where("QB"),
	}, func(o values) {
		if start := o.moment("estimated", "start_time"); !start.IsZero() {
			p.Hold(plan.Expected, o.name, o.get("estimated", "exec_vnode"), start, after(start, o.get("Resource_List", "walltime"), time.Time{}))
		}
	})
	if err != nil {
		return nil, err
	}
	_, err = listed(ctx, client, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_RESERVATION, OccurrencesUntil: p.Until.Unix() + 1}, func(o values) {
		p.Hold(plan.Reservation, o.name, o.get("resv_nodes", ""), o.moment("reserve_start", ""), o.moment("reserve_end", ""))
		for _, later := range o.occurrences {
			p.Hold(plan.Reservation, o.name, later.GetNodes(), time.Unix(later.GetStart(), 0), time.Unix(later.GetEnd(), 0))
		}
	})
	return p, err
}

// after returns when what begins then with a walltime is over, zero if nobody knows. What has had its time ends now.
func after(start time.Time, walltime string, now time.Time) time.Time {
	q, err := resource.Parse(resource.Time, walltime)
	if err != nil || start.IsZero() {
		return time.Time{}
	}
	if end := start.Add(time.Duration(q.Int()) * time.Second); end.After(now) {
		return end
	}
	return now.Add(time.Minute)
}

// values are the attributes of an object in a list.
type values struct {
	name        string
	all         []*api.Attribute
	occurrences []*api.Occurrence
}

func (v values) get(name, res string) string {
	for _, a := range v.all {
		if a.GetName() == name && a.GetResource() == res {
			return a.GetValue()
		}
	}
	return ""
}

// moment reads a time, zero if it is not set.
func (v values) moment(name, res string) time.Time {
	n, err := strconv.ParseInt(v.get(name, res), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// listed reads a list.
func listed(ctx context.Context, client apiconnect.BatchClient, r *api.ListRequest, see func(values)) (header *api.ListHeader, err error) {
	stream, err := client.List(ctx, connect.NewRequest(r))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	for stream.Receive() {
		if h := stream.Msg().GetHeader(); h != nil {
			header = h
		}
		for _, o := range stream.Msg().GetObjects() {
			if o.GetRefusal() == nil {
				see(values{o.GetName(), o.GetAttributes(), o.GetOccurrences()})
			}
		}
	}
	return header, stream.Err()
}
