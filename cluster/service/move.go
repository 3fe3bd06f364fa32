package service

import (
	"context"
	"errors"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// Move puts a job into another queue: qmove. An operator's wish is above limits.
func (b *Batch) Move(ctx context.Context, r *connect.Request[api.MoveRequest]) (*connect.Response[api.MoveReply], error) {
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		queue, err := queueOf(p.view, r.Msg.GetDestination())
		if err != nil {
			return nil, err
		}
		if queue == "" {
			queue = p.view.Server().DefaultQueue()
		}
		if err := mayChange(p, j, typeMove); err != nil {
			return nil, err
		}
		queue, err = b.movedTo(ctx, p, j, queue)
		return &command.MoveJob{Job: j.ID, Queue: queue, Privileged: p.perm >= attr.Operator}, err
	})
	return reply(&api.MoveReply{}, err)
}

// Swap exchanges the places of two jobs: qorder. The caller must be permitted to change both.
func (b *Batch) Swap(ctx context.Context, r *connect.Request[api.SwapRequest]) (*connect.Response[api.SwapReply], error) {
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		if err := mayChange(p, j, typeOrder); err != nil {
			return nil, err
		}
		if r.Msg.GetOther() == "" {
			return &command.SwapJobs{Job: j.ID, FromTop: r.Msg.GetFromTop(), FromBottom: r.Msg.GetFromBottom(), Own: p.perm < attr.Operator}, nil
		}
		other, err := jobOf(p.view, r.Msg.GetOther())
		if err != nil {
			return nil, pbs.About(1, err)
		}
		err = mayChange(p, other, typeOrder)
		if d, ok := errors.AsType[*denied](err); ok {
			d.operand = 1
		}
		return &command.SwapJobs{Job: j.ID, Other: other.ID}, err
	})
	return reply(&api.SwapReply{}, err)
}

// maxMessage is the greatest length of a message, in bytes.
const maxMessage = 4096

// Message writes a line into the output of a running job: qmsg.
func (b *Batch) Message(ctx context.Context, r *connect.Request[api.MessageRequest]) (*connect.Response[api.MessageReply], error) {
	err := b.changeJob(ctx, r, r.Msg.GetJob(), func(p person, j *state.Job) (command.Command, error) {
		text := r.Msg.GetText()
		if len(text) > maxMessage || strings.ContainsRune(text, 0) {
			return nil, pbs.Refuse(pbs.InvalidRequest)
		}
		cmd := &command.MessageJob{Job: j.ID, Text: text, Output: r.Msg.GetOutput(), Error: r.Msg.GetError()}
		return cmd, mayChange(p, j, typeMessage)
	})
	return reply(&api.MessageReply{}, err)
}
