package admin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/fsm/pbs"
	"rampart/fsm/snapshot/attached"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/pause"
)

func restoreCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "put the state in FILE back into the running cluster",
		ArgsUsage: "FILE",
		Description: "FILE is what snapshot save wrote, or the folder of a backup on schedule.\n" +
			"Jobs, queues, vnodes, resources and the server's attributes become what they were when the\n" +
			"snapshot was taken. Jobs that were submitted since are gone; those that have ended since are\n" +
			"queued again, unless they are not rerunnable. Runs that the snapshot knows live on, others are\n" +
			"ended. Replicas, hosts, certificates and keys stay as they are, and accounting goes on.\n" +
			"Save a snapshot first if you may want to come back.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "look", Usage: "check FILE against the cluster and only tell what would be done"},
			serverFlag,
		},
		Action: func(c *cli.Context) error {
			file, err := Operand(c, "cluster snapshot restore", "file")
			if err != nil {
				return err
			}
			return Restore(c.Context, env, c.String("server"), file, c.Bool("look"))
		},
	}
}

const (
	// pieceBytes is how much of the file one call carries, as much as the log takes at once.
	pieceBytes = 192 << 10
	// A large state takes the replicas longer than one call may; they are asked again.
	restoreAsks     = 20
	restorePatience = time.Second
)

// Restore sends a snapshot file to the replicas and has it put back; with look they only
// tell what that would do.
func Restore(ctx context.Context, env *Env, server, path string, look bool) error {
	if err := restore(ctx, env, server, path, look); err != nil {
		return fmt.Errorf("cluster snapshot restore: %w", err)
	}
	return nil
}

func restore(ctx context.Context, env *Env, server, path string, look bool) error {
	client, err := env.Snapshots(server)
	if err != nil {
		return err
	}
	file, err := openState(env, path)
	if err != nil {
		return err
	}
	defer file.Close()
	state, scripts, err := split(file)
	if err != nil {
		return err
	}
	key := rand.Text()
	parts, err := sendPieces(ctx, env, client, state, key)
	if err == nil && !look {
		err = sendScripts(ctx, env, client, file, scripts)
	}
	if err != nil {
		return err
	}
	reply, err := putBack(env.WithRequestID(ctx), client, &api.RestoreSnapshotRequest{Key: key, Parts: parts, Look: look})
	if err != nil || look { // nothing becomes of the pieces: they need not wait to be forgotten
		_, dropped := client.StageSnapshot(env.WithRequestID(ctx), connect.NewRequest(&api.StageSnapshotRequest{}))
		if err != nil || dropped != nil {
			return errors.Join(err, dropped)
		}
	}
	_, err = fmt.Fprint(env.Stdout, restoreText(reply, look))
	return err
}

// backupState is the file in the folder of a backup that holds the state.
const backupState = "state.snapshot"

// openState opens a snapshot file, or the one in the folder of a backup.
func openState(env *Env, path string) (io.ReadCloser, error) {
	file, err := env.Open(path)
	if err != nil {
		return nil, err
	}
	folder, ok := file.(fs.ReadDirFile)
	if !ok {
		return file, nil
	}
	if info, err := folder.Stat(); err != nil || !info.IsDir() {
		return file, nil
	}
	_ = file.Close()
	return env.Open(filepath.Join(path, backupState))
}

func sendPieces(ctx context.Context, env *Env, client apiconnect.SnapshotsClient, file io.Reader, key string) (uint32, error) {
	buf := make([]byte, pieceBytes)
	for number := uint32(0); ; number++ {
		n, err := io.ReadFull(file, buf)
		if n == 0 && errors.Is(err, io.EOF) {
			if number == 0 {
				return 0, errors.New("the file is empty")
			}
			return number, nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, err
		}
		_, err = client.StageSnapshot(env.WithRequestID(ctx), connect.NewRequest(&api.StageSnapshotRequest{Key: key, Number: number, Data: buf[:n]}))
		if err != nil {
			return 0, err
		}
	}
}

// split returns the state in a snapshot file, and which large scripts stand behind it.
func split(file io.Reader) (io.Reader, []attached.Script, error) {
	f, ok := file.(*os.File)
	if !ok {
		return file, nil, nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return file, nil, err
	}
	size, scripts, err := attached.Split(f, info.Size())
	return io.NewSectionReader(f, 0, size), scripts, err
}

// sendScripts sends the large scripts, which only go where the pieces wait.
func sendScripts(ctx context.Context, env *Env, client apiconnect.SnapshotsClient, file io.Reader, scripts []attached.Script) error {
	for _, s := range scripts {
		body := make([]byte, s.Size)
		if _, err := file.(io.ReaderAt).ReadAt(body, s.Offset); err != nil {
			return fmt.Errorf("read the scripts in the file: %w", err)
		}
		if pbs.NameBlob(body).Sum != s.Sum {
			return fmt.Errorf("the file is damaged: the script %s is not what was saved", s.Sum)
		}
		if _, err := client.StageBlob(env.WithRequestID(ctx), connect.NewRequest(&api.StageBlobRequest{Data: body})); err != nil {
			return err
		}
	}
	return nil
}

// putBack asks until the outcome is known: a repeat of the same request changes nothing (L8).
func putBack(ctx context.Context, client apiconnect.SnapshotsClient, r *api.RestoreSnapshotRequest) (*api.RestoreSnapshotReply, error) {
	for ask := 1; ; ask++ {
		reply, err := client.RestoreSnapshot(ctx, connect.NewRequest(r))
		switch {
		case err == nil:
			return reply.Msg, nil
		case pbs.CodeOf(err) != pbs.UnknownResult || ask == restoreAsks:
			return nil, err
		}
		if !pause.For(ctx, restorePatience) {
			return nil, err
		}
	}
}

func restoreText(r *api.RestoreSnapshotReply, look bool) string {
	what, gone, again := "put back", "are gone", "are queued again"
	if look {
		what, gone, again = "would be put back", "would be gone", "would be queued again"
	}
	name := r.GetSnapshot()
	if name == "" {
		name = "the snapshot"
	}
	return fmt.Sprintf("%s: %s\n%d jobs; %d that it does not have %s; %d that have ended since %s\nthe next job gets number %d or a higher one\n",
		what, name, r.GetJobs(), r.GetGone(), gone, r.GetAgain(), again, r.GetNextJob())
}
