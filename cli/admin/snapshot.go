package admin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/transport/api"
)

func saveCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "save",
		Usage:     "take a snapshot now and write it to FILE, which then holds secrets",
		ArgsUsage: "FILE",
		Flags:     []cli.Flag{serverFlag},
		Action: func(c *cli.Context) error {
			file, err := Operand(c, "cluster snapshot save", "file")
			if err != nil {
				return err
			}
			return Save(c.Context, env, c.String("server"), file)
		},
	}
}

// Save writes a snapshot of the state to a new file.
func Save(ctx context.Context, env *Env, server, path string) (err error) {
	client, err := env.Cluster(server)
	if err != nil {
		return err
	}
	stream, err := client.SaveSnapshot(ctx, connect.NewRequest(&api.SaveSnapshotRequest{}))
	if err != nil {
		return fmt.Errorf("cluster snapshot save: %w", err)
	}
	defer stream.Close()
	f, err := env.Create(path)
	if err != nil {
		return fmt.Errorf("cluster snapshot save: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return copySnapshot(f, stream)
}

func copySnapshot(w io.Writer, stream *connect.ServerStreamForClient[api.SaveSnapshotReply]) error {
	for stream.Receive() {
		if _, err := w.Write(stream.Msg().GetData()); err != nil {
			return fmt.Errorf("cluster snapshot save: %w", err)
		}
	}
	if err := stream.Err(); err != nil {
		return fmt.Errorf("cluster snapshot save: %w", err)
	}
	return nil
}
