package mom

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/mom/spool"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// pieces are servers that give the second piece of a script when the first one has come through.
type pieces struct {
	apiconnect.UnimplementedReportHandler
	through chan string
}

func (p pieces) Script(ctx context.Context, _ *connect.Request[api.ScriptRequest], out *connect.ServerStream[api.ScriptReply]) error {
	if err := out.Send(&api.ScriptReply{Data: []byte("#!/bin/sh\n")}); err != nil {
		return err
	}
	select {
	case <-p.through:
	case <-ctx.Done():
		return ctx.Err()
	}
	return out.Send(&api.ScriptReply{Data: []byte("true\n")})
}

// Write implements io.Writer.
func (p pieces) Write(data []byte) (int, error) {
	p.through <- string(data)
	return len(data), nil
}

// TestScripts_ComePieceByPiece: a script of megabytes is never whole in memory.
func TestScripts_ComePieceByPiece(t *testing.T) {
	p := pieces{through: make(chan string, 1)}
	mux := http.NewServeMux()
	mux.Handle(apiconnect.NewReportHandler(p))
	server := httptest.NewServer(mux)
	defer server.Close()
	s := scripts{reporter: apiconnect.NewReportClient(server.Client(), server.URL)}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Script(ctx, spool.TaskKey{Job: "1.srv", Run: 1}, p); err != nil {
		t.Fatal(err)
	}
	if last := <-p.through; last != "true\n" {
		t.Errorf("the last piece is %q", last)
	}
}
