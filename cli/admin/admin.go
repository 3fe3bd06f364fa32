// Package admin holds the administration commands that talk to the replicas: cluster
// status, transfer and snapshots, hosts, enrolment tokens, certificates, logins, timelines
// of jobs, the plan, why jobs wait. Each is an urfave command that turns its flags into plain options for one function;
// errors are returned, and Finish turns them into text and exit status. Nothing outlives
// a command.
package admin

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"rampart/transport/api/apiconnect"
)

// Env is all that the commands know of the world outside.
type Env struct {
	Stdout io.Writer
	// Cluster returns a client of the replicas, or of the one that server names.
	Cluster func(server string) (apiconnect.ClusterClient, error)
	// Batch is Cluster for what people see of jobs, vnodes and reservations.
	Batch func(server string) (apiconnect.BatchClient, error)
	// Trust is Cluster for tokens, certificates and keys.
	Trust func(server string) (apiconnect.TrustClient, error)
	// Recovery is Cluster for what is left to do without a quorum.
	Recovery func(server string) (apiconnect.RecoveryClient, error)
	// Members is Cluster for who belongs to the replicas.
	Members func(server string) (apiconnect.MembersClient, error)
	// Snapshots is Cluster for putting a state back.
	Snapshots func(server string) (apiconnect.SnapshotsClient, error)
	// Foresee plays the state of the cluster on in virtual time until a job starts, for so many days; nil where nobody can.
	Foresee func(ctx context.Context, server, job string, days uint) (Foreseen, error)
	// Open opens a file for reading.
	Open func(path string) (io.ReadCloser, error)
	// Create opens a file for writing, for nobody else to read: snapshots hold secrets.
	Create func(path string) (io.WriteCloser, error)
	// WriteFile writes a file for everybody to read, over one that is there.
	WriteFile func(path string, data []byte) error
	// Getenv reads a variable of the environment.
	Getenv func(name string) string
	// WithRequestID makes a change under ctx repeatable (L8).
	WithRequestID func(ctx context.Context) context.Context
}

var serverFlag = &cli.StringFlag{Name: "server", Usage: "the cluster of this replica, `HOST[:PORT]`, is meant; its socket is asked if this host has it"}

// Commands returns the command trees of this package.
func Commands(env *Env) []*cli.Command {
	return []*cli.Command{clusterCommand(env), hostCommand(env), accountCommand(env), tokenCommand(env), certCommand(env), caCommand(env), loginCommand(env), jobCommand(env), planCommand(env), whyCommand(env)}
}

func clusterCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:  "cluster",
		Usage: "look at and lead the replicas",
		Subcommands: []*cli.Command{
			statusCommand(env), transferCommand(env), recoverCommand(env), removeCommand(env), rttClassCommand(env), gossipKeyCommand(env),
			{Name: "snapshot", Usage: "save the state to a file, and put it back", Subcommands: []*cli.Command{saveCommand(env), restoreCommand(env), scheduleCommand(env), listBackupsCommand(env)}},
		},
	}
}
