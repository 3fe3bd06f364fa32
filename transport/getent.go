package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	getentDeadline = 5 * time.Second
	accountLife    = 60 * time.Second
	maxAccounts    = 10_000
)

// Getent looks accounts up with getent, so that LDAP and SSSD count, and in the
// files of /etc where getent is missing. Answers are kept for a minute.
type Getent struct {
	run  Runner
	read func(path string) ([]byte, error)

	mu    sync.Mutex
	cache map[string]cachedAccount
}

type cachedAccount struct {
	account Account
	err     error
	until   time.Time
}

var _ Accounts = (*Getent)(nil)

// NewGetent returns Accounts that ask getent through run, Exec in production.
func NewGetent(run Runner) *Getent {
	return &Getent{run: run, read: os.ReadFile, cache: map[string]cachedAccount{}}
}

// Exec runs a program of the system.
func Exec(ctx context.Context, program string, args ...string) ([]byte, error) {
	return exec.CommandContext(ctx, program, args...).Output()
}

// ByUID implements Accounts.
func (g *Getent) ByUID(ctx context.Context, uid uint32) (Account, error) {
	return g.cached(ctx, strconv.FormatUint(uint64(uid), 10), func(a Account) bool { return a.UID == uid })
}

// ByName implements Accounts. A name made of digits is nobody's: getent would
// take it for a uid.
func (g *Getent) ByName(ctx context.Context, name string) (Account, error) {
	if _, err := strconv.ParseUint(name, 10, 64); err == nil || name == "" || strings.ContainsAny(name, ":\x00\n") || name[0] == '-' {
		return Account{}, fmt.Errorf("look up user %q: %w", name, ErrNoAccount)
	}
	return g.cached(ctx, name, func(a Account) bool { return a.Name == name })
}

func (g *Getent) cached(ctx context.Context, key string, is func(Account) bool) (Account, error) {
	g.mu.Lock()
	c, ok := g.cache[key]
	g.mu.Unlock()
	if ok && time.Now().Before(c.until) {
		return c.account, c.err
	}
	a, err := g.lookup(ctx, key, is)
	if err != nil {
		err = fmt.Errorf("look up user %s: %w", key, err)
	}
	if err == nil || errors.Is(err, ErrNoAccount) {
		g.keep(key, cachedAccount{a, err, time.Now().Add(accountLife)})
	}
	return a, err
}

func (g *Getent) keep(key string, c cachedAccount) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.cache) >= maxAccounts {
		clear(g.cache) // a minute's worth; who asks for so many pays for it
	}
	g.cache[key] = c
}

func (g *Getent) lookup(ctx context.Context, key string, is func(Account) bool) (Account, error) {
	ctx, cancel := context.WithTimeout(ctx, getentDeadline)
	defer cancel()
	lines, err := g.database(ctx, "passwd", key)
	if err != nil {
		return Account{}, err
	}
	for line := range strings.Lines(string(lines)) {
		if a, ok := parsePasswd(line); ok && is(a) {
			return g.withGroups(ctx, a)
		}
	}
	return Account{}, ErrNoAccount
}

// database returns the lines of a database that may hold the key: by getent
// those that do, else all of the file.
func (g *Getent) database(ctx context.Context, name, key string) ([]byte, error) {
	out, err := g.run(ctx, "getent", name, key)
	var status interface{ ExitCode() int }
	switch {
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("getent %s: %w", name, ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return g.read("/etc/" + name)
	case errors.As(err, &status) && status.ExitCode() == exitNotFound:
		return nil, ErrNoAccount
	default:
		return nil, fmt.Errorf("getent %s: %w", name, err)
	}
}

// exitNotFound is getent's status for a key that is not in the database.
const exitNotFound = 2

// parsePasswd reads name:password:uid:gid:gecos:home:shell.
func parsePasswd(line string) (Account, bool) {
	f := strings.Split(strings.TrimRight(line, "\n"), ":")
	if len(f) != 7 || f[0] == "" {
		return Account{}, false
	}
	uid, err1 := strconv.ParseUint(f[2], 10, 32)
	gid, err2 := strconv.ParseUint(f[3], 10, 32)
	a := Account{Name: f[0], UID: uint32(uid), GID: uint32(gid), Home: f[5], Shell: f[6]}
	return a, err1 == nil && err2 == nil
}
