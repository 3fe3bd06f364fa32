package blob

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// Chunk is how much of a blob one message carries.
const Chunk = 256 << 10

// A Remote is a replica that is asked over its port.
type Remote struct{ Client apiconnect.BlobsClient }

var _ Peer = Remote{}

// Put implements Peer. It ends early when the other one has the blob.
func (r Remote) Put(ctx context.Context, b pbs.Blob, body io.Reader) error {
	stream := r.Client.Put(ctx)
	err := stream.Send(&api.PutBlobRequest{Sum: b.Sum[:], Size: b.Size})
	for buf := make([]byte, Chunk); err == nil; {
		var n int
		if n, err = io.ReadFull(body, buf); n > 0 {
			if sent := stream.Send(&api.PutBlobRequest{Data: buf[:n]}); sent != nil {
				err = sent
			}
		}
	}
	_, answer := stream.CloseAndReceive()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // of the content, or the answer is here
		err = nil
	}
	return errors.Join(err, transport.FromWire(answer))
}

// Get implements Peer.
func (r Remote) Get(ctx context.Context, b pbs.Blob) (io.ReadCloser, error) {
	stream, err := r.Client.Get(ctx, connect.NewRequest(&api.GetBlobRequest{Sum: b.Sum[:]}))
	if err != nil {
		return nil, transport.FromWire(err)
	}
	return &download{stream: stream}, nil
}

// download is a blob that comes in messages.
type download struct {
	stream *connect.ServerStreamForClient[api.GetBlobReply]
	data   []byte
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	for len(d.data) == 0 {
		if d.stream.Receive() {
			d.data = d.stream.Msg().GetData()
			continue
		}
		err := d.stream.Err()
		switch {
		case err == nil:
			return 0, io.EOF
		case connect.CodeOf(err) == connect.CodeNotFound:
			return 0, ErrAbsent
		}
		return 0, transport.FromWire(err)
	}
	n := copy(p, d.data)
	d.data = d.data[n:]
	return n, nil
}

// Close implements io.Closer.
func (d *download) Close() error { return d.stream.Close() }
