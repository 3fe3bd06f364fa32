package mover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"connectrpc.com/connect"

	"rampart/mom/files"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// put sends what is here to the daemon of the other host.
func put(ctx context.Context, client apiconnect.FilesClient, e files.Transfer, moving func()) (files.Moved, error) {
	stream := client.Put(ctx)
	// The other side may have ended already: its word says why, not ours.
	err := stream.Send(&api.PutRequest{What: &api.PutRequest_Begin{Begin: &api.PutBegin{
		Job: string(e.Job), RunCount: uint32(e.Run), Path: e.There, Name: e.Name, Many: files.IsPattern(e.Here) && !e.Output,
	}}})
	var moved files.Moved
	if err == nil {
		owner := e.Owner
		if e.Output {
			owner = nil
		}
		up := &seen{uplink{stream}, moving}
		moved.Sent, err = read(ctx, owner, e.Here, func(m message) error { return m.to(up) })
	}
	if ctx.Err() != nil {
		return files.Moved{}, context.Cause(ctx)
	}
	if own, ok := errors.AsType[*files.Error](err); ok {
		_, _ = stream.CloseAndReceive() // without an end: nothing that is half comes into its place
		return files.Moved{}, own
	}
	if err == nil {
		err = stream.Send(&api.PutRequest{What: &api.PutRequest_End{End: &api.FilesEnd{}}})
	}
	reply, last := stream.CloseAndReceive()
	switch {
	case last != nil:
		return files.Moved{}, fmt.Errorf("send to %s: %w", e.Host, last)
	case reply.Msg.GetFailure() != "":
		return files.Moved{}, &files.Error{Reason: e.Host + ": " + reply.Msg.GetFailure()}
	case err != nil:
		return files.Moved{}, fmt.Errorf("send to %s: %w", e.Host, err)
	}
	moved.Same = reply.Msg.GetSame()
	return moved, nil
}

// uplink is a Sink at the other end of a stream.
type uplink struct {
	stream *connect.ClientStreamForClient[api.PutRequest, api.PutReply]
}

func (u uplink) Entry(e files.Entry) error {
	return u.stream.Send(&api.PutRequest{What: &api.PutRequest_Entry{Entry: wire(e)}})
}

func (u uplink) Write(p []byte) (int, error) {
	return len(p), u.stream.Send(&api.PutRequest{What: &api.PutRequest_Data{Data: p}})
}

func wire(e files.Entry) *api.FileEntry {
	return &api.FileEntry{
		Path: e.Path, Mode: uint32(e.Mode.Perm()), Kind: api.FileEntry_Kind(e.Kind), Link: e.Link,
		Size: e.Size, Modified: e.Modified.UnixNano(), Inode: e.Inode,
	}
}

func unwire(e *api.FileEntry) files.Entry {
	return files.Entry{
		Path: e.GetPath(), Mode: fs.FileMode(e.GetMode()).Perm(), Kind: files.Kind(e.GetKind()), Link: e.GetLink(),
		Size: e.GetSize(), Modified: time.Unix(0, e.GetModified()), Inode: e.GetInode(),
	}
}

// get fetches what is on the other host.
func get(ctx context.Context, client apiconnect.FilesClient, e files.Transfer, moving func()) (files.Moved, error) {
	stream, err := client.Get(ctx, connect.NewRequest(&api.GetRequest{
		Job: string(e.Job), RunCount: uint32(e.Run), Path: e.There, Output: e.Output,
	}))
	if err != nil {
		return files.Moved{}, fmt.Errorf("fetch from %s: %w", e.Host, err)
	}
	defer func() { _ = stream.Close() }()
	target := files.Target{Path: e.Here, Many: files.IsPattern(e.There), Tag: string(e.Job)}
	moved, err := write(ctx, e.Owner, target, func() (message, error) {
		moving()
		return next(stream, e.Host)
	})
	if ctx.Err() != nil {
		return files.Moved{}, context.Cause(ctx)
	}
	return moved, err
}

// next returns what the other host sends next, errEnd at the end of it.
func next(stream *connect.ServerStreamForClient[api.GetReply], host string) (message, error) {
	if !stream.Receive() {
		return message{}, fmt.Errorf("fetch from %s: %w", host, errors.Join(stream.Err(), io.ErrUnexpectedEOF))
	}
	switch what := stream.Msg().GetWhat().(type) {
	case *api.GetReply_Entry:
		return message{entry: new(unwire(what.Entry))}, nil
	case *api.GetReply_Data:
		return message{data: what.Data}, nil
	case *api.GetReply_End:
		return message{}, errEnd
	case *api.GetReply_Failure:
		return message{}, &files.Error{Reason: host + ": " + what.Failure}
	}
	return message{}, &files.Error{Reason: host + ": a message of no known kind"}
}
