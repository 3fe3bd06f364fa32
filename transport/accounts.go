package transport

import (
	"context"
	"errors"
	"time"

	"rampart/transport/api"
)

// An Account is what the host knows of a user.
type Account struct {
	Name   string
	UID    uint32
	GID    uint32
	Home   string
	Shell  string
	Group  string    // name of the primary group
	Groups []string  // names of all groups, the primary one first
	GIDs   []uint32  // their numbers, in the same order
	Told   time.Time // when the directory said so; zero: now
}

// AccountFrom returns the account that a message carries, and whether it carries one.
func AccountFrom(m *api.Account) (Account, bool) {
	groups := m.GetGroups()
	if m.GetName() == "" || len(groups) == 0 || len(groups) != len(m.GetGids()) {
		return Account{}, false
	}
	return Account{
		Name: m.GetName(), UID: m.GetUid(), GID: m.GetGid(), Home: m.GetHome(), Shell: m.GetShell(),
		Group: groups[0], Groups: groups, GIDs: m.GetGids(),
	}, true
}

// Accounts looks users up. An unknown one is ErrNoAccount.
type Accounts interface {
	ByUID(ctx context.Context, uid uint32) (Account, error)
	ByName(ctx context.Context, name string) (Account, error)
}

// ErrNoAccount is the error of a lookup that found nobody.
var ErrNoAccount = errors.New("no such account")

// A Runner runs a program and returns its standard output. A program that is
// not there is exec.ErrNotFound, one that fails an error with ExitCode() int.
type Runner func(ctx context.Context, program string, args ...string) ([]byte, error)
