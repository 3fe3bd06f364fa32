package ledger

import (
	"context"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// Remote is a peer that is asked over the network.
type Remote struct {
	Replica string
	Client  apiconnect.ClusterClient
}

var _ Peer = Remote{}

// Name returns the replica's name.
func (p Remote) Name() string { return p.Replica }

// Records asks the replica for its records.
func (p Remote) Records(ctx context.Context, first, last uint64, yield func(Record) error) (kept uint64, err error) {
	stream, err := p.Client.Records(ctx, connect.NewRequest(&api.RecordsRequest{First: first, Last: last}))
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	for stream.Receive() {
		kept = max(kept, stream.Msg().GetKept())
		for _, r := range stream.Msg().GetRecords() {
			if err := yield(Record{Number: r.GetNumber(), Day: r.GetDay(), Line: r.GetLine()}); err != nil {
				return kept, err
			}
		}
	}
	return kept, stream.Err()
}
