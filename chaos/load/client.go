package load

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
	"rampart/transport/pause"
)

// A Record is the history of all clients of a run, and the jobs that they know.
type Record struct {
	begun time.Time

	mu      sync.Mutex
	history check.History
	known   []known
	booked  []booked
}

type known struct {
	name, id string
	spread   bool
}

// NewRecord returns an empty record; times count from now.
func NewRecord() *Record { return &Record{begun: time.Now()} }

// Begun returns when the run began.
func (r *Record) Begun() time.Time { return r.begun }

// Since returns the time of the run.
func (r *Record) Since() time.Duration { return time.Since(r.begun) }

// History returns what was done so far, in the order of the answers.
func (r *Record) History() check.History {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(check.History(nil), r.history...)
}

func (r *Record) add(o check.Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, o)
	if o.Kind == check.Submit && o.Result == check.Done {
		r.known = append(r.known, known{o.Name, o.Job, o.Spread})
	}
	if o.Kind == check.Reserve && o.Result == check.Done && !slices.Contains(removed, o.Answer) {
		r.booked = append(r.booked, booked{o.Name, o.Job, o.Period})
	}
}

// fresh is how many of the newest jobs are asked about: older ones are over.
const fresh = 6

func (r *Record) victim(n int, spread bool) (known, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var among []known
	for _, k := range slices.Backward(r.known) {
		if len(among) < fresh && (k.spread || !spread) {
			among = append(among, k)
		}
	}
	if len(among) == 0 {
		return known{}, false
	}
	return among[n%len(among)], true
}

// A Client asks as one person, and sets queues as a manager.
type Client struct {
	N       int
	Batch   apiconnect.BatchClient
	Manager apiconnect.BatchClient
	Job     func(runs time.Duration) *api.SubmitRequest // that takes so long
	Record  *Record
}

// Follow does the steps of a plan, until ctx ends.
func (c *Client) Follow(ctx context.Context, steps []Step) {
	for _, s := range steps {
		if !pause.For(ctx, s.After) {
			return
		}
		c.do(ctx, s)
	}
}

func (c *Client) do(ctx context.Context, s Step) {
	op := check.Op{Client: c.N, Kind: s.Kind, Value: s.Value, Queue: s.Queue, Attr: s.Attr, Held: s.Held, Once: s.Once, Array: s.Array, Spread: s.Spread, Name: s.Name}
	switch s.Kind {
	case check.Submit:
	case check.Reserve:
		c.reserving(ctx, op, s)
		return
	case check.MoveInside:
		c.moveInside(ctx, op, s)
		return
	case check.AlterReservation, check.DeleteReservation, check.SubmitInside:
		b, ok := c.Record.booking(s.Victim, s.Kind == check.SubmitInside)
		if !ok {
			return
		}
		c.about(&op, s, b)
	case check.List, check.LookQueues, check.SetQueue:
		op.Name = ""
	default:
		v, ok := c.Record.victim(s.Victim, s.Kind == check.ReleaseNodes)
		if s.Parts {
			v, op.Value, ok = c.divide(ctx, s)
		}
		if !ok {
			return
		}
		op.Name, op.Job = v.name, v.id
	}
	switch s.Kind {
	case check.ReleaseNodes, check.Submit, check.Alter, check.SetQueue, check.AlterReservation:
	default:
		op.Value = ""
	}
	c.perform(ctx, op, s)
}

// perform makes the request, and writes down what came of it.
func (c *Client) perform(ctx context.Context, op check.Op, s Step) check.Op {
	op.Start = c.Record.Since()
	err := c.ask(ctx, &op, s)
	op.End = c.Record.Since()
	op.Result, op.Code = outcome(err), pbs.CodeOf(err)
	if err != nil {
		op.Text = err.Error()
	}
	c.Record.add(op)
	return op
}

// ask makes the request and notes what it shows.
func (c *Client) ask(ctx context.Context, op *check.Op, s Step) (err error) {
	switch op.Kind {
	case check.Submit:
		op.Job, err = c.submit(ctx, op, s)
	case check.List:
		op.Seen, err = c.look(ctx)
	case check.Look:
		op.Seen, err = c.look(ctx, op.Job)
	case check.LookQueues:
		op.Queues, err = c.queues(ctx)
	case check.SetQueue:
		_, err = c.Manager.Manage(ctx, connect.NewRequest(&api.ManageRequest{
			Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Name: op.Queue,
			Changes: []*api.Attribute{{Name: op.Attr, Value: op.Value}},
		}))
	case check.Delete:
		_, err = c.Batch.Delete(ctx, connect.NewRequest(&api.DeleteRequest{Job: op.Job}))
	case check.Hold:
		_, err = c.Batch.Hold(ctx, connect.NewRequest(&api.HoldRequest{Job: op.Job, Holds: "u"}))
	case check.Release:
		_, err = c.Batch.Release(ctx, connect.NewRequest(&api.ReleaseRequest{Job: op.Job, Holds: "u"}))
	case check.Alter:
		_, err = c.Batch.Alter(ctx, connect.NewRequest(&api.AlterRequest{
			Job: op.Job, Changes: []*api.Attribute{{Name: "Priority", Value: op.Value}},
		}))
	case check.ReleaseNodes:
		_, err = c.Batch.ReleaseNodes(ctx, connect.NewRequest(released(op)))
	case check.Suspend, check.Resume:
		_, err = c.Manager.Signal(ctx, connect.NewRequest(&api.SignalRequest{Job: op.Job, Signal: op.Kind.String()}))
	case check.Reserve:
		err = c.reserve(ctx, op, s)
	case check.AlterReservation:
		err = c.alterReservation(ctx, op, s)
	case check.DeleteReservation:
		_, err = c.boss(op).DeleteReservation(ctx, connect.NewRequest(&api.DeleteReservationRequest{Reservation: op.Job}))
	case check.SubmitInside:
		op.Job, err = c.submit(ctx, op, s)
	case check.MoveInside:
		_, err = c.Batch.Move(ctx, connect.NewRequest(&api.MoveRequest{Job: op.Job, Destination: op.Queue}))
	case check.Rerun:
		_, err = c.Manager.Rerun(ctx, connect.NewRequest(&api.RerunRequest{Job: op.Job}))
	}
	return err
}

func (c *Client) submit(ctx context.Context, op *check.Op, s Step) (string, error) {
	job := c.Job(s.Runs)
	job.Destination = op.Queue
	job.Attributes = append(job.Attributes,
		&api.Attribute{Name: "Job_Name", Value: op.Name},
		&api.Attribute{Name: "Priority", Value: op.Value},
		&api.Attribute{Name: "Resource_List", Resource: "select", Value: s.Select},
	)
	if s.Spread {
		job.Attributes = append(job.Attributes, &api.Attribute{Name: "Resource_List", Resource: "place", Value: "scatter"})
	}
	if s.Alone {
		job.Attributes = append(job.Attributes, &api.Attribute{Name: "Resource_List", Resource: "place", Value: "excl"})
	}
	if s.Padded {
		job.Attributes = append(job.Attributes, &api.Attribute{Name: "Resource_List", Resource: "select_reliable_startup", Value: "3:ncpus=1"})
	}
	if s.Lasting > 0 && (op.Kind == check.Submit || op.Queue == "") {
		job.Attributes = append(job.Attributes, &api.Attribute{Name: "Resource_List", Resource: "walltime", Value: strconv.Itoa(s.Lasting)})
	}
	if op.Held {
		job.Attributes = append(job.Attributes, &api.Attribute{Name: "Hold_Types", Value: "u"})
	}
	if op.Once {
		job.Attributes = append(job.Attributes, &api.Attribute{Name: "Rerunable", Value: "False"})
	}
	if op.Array {
		job.Attributes = append(job.Attributes, &api.Attribute{Name: "array_indices_submitted", Value: "1-2"})
	}
	reply, err := c.Batch.Submit(ctx, connect.NewRequest(job))
	if err != nil {
		return "", err
	}
	return reply.Msg.GetJob(), nil
}

// look returns what is shown of jobs, by their names: of all without ids.
func (c *Client) look(ctx context.Context, ids ...string) (map[string]check.Seen, error) {
	seen := make(map[string]check.Seen)
	err := c.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: ids, History: true,
		Attributes: []string{"Job_Name", "job_state", "run_count", "Hold_Types", "Priority"},
	}, func(o *api.Object) {
		run, _ := strconv.ParseUint(valueOf(o, "run_count"), 10, 32)
		if o.GetRefusal() == nil {
			seen[valueOf(o, "Job_Name")] = check.Seen{
				State: valueOf(o, "job_state"), Run: uint32(run), Holds: valueOf(o, "Hold_Types"), Priority: valueOf(o, "Priority"),
			}
		}
	})
	return seen, err
}

func (c *Client) queues(ctx context.Context) (map[string]bool, error) {
	seen := make(map[string]bool)
	err := c.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Attributes: []string{"enabled", "started"},
	}, func(o *api.Object) {
		for _, attr := range []string{"enabled", "started"} {
			seen[check.Attribute(o.GetName(), attr)] = valueOf(o, attr) == "True"
		}
	})
	return seen, err
}

func (c *Client) list(ctx context.Context, what *api.ListRequest, yield func(*api.Object)) error {
	stream, err := c.Batch.List(ctx, connect.NewRequest(what))
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			yield(o)
		}
	}
	return stream.Err()
}

func valueOf(o *api.Object, name string) string {
	for _, a := range o.GetAttributes() {
		if a.GetName() == name {
			return a.GetValue()
		}
	}
	return ""
}

// outcome sorts what a client was told into what it may conclude (L6).
func outcome(err error) check.Outcome {
	refusal, refused := errors.AsType[*pbs.Error](err)
	switch {
	case err == nil:
		return check.Done
	case errors.Is(err, client.ErrUnreachable):
		return check.Failed
	case !refused, refusal.Code == pbs.UnknownResult, refusal.Code == pbs.SystemError:
		return check.Unknown
	case refusal.Code == pbs.InternalError: // qrerun has waited for long enough, and the rerun goes on
		return check.Unknown
	case refusal.Code == pbs.NoQuorum, refusal.Code == pbs.ResourceBusy:
		return check.Failed
	default:
		return check.Refused
	}
}
