package admin

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

type restorer struct {
	apiconnect.UnimplementedSnapshotsHandler
	data string
}

func (r *restorer) StageSnapshot(_ context.Context, q *connect.Request[api.StageSnapshotRequest]) (*connect.Response[api.StageSnapshotReply], error) {
	r.data += string(q.Msg.GetData())
	return connect.NewResponse(&api.StageSnapshotReply{}), nil
}

func (r *restorer) RestoreSnapshot(context.Context, *connect.Request[api.RestoreSnapshotRequest]) (*connect.Response[api.RestoreSnapshotReply], error) {
	return connect.NewResponse(&api.RestoreSnapshotReply{}), nil
}

func TestRestore_TakesAFileOrTheFolderOfABackup(t *testing.T) {
	backup := filepath.Join(t.TempDir(), "backup-20261121T235543Z")
	if err := os.Mkdir(backup, 0o700); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(backup, "state.snapshot")
	if err := os.WriteFile(state, []byte("the state"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{state, backup} {
		r := &restorer{}
		env := &Env{
			Stdout: &strings.Builder{}, Snapshots: func(string) (apiconnect.SnapshotsClient, error) { return r, nil },
			Open:          func(path string) (io.ReadCloser, error) { return os.Open(path) },
			WithRequestID: func(ctx context.Context) context.Context { return ctx },
		}
		if err := Restore(t.Context(), env, "", path, false); err != nil || r.data != "the state" {
			t.Errorf("%s: %v, sent %q", path, err, r.data)
		}
	}
}
