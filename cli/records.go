package cli

import (
	"context"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// JobRecords reads what accounting has of a job: the head of the answer, and the lines in their order, of which there may be none. Days says
// how many to look back for a job that the server knows no more; 0: a week.
func JobRecords(ctx context.Context, client apiconnect.ClusterClient, job string, days uint32) (head *api.JobRecordsReply, lines [][]byte, err error) {
	stream, err := client.JobRecords(ctx, connect.NewRequest(&api.JobRecordsRequest{Job: job, Days: days}))
	if err != nil {
		return nil, nil, err
	}
	defer stream.Close()
	for stream.Receive() {
		if head == nil {
			head = stream.Msg()
		}
		lines = append(lines, stream.Msg().GetLines()...)
	}
	return head, lines, stream.Err()
}
