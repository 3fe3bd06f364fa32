package mover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/files"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// A Service moves files of other hosts' jobs to and from this host.
type Service struct {
	Accounts transport.Accounts
	// Servers say what a mom may do.
	Servers apiconnect.StagingClient
	// SwitchUser says that the daemon is root and acts as the owners. Without it all is done as
	// the account SelfUID, if that is the owner, or if Jobs of everybody run under it here, too.
	SwitchUser bool
	SelfUID    uint32
	Jobs       bool
	// Output returns the file of what a job has written here, for stream OU or ER; nil: jobs do not run here.
	Output func(job pbs.JobID, stream string) string
	Logger *slog.Logger
}

var _ apiconnect.FilesHandler = (*Service)(nil)

// Handler returns the path and the handler of the Files service.
func (s *Service) Handler(opts ...connect.HandlerOption) (string, http.Handler) {
	return apiconnect.NewFilesHandler(s, opts...)
}

// A permit names the user who may touch a path, with the home directory.
type permit struct {
	owner *proc.Owner
	home  string
}

// permit asks the servers whether the run of the asking mom may touch the path, and finds out
// as whom. A *files.Error says that it may not.
func (s *Service) permit(ctx context.Context, q *api.PermitRequest) (permit, error) {
	caller, _ := transport.CallerFrom(ctx)
	q.Mom = string(caller.Host)
	reply, err := s.Servers.Permit(ctx, connect.NewRequest(q))
	if err != nil {
		if refusal, ok := errors.AsType[*pbs.Error](err); ok && final(err) {
			return permit{}, &files.Error{Reason: refusal.Message}
		}
		return permit{}, fmt.Errorf("ask for permission: %w", err)
	}
	user := reply.Msg.GetUser()
	a, err := s.Accounts.ByName(ctx, user)
	if known, ok := transport.AccountFrom(reply.Msg.GetAccount()); ok && err != nil && !errors.Is(err, transport.ErrNoAccount) && known.UID != 0 {
		a, err = known, nil // as the servers know him: the directory of this host does not answer
	}
	switch {
	case errors.Is(err, transport.ErrNoAccount):
		return permit{}, &files.Error{Reason: "no account " + user}
	case err != nil:
		return permit{}, fmt.Errorf("account of %s: %w", user, err)
	case a.UID == 0 && !reply.Msg.GetRoot():
		return permit{}, &files.Error{Reason: pbs.Unauthorized.Text()}
	case !s.SwitchUser && a.UID != s.SelfUID && !s.Jobs:
		return permit{}, connect.NewError(connect.CodeUnimplemented, errors.New("the daemon does not run as root, and cannot act as "+user))
	case !s.SwitchUser:
		if own, err := s.Accounts.ByUID(ctx, s.SelfUID); err == nil {
			a = own
		}
		return permit{home: a.Home}, nil
	}
	return permit{owner: &proc.Owner{UID: a.UID, GID: a.GID, Groups: a.GIDs}, home: a.Home}, nil
}

// permitFor is how long a permission holds. A mom that is cut off from the servers may go on sending what a run leaves behind that
// was given up, while a later run brings the same file.
const permitFor = 5 * time.Second

// Put writes what a job leaves on this host.
func (s *Service) Put(ctx context.Context, stream *connect.ClientStream[api.PutRequest]) (*connect.Response[api.PutReply], error) {
	ctx, moving, done := watched(ctx)
	defer done()
	if !stream.Receive() {
		return nil, ended(stream.Err())
	}
	begin := stream.Msg().GetBegin()
	if begin == nil {
		return nil, pbs.Refuse(pbs.InvalidRequest)
	}
	p, err := s.permit(ctx, toPut(begin))
	var moved files.Moved
	if asked := time.Now(); err == nil {
		moved, err = write(ctx, p.owner, files.Target{
			Path: files.Absolute(p.home, begin.GetPath()), Name: begin.GetName(), Many: begin.GetMany(), Tag: begin.GetJob(),
		}, func() (message, error) {
			moving()
			m, err := taken(stream)
			if ends := m.entry != nil || errors.Is(err, errEnd); ends && time.Since(asked) > permitFor { // the file before it gets its name
				asked = time.Now()
				if no := s.stillPermitted(ctx, begin); no != nil {
					return message{}, no
				}
			}
			return m, err
		})
	}
	s.note(begin.GetJob(), begin.GetPath(), err)
	if own, ok := errors.AsType[*files.Error](err); ok {
		return connect.NewResponse(&api.PutReply{Failure: own.Reason}), nil
	}
	if err != nil {
		return nil, ended(err)
	}
	return connect.NewResponse(&api.PutReply{Same: moved.Same}), nil
}

// stillPermitted asks the servers once more. While they do not answer nobody else gets a permission, either.
func (s *Service) stillPermitted(ctx context.Context, begin *api.PutBegin) error {
	_, err := s.permit(ctx, toPut(begin))
	if _, refused := errors.AsType[*files.Error](err); refused {
		return err
	}
	return nil
}

// toPut asks whether what a job leaves may be written.
func toPut(begin *api.PutBegin) *api.PermitRequest {
	return &api.PermitRequest{Job: begin.GetJob(), RunCount: begin.GetRunCount(), Path: begin.GetPath(), Out: true}
}

// output returns the file of what a job has written here.
func (s *Service) output(q *api.GetRequest) (string, error) {
	if stream := q.GetPath(); s.Output != nil && (stream == "OU" || stream == "ER") {
		return s.Output(pbs.JobID(q.GetJob()), stream), nil
	}
	return "", &files.Error{Reason: "no output of jobs is here"}
}

// taken returns what the mom sends next, errEnd at the end of it.
func taken(stream *connect.ClientStream[api.PutRequest]) (message, error) {
	if !stream.Receive() {
		return message{}, errors.Join(stream.Err(), io.ErrUnexpectedEOF)
	}
	switch what := stream.Msg().GetWhat().(type) {
	case *api.PutRequest_Entry:
		return message{entry: new(unwire(what.Entry))}, nil
	case *api.PutRequest_Data:
		return message{data: what.Data}, nil
	case *api.PutRequest_End:
		return message{}, errEnd
	}
	return message{}, &files.Error{Reason: pbs.InvalidRequest.Text()}
}

// Get sends what a job needs from this host.
func (s *Service) Get(ctx context.Context, r *connect.Request[api.GetRequest], stream *connect.ServerStream[api.GetReply]) error {
	ctx, moving, done := watched(ctx)
	defer done()
	q := r.Msg
	p, err := s.permit(ctx, &api.PermitRequest{Job: q.GetJob(), RunCount: q.GetRunCount(), Path: q.GetPath(), Output: q.GetOutput()})
	path := files.Absolute(p.home, q.GetPath())
	if err == nil && q.GetOutput() {
		path, err = s.output(q)
	}
	if err == nil {
		down := &seen{downlink{stream}, moving}
		_, err = read(ctx, p.owner, path, func(m message) error { return m.to(down) })
	}
	s.note(r.Msg.GetJob(), r.Msg.GetPath(), err)
	if own, ok := errors.AsType[*files.Error](err); ok {
		return stream.Send(&api.GetReply{What: &api.GetReply_Failure{Failure: own.Reason}})
	}
	if err != nil {
		return ended(err)
	}
	return stream.Send(&api.GetReply{What: &api.GetReply_End{End: &api.FilesEnd{}}})
}

type downlink struct {
	stream *connect.ServerStream[api.GetReply]
}

func (d downlink) Entry(e files.Entry) error {
	return d.stream.Send(&api.GetReply{What: &api.GetReply_Entry{Entry: wire(e)}})
}

func (d downlink) Write(p []byte) (int, error) {
	return len(p), d.stream.Send(&api.GetReply{What: &api.GetReply_Data{Data: p}})
}

// ended is the error of a transfer that may go well another time.
func ended(err error) error {
	if code := connect.CodeOf(err); err != nil && code != connect.CodeUnknown {
		return err
	}
	return connect.NewError(connect.CodeUnavailable, fmt.Errorf("the transfer has ended: %w", errors.Join(err, io.ErrUnexpectedEOF)))
}

func (s *Service) note(job, path string, err error) {
	if err != nil {
		s.Logger.Warn("file of a job not moved", "job", job, "path", path, "err", err)
		return
	}
	s.Logger.Info("file of a job moved", "job", job, "path", path)
}
