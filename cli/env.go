package cli

import (
	"context"
	"io"
	"io/fs"
	"net"
	"time"

	"rampart/transport/api/apiconnect"
)

// Env is all a command knows of the world outside. Nothing below cmd reads os
// directly.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Environ  func() []string
	Now      func() time.Time
	Zone     *time.Location
	Hostname func() (string, error)
	// Getwd returns the present folder, by the name that PWD has for it if it has one.
	Getwd func() (string, error)
	Open  func(name string) (fs.File, error)
	// Stat tells of a file without opening it; nil: of none.
	Stat func(name string) (fs.FileInfo, error)
	// WriteFile makes a file that only its owner may read, or replaces what is in one.
	WriteFile func(name string, data []byte) error
	// MakeFolder makes a folder, and those that it is in, unless they are there.
	MakeFolder func(name string) error
	// Terminal reports whether standard input is one, for qmgr's prompt.
	Terminal func() bool
	// Console returns the terminal of standard input and output; false: they are none, and of what is returned Signals alone
	// serves, and is nil where nobody can attach.
	Console func() (Console, bool)
	// Editor returns an editor of the lines that are typed at the terminal; nil where they
	// cannot be edited. It keeps them in the file history, "" for nowhere.
	Editor func(history string) LineEditor

	// Dial connects to whatever else is there, as to the display of whoever has typed the command.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Batch returns a client of the replicas or gateways of t.
	Batch func(t Target) (apiconnect.BatchClient, error)
	// Cluster returns a client of what replicas tell of themselves, and of accounting.
	Cluster func(t Target) (apiconnect.ClusterClient, error)
	// Halt returns a client that ends replicas.
	Halt func(t Target) (apiconnect.HaltClient, error)
	// Gone reports whether nobody serves at HOST:PORT any more. Where no answer comes that is not
	// known.
	Gone func(ctx context.Context, address string) bool
	// Tasks returns a client of the mom of this host, for programs of its jobs; nil: there is none.
	Tasks func(socket string) apiconnect.TaskManagerClient
	// Start makes a session of its own for a program, with the streams of this one; the
	// program runs from Begin on.
	Start func(args []string) (Child, error)
	// WithRequestID makes the calls under ctx carry the id (L8).
	WithRequestID func(ctx context.Context, id string) context.Context
	// NewRequestID returns a fresh id: a UUIDv7.
	NewRequestID func() string
}

// A Child is a program that a command has started.
type Child interface {
	PID() int
	Begin() error
	// Wait returns the exit status, 256 and the number of the signal when one has ended it.
	Wait() (int, error)
	Kill()
}

// Lookup returns the value of an environment variable; of several the last
// counts.
func (e *Env) Lookup(key string) (string, bool) {
	value, found := "", false
	for _, kv := range e.Environ() {
		if len(kv) > len(key) && kv[len(key)] == '=' && kv[:len(key)] == key {
			value, found = kv[len(key)+1:], true
		}
	}
	return value, found
}

// Getenv is Lookup without the difference between empty and absent.
func (e *Env) Getenv(key string) string {
	value, _ := e.Lookup(key)
	return value
}
