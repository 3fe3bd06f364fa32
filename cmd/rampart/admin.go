package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	urfave "github.com/urfave/cli/v2"

	"rampart/cli"
	"rampart/cli/admin"
	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/server"
	"rampart/fsm/snapshot"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

// adminEnv lets the administration commands ask like every command: through the
// daemon of this host.
func adminEnv() *admin.Env {
	return &admin.Env{
		Stdout:    os.Stdout,
		Cluster:   clusterClient,
		Batch:     batchClient,
		Trust:     trustClient,
		Members:   membersClient,
		Recovery:  recoveryClient,
		Snapshots: snapshotsClient,
		Foresee:   begins,
		Open: func(path string) (io.ReadCloser, error) {
			home.WarnShared(os.Stderr, path)
			return os.Open(path)
		},
		Create: func(path string) (io.WriteCloser, error) {
			return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		},
		WriteFile:     func(path string, data []byte) error { return os.WriteFile(path, data, 0o644) },
		Getenv:        os.Getenv,
		WithRequestID: client.RequestIDs(os.Getenv("PBS_REQUEST_ID")),
	}
}

func clusterClient(server string) (apiconnect.ClusterClient, error) {
	c, err := replicaClient(server)
	if err != nil {
		return nil, err
	}
	return c.Cluster(), nil
}

func batchClient(server string) (apiconnect.BatchClient, error) {
	c, err := replicaClient(server)
	if err != nil {
		return nil, err
	}
	return c.Batch(), nil
}

func trustClient(server string) (apiconnect.TrustClient, error) {
	c, err := replicaClient(server)
	if err != nil {
		return nil, err
	}
	return c.Trust(), nil
}

func recoveryClient(server string) (apiconnect.RecoveryClient, error) {
	c, err := replicaClient(server)
	if err != nil {
		return nil, err
	}
	return c.Recovery(), nil
}

func membersClient(server string) (apiconnect.MembersClient, error) {
	c, err := replicaClient(server)
	if err != nil {
		return nil, err
	}
	return c.Members(), nil
}

func snapshotsClient(server string) (apiconnect.SnapshotsClient, error) {
	c, err := replicaClient(server)
	if err != nil {
		return nil, err
	}
	return c.Snapshots(), nil
}

func replicaClient(server string) (*client.Client, error) {
	env := &cli.Env{
		Environ: os.Environ, Hostname: os.Hostname, Now: time.Now,
		Open: func(name string) (fs.File, error) { return os.Open(name) },
	}
	t := env.Target(server)
	if len(t.Gateways) == 0 {
		return nil, fmt.Errorf("no daemon of this host is known: is there a socket in %s/run?", t.Home)
	}
	budget, err := t.Budget()
	if err != nil {
		return nil, err
	}
	gateways := make([]string, len(t.Gateways))
	for i, path := range t.Gateways {
		gateways[i] = "unix:" + path
	}
	return client.New(client.Options{Replicas: gateways, Servers: t.Names, Budget: budget}), nil
}

// withInspect adds the commands that read files themselves, which no command that talks to
// replicas needs.
func withInspect(commands []*urfave.Command) []*urfave.Command {
	inspect := &urfave.Command{
		Name:      "inspect",
		Usage:     "check a snapshot file, or the folder of a backup, and tell what it holds",
		ArgsUsage: "FILE",
		Action: func(c *urfave.Context) error {
			file, err := admin.Operand(c, "cluster snapshot inspect", "file")
			if err != nil {
				return err
			}
			home.WarnShared(c.App.ErrWriter, file)
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				return inspectBackup(c.Context, c.App.Writer, file)
			}
			return inspectSnapshot(c.App.Writer, file)
		},
	}
	for _, c := range commands {
		if c.Name == "ca" {
			c.Subcommands = append(c.Subcommands, exportCommand())
		}
		for _, sub := range c.Subcommands {
			if c.Name == "cluster" && sub.Name == "snapshot" {
				sub.Subcommands = append(sub.Subcommands, inspect)
			}
		}
	}
	return commands
}

func exportCommand() *urfave.Command {
	return &urfave.Command{
		Name:      "export",
		Usage:     "write certificate and key of the CA from this replica's disk to FILE: whoever has it can be anybody",
		ArgsUsage: "FILE",
		Flags:     []urfave.Flag{homeFlag},
		Action: func(c *urfave.Context) error {
			file, err := admin.Operand(c, "ca export", "file")
			if err != nil {
				return err
			}
			return exportCA(home.Home(c.String("home")), file)
		},
	}
}

func exportCA(h home.Home, path string) error {
	var text bytes.Buffer
	if err := server.ExportCA(h, &text); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("ca export: %w", err)
	}
	_, err = text.WriteTo(f)
	return errors.Join(err, f.Sync(), f.Close())
}

func inspectBackup(ctx context.Context, w io.Writer, dir string) error {
	file, records, err := server.VerifyBackup(ctx, dir)
	if err != nil {
		return fmt.Errorf("cluster snapshot inspect: %w", err)
	}
	if err := inspectSnapshot(w, file); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "accounting: whole, up to record %d\n", records)
	return err
}

func inspectSnapshot(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cluster snapshot inspect: %w", err)
	}
	defer f.Close()
	store, _, err := snapshot.Read(f)
	if err != nil {
		return fmt.Errorf("cluster snapshot inspect: %s: %w", path, err)
	}
	v := store.View()
	jobs := 0
	for range v.Jobs() {
		jobs++
	}
	vnodes := 0
	for range v.Vnodes() {
		vnodes++
	}
	c := v.Cluster()
	_, err = fmt.Fprintf(w, "cluster: %s\nid: %s\nindex: %d\nterm: %d\ntime: %s\njobs: %d\nvnodes: %d\ndigest: %016x\n",
		c.Name, c.ID, v.Index(), v.Term(), time.Unix(0, int64(v.Now())).UTC().Format(time.RFC3339), jobs, vnodes, uint64(v.Digest()))
	return err
}
