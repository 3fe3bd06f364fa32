package service

import (
	"testing"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// The script of a job is read by its owner and by operators, and by nobody else.
func TestJobScript(t *testing.T) {
	b := newBench(t)
	const script = "#!/bin/sh\ntrue\n"
	submit := func(text string) string {
		out, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: []byte(text)}, ""))
		if err != nil {
			t.Fatal(err)
		}
		return out.Msg.GetJob()
	}
	job, bare := submit(script), submit("")
	for _, c := range []struct {
		who, job, text string
		refused        bool
	}{
		{who: "ann@h", job: job, text: script},
		{who: "root@replica:s1", job: job, text: script},
		{who: "bob@h", job: job, refused: true},
		{who: "ann@h", job: bare, refused: true},
		{who: "ann@h", job: "99", refused: true},
		{who: "ann@h", job: "x", refused: true},
	} {
		path, h := apiconnect.NewBatchHandler(b.Batch)
		srv := serveTalk(t, path, h, b.as(c.who))
		stream, err := apiconnect.NewBatchClient(srv.Client(), srv.URL).JobScript(t.Context(), connect.NewRequest(&api.JobScriptRequest{Job: c.job}))
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for stream.Receive() {
			got = append(got, stream.Msg().GetData()...)
		}
		if err := stream.Err(); string(got) != c.text || (err != nil) != c.refused {
			t.Errorf("%s reads %q of %s: %v", c.who, got, c.job, err)
		}
		_ = stream.Close()
	}
}
