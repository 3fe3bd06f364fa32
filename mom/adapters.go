package mom

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/daylog"
)

// accounts finds job owners for tasks.
type accounts struct{ transport.Accounts }

// Account implements task.Accounts; the group is the job's if the user is in it.
func (a accounts) Account(ctx context.Context, user, group string) (task.Account, error) {
	found, err := a.find(ctx, user)
	if errors.Is(err, transport.ErrNoAccount) {
		return task.Account{}, errors.Join(task.ErrNoAccount, err)
	}
	if err != nil {
		return task.Account{}, err
	}
	return ownerWith(found, group), nil
}

// ownerWith returns an account as jobs run under it; the group is the job's if the user is in it.
func ownerWith(a transport.Account, group string) task.Account {
	gid := a.GID
	if i := slices.Index(a.Groups, group); i >= 0 && i < len(a.GIDs) {
		gid = a.GIDs[i]
	}
	return task.Account{Name: a.Name, UID: a.UID, GID: gid, Groups: a.GIDs, Home: a.Home, Shell: a.Shell}
}

// knownOwner returns the owner of a job as the servers know that user, nil if they do not.
func knownOwner(a *api.Account, user, group string) *task.Account {
	known, ok := transport.AccountFrom(a)
	if !ok || known.Name != user {
		return nil
	}
	owner := ownerWith(known, group)
	return &owner
}

// find looks a name up; "#UID" is the mom's own account.
func (a accounts) find(ctx context.Context, user string) (transport.Account, error) {
	if len(user) > 1 && user[0] == '#' {
		uid, err := strconv.ParseUint(user[1:], 10, 32)
		if err != nil {
			return transport.Account{}, fmt.Errorf("own uid: %w", err)
		}
		return a.ByUID(ctx, uint32(uid))
	}
	return a.ByName(ctx, user)
}

// scripts fetches job scripts.
type scripts struct {
	host     pbs.HostName
	reporter apiconnect.ReportClient
}

// Script implements task.Scripts.
func (s scripts) Script(ctx context.Context, k spool.TaskKey, to io.Writer) error {
	stream, err := s.reporter.Script(ctx, connect.NewRequest(&api.ScriptRequest{Job: string(k.Job), RunCount: uint32(k.Run)}))
	if err != nil {
		return err
	}
	for size := 0; stream.Receive(); {
		piece := stream.Msg().GetData()
		if size += len(piece); size > pbs.MaxScript {
			return errors.Join(pbs.Refuse(pbs.ScriptTooLarge), stream.Close())
		}
		if _, err := to.Write(piece); err != nil {
			_ = stream.Close()
			return err
		}
	}
	return errors.Join(stream.Err(), stream.Close())
}

// Counts implements task.Scripts.
func (s scripts) Counts(ctx context.Context, k spool.TaskKey) (task.RunOwner, error) {
	var owner task.RunOwner
	stream, err := s.reporter.Script(ctx, connect.NewRequest(&api.ScriptRequest{Job: string(k.Job), RunCount: uint32(k.Run), Confirm: true}))
	if err != nil {
		return owner, err
	}
	for stream.Receive() {
		o := stream.Msg().GetOwner()
		owner = task.RunOwner{Mother: pbs.HostName(o.GetMother()), User: o.GetUser(), Group: o.GetGroup(), Known: knownOwner(o.GetAccount(), o.GetUser(), o.GetGroup())}
	}
	return owner, errors.Join(stream.Err(), stream.Close())
}

// lines writes the mom's log in PBS's form.
type lines struct {
	log    *daylog.Log
	logger *slog.Logger
}

// Job implements task.Lines.
func (l lines) Job(event uint16, job pbs.JobID, text string) {
	l.write(event, "Job", string(job), text)
}

// File implements task.Lines.
func (l lines) File(event uint16, job pbs.JobID, text string) {
	l.write(event, "Fil", string(job), text)
}

// Server implements task.Lines.
func (l lines) Server(event uint16, object, text string) { l.system(event, object, text) }

// Node implements task.Lines.
func (l lines) Node(event uint16, job pbs.JobID, text string) {
	l.write(event, "Node", string(job), text)
}

func (l lines) system(event uint16, object, text string) { l.write(event, "Svr", object, text) }

func (l lines) write(event uint16, class, object, text string) {
	if err := l.log.Write(time.Now(), event, class, object, text); err != nil {
		l.logger.Error("log line not written", "line", text, "err", err)
	}
}
