package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

// A Record is the history of all clients of a run, and the jobs that they know.
type Record struct {
	begun time.Time

	mu      sync.Mutex
	history check.History
	known   []known
}

type known struct{ name, id string }

// NewRecord returns an empty record; times count from now.
func NewRecord() *Record { return &Record{begun: time.Now()} }

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
		r.known = append(r.known, known{o.Name, o.Job})
	}
}

func (r *Record) victim(n int) (known, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) == 0 {
		return known{}, false
	}
	return r.known[n%len(r.known)], true
}

// A Client asks as one person.
type Client struct {
	N      int
	Batch  apiconnect.BatchClient
	Record *Record
}

// Follow does the steps of a plan, until ctx ends.
func (c *Client) Follow(ctx context.Context, steps []Step) {
	for _, s := range steps {
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.After):
		}
		c.do(ctx, s)
	}
}

func (c *Client) do(ctx context.Context, s Step) {
	op := check.Op{Client: c.N, Kind: s.Kind, Start: c.Record.Since()}
	var err error
	switch s.Kind {
	case check.Submit:
		op.Name = s.Name
		op.Job, err = c.submit(ctx, s)
	case check.Delete:
		v, ok := c.Record.victim(s.Victim)
		if !ok {
			return
		}
		op.Name, op.Job = v.name, v.id
		_, err = c.Batch.Delete(ctx, connect.NewRequest(&api.DeleteRequest{Job: v.id}))
	case check.List:
		op.Seen, err = c.list(ctx)
	}
	op.End = c.Record.Since()
	op.Result = outcome(err)
	if err != nil {
		op.Text = err.Error()
	}
	c.Record.add(op)
}

func (c *Client) submit(ctx context.Context, s Step) (string, error) {
	reply, err := c.Batch.Submit(ctx, connect.NewRequest(&api.SubmitRequest{
		Attributes: []*api.Attribute{
			{Name: "Job_Name", Value: s.Name},
			{Name: "Keep_Files", Value: "oe"},
			{Name: "Resource_List", Resource: "select", Value: "1:ncpus=1"},
		},
		Script: fmt.Appendf(nil, "sleep %.3f\n", s.Runs.Seconds()),
	}))
	if err != nil {
		return "", err
	}
	return reply.Msg.GetJob(), nil
}

// list returns the state letters of all jobs by name.
func (c *Client) list(ctx context.Context) (map[string]string, error) {
	stream, err := c.Batch.List(ctx, connect.NewRequest(&api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"Job_Name", "job_state"}, History: true,
	}))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	seen := make(map[string]string)
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			seen[valueOf(o, "Job_Name")] = valueOf(o, "job_state")
		}
	}
	return seen, stream.Err()
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
	case refusal.Code == pbs.NoQuorum, refusal.Code == pbs.ResourceBusy:
		return check.Failed
	default:
		return check.Refused
	}
}
