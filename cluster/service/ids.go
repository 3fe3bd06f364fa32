package service

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
)

// requestID returns the id that makes a repeat harmless (L8). The transport gives
// one to every request; a method called without it has made none before.
func requestID(r connect.AnyRequest) pbs.RequestID {
	if id := r.Header().Get(transport.HeaderRequestID); id != "" {
		return pbs.RequestID(id)
	}
	return transport.NewRequestID()
}

// jobOf finds the job that a user named, or the subjob, whether it has a record or not.
// Several subjobs are found as their array, under the identifier that names them.
func jobOf(v *state.View, text string) (*state.Job, error) {
	id, err := jobID(v, text)
	if err != nil {
		return nil, err
	}
	if _, server, ok := strings.Cut(text, "@"); ok && !isAlias(v, server) {
		return nil, pbs.Refuse(pbs.UnknownJob)
	}
	if set, ok := id.Indices(); ok && id.Sub() == 0 {
		parent, ok := v.Job(id.Parent())
		if !ok || parent.Array == nil || len(parent.Array.Indices.Both(set)) == 0 {
			return nil, pbs.Refuse(pbs.UnknownJob)
		}
		several := *parent
		several.ID = id
		return &several, nil
	}
	j, ok := v.Named(id)
	if !ok {
		return nil, pbs.Refuse(pbs.UnknownJob)
	}
	return j, nil
}

// jobID reads an identifier. A server in it may go by any of its names; a job is called by the one that
// the server had when it came.
func jobID(v *state.View, text string) (pbs.JobID, error) {
	id, err := pbs.ParseJobID(text, v.Cluster().Name)
	number, server, _ := strings.Cut(string(id), ".")
	if err != nil || server != v.Cluster().Name && !isAlias(v, server) {
		return id, err
	}
	return v.Called(pbs.JobID(number + "." + v.Cluster().Name)), nil
}

// queueOf splits a destination, [queue][@server].
func queueOf(v *state.View, destination string) (pbs.QueueName, error) {
	queue, server, _ := strings.Cut(destination, "@")
	if !isAlias(v, server) {
		return "", pbs.Refuse(pbs.UnknownQueue)
	}
	return pbs.QueueName(queue), nil
}

// Numbers of PBS's batch requests, as log lines tell them.
const (
	typeSubmit  = 1
	typeDelete  = 6
	typeHold    = 7
	typeManage  = 9
	typeAlter   = 11
	typeRelease = 13
	typeRerun   = 14
	typeRun     = 15
	typeSignal  = 18
	typeStatus  = 19
	typeSelect  = 51
	typeMessage = 10
	typeMove    = 12
	typeTerm    = 17
	typeOrder   = 50
	typeRelNode = 90

	typeStatusQueue  = 20
	typeStatusServer = 21
	typeStatusNode   = 58
	typeStatusResv   = 71

	typeStatusSched    = 81
	typeStatusResource = 82
	typeStatusHook     = 83

	typeReserve   = 70
	typeDropResv  = 72
	typeAlterResv = 91
)

// noted is a refusal of which the server log has some lines.
type noted struct {
	error
	event         uint16
	class, object string
	lines         []string
}

// Unwrap returns what the user reads.
func (n *noted) Unwrap() error { return n.error }

// denied is a refusal for lack of permission. It is logged once, where it ends.
type denied struct {
	class, object, text string
	operand             uint8 // as a refusal's

	words *pbs.Error // for the user; nil: those of the code
}

func (d *denied) Error() string { return d.text }

// Unwrap makes it the refusal that the user reads.
func (d *denied) Unwrap() error {
	if d.words != nil {
		return d.words
	}
	return pbs.About(d.operand, pbs.Refuse(pbs.Unauthorized))
}

func deny(p person, class, kind, object string, request int) error {
	return denial(p, class, kind, object, request)
}

func denial(p person, class, kind, object string, request int) *denied {
	return &denied{class: class, object: object, text: fmt.Sprintf("Unauthorized Request, request type: %d, Object: %s, Name: %s, request from: %s",
		request, kind, object, p.user)}
}

func denyJob(p person, j *state.Job, request int) error {
	return deny(p, "Job", "Job", string(j.ID), request)
}

// told logs a refusal for lack of permission and returns the error as it was.
func (c *base) told(ctx context.Context, err error) error {
	if n, ok := errors.AsType[*noted](err); ok {
		for _, text := range n.lines {
			c.say(ctx, n.event, n.class, n.object, text)
		}
		return n.error
	}
	d, ok := errors.AsType[*denied](err)
	if !ok {
		return err
	}
	c.say(ctx, pbs.LogSecurity, d.class, d.object, d.text)
	return d.Unwrap()
}
