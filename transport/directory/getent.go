package directory

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rampart/transport"
)

// exitNotFound is getent's status for a key that is not in the database.
const exitNotFound = 2

// errNothing is the error of a getent that ended well and said nothing, which is no answer: who
// is not there is exitNotFound.
var errNothing = errors.New("it has ended without an answer")

// leftBehind is how long the output of a program is waited for that processes it has left
// behind keep open.
const leftBehind = time.Second

// Exec runs a program of the system. It is killed, with what it has started, when ctx ends.
func Exec(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = leftBehind
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		err = nil // it has ended well, and what it said is there
	}
	return out, err
}

// ask asks getent for a name or a uid.
func (d *Directory) ask(ctx context.Context, key string) (transport.Account, error) {
	told := time.Now()
	lines, err := d.getent(ctx, "passwd", key)
	if err != nil {
		return transport.Account{}, err
	}
	for line := range strings.Lines(string(lines)) {
		if a, ok := parsePasswd(line); ok && (a.Name == key || strconv.FormatUint(uint64(a.UID), 10) == key) {
			a.Told = told
			return d.withGroups(ctx, a)
		}
	}
	return transport.Account{}, transport.ErrNoAccount
}

// getent returns the lines of a database that have the keys; transport.ErrNoAccount, with the lines of the
// others, when one is not there. A host without getent has its files only.
func (d *Directory) getent(ctx context.Context, database string, keys ...string) ([]byte, error) {
	out, err := d.opts.Run(ctx, "getent", append([]string{database}, keys...)...)
	var status interface{ ExitCode() int }
	switch {
	case err == nil && len(out) == 0:
		return nil, fmt.Errorf("getent %s: %w", database, errNothing)
	case err == nil:
		return out, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("getent %s: %w", database, ctx.Err())
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &status) && status.ExitCode() == exitNotFound:
		return out, transport.ErrNoAccount
	default:
		return nil, fmt.Errorf("getent %s: %w", database, err)
	}
}

// withGroups adds the groups of an account. A group without a name goes by its number.
func (d *Directory) withGroups(ctx context.Context, a transport.Account) (transport.Account, error) {
	out, err := d.getent(ctx, "initgroups", a.Name)
	if err != nil && !errors.Is(err, transport.ErrNoAccount) {
		return transport.Account{}, err
	}
	others := slices.DeleteFunc(parseInitgroups(string(out)), func(gid uint32) bool { return gid == a.GID })
	a.GIDs = append([]uint32{a.GID}, others...)
	names, err := d.groupNames(ctx, a.GIDs)
	if err != nil {
		return transport.Account{}, err
	}
	for _, gid := range a.GIDs {
		a.Groups = append(a.Groups, nameOf(names, gid))
	}
	a.Group = a.Groups[0]
	return a, nil
}

// groupNames finds the names of groups: in the file, and in one question for the others.
func (d *Directory) groupNames(ctx context.Context, gids []uint32) (map[uint32]string, error) {
	names, unknown := map[uint32]string{}, []string{}
	local := d.files.groups()
	for _, gid := range gids {
		if name, ok := local[gid]; ok {
			names[gid] = name
		} else {
			unknown = append(unknown, strconv.FormatUint(uint64(gid), 10))
		}
	}
	if len(unknown) == 0 {
		return names, nil
	}
	out, err := d.getent(ctx, "group", unknown...)
	if err != nil && !errors.Is(err, transport.ErrNoAccount) {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if g, ok := parseGroup(line); ok {
			names[g.gid] = g.name
		}
	}
	return names, nil
}

func nameOf(names map[uint32]string, gid uint32) string {
	if name, ok := names[gid]; ok {
		return name
	}
	return strconv.FormatUint(uint64(gid), 10)
}
