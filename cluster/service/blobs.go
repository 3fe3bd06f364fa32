package service

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"

	"rampart/cluster/blob"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// BlobKeeper keeps the scripts that are too large for the log; *blob.Keeper is one.
type BlobKeeper interface {
	// Put returns when a majority of the voters has the content on its disks.
	Put(ctx context.Context, body []byte) (pbs.Blob, error)
	// Take stores a content here only.
	Take(b pbs.Blob, body io.Reader) error
	// Held returns the blob of that name that is here.
	Held(sum pbs.BlobSum) (pbs.Blob, bool)
	// Here opens a blob that is here.
	Here(b pbs.Blob) (io.ReadCloser, error)
	// Open opens a blob that some replica has.
	Open(ctx context.Context, b pbs.Blob) (io.ReadCloser, error)
	// Attach returns a snapshot with the scripts that it names behind it.
	Attach(ctx context.Context, take func(context.Context) (io.ReadCloser, error)) (io.ReadCloser, error)
}

var _ BlobKeeper = (*blob.Keeper)(nil)

// Blobs implements the Blobs service: large scripts, which replicas hand each other beside the log.
type Blobs struct {
	base
	keeper BlobKeeper
}

// Put stores what another replica sends.
func (s *Blobs) Put(_ context.Context, stream *connect.ClientStream[api.PutBlobRequest]) (*connect.Response[api.PutBlobReply], error) {
	if !stream.Receive() {
		return nil, errors.Join(stream.Err(), pbs.Refuse(pbs.InvalidRequest))
	}
	sum, err := blobSum(stream.Msg().GetSum())
	if err != nil {
		return nil, err
	}
	err = s.keeper.Take(pbs.Blob{Sum: sum, Size: stream.Msg().GetSize()}, &upload{stream: stream})
	return reply(&api.PutBlobReply{}, err)
}

// Get sends what this replica has; it does not ask others.
func (s *Blobs) Get(_ context.Context, r *connect.Request[api.GetBlobRequest], stream *connect.ServerStream[api.GetBlobReply]) error {
	sum, err := blobSum(r.Msg.GetSum())
	if err != nil {
		return err
	}
	b, ok := s.keeper.Held(sum)
	if !ok {
		return connect.NewError(connect.CodeNotFound, blob.ErrAbsent)
	}
	body, err := s.keeper.Here(b)
	if errors.Is(err, blob.ErrAbsent) {
		return connect.NewError(connect.CodeNotFound, err)
	}
	if err != nil {
		return err
	}
	defer body.Close()
	return inPieces(body, blob.Chunk, func(piece []byte) error { return stream.Send(&api.GetBlobReply{Data: piece}) })
}

func blobSum(b []byte) (sum pbs.BlobSum, err error) {
	if len(b) != len(sum) {
		return sum, pbs.Refuse(pbs.InvalidRequest)
	}
	copy(sum[:], b)
	return sum, nil
}

// upload is a blob that comes in messages.
type upload struct {
	stream *connect.ClientStream[api.PutBlobRequest]
	data   []byte
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (int, error) {
	for len(u.data) == 0 {
		if !u.stream.Receive() {
			if err := u.stream.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		u.data = u.stream.Msg().GetData()
	}
	n := copy(p, u.data)
	u.data = u.data[n:]
	return n, nil
}

// inPieces sends what a reader has in messages of a bounded size.
func inPieces(r io.Reader, most int, send func(piece []byte) error) error {
	buf := make([]byte, most)
	for {
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if err := send(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}
