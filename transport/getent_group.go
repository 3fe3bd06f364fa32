package transport

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// withGroups adds the groups of an account. A group without a name, or one that
// cannot be looked up, goes by its number.
func (g *Getent) withGroups(ctx context.Context, a Account) (Account, error) {
	out, err := g.run(ctx, "getent", "initgroups", a.Name)
	switch {
	case err == nil:
		a.GIDs = parseInitgroups(string(out))
	case ctx.Err() != nil:
		return Account{}, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		if a.GIDs, err = g.groupsFromFile(a.Name); err != nil {
			return Account{}, err
		}
	}
	others := slices.DeleteFunc(a.GIDs, func(gid uint32) bool { return gid == a.GID })
	a.GIDs = append([]uint32{a.GID}, others...)
	for _, gid := range a.GIDs {
		name, err := g.groupName(ctx, gid)
		if err != nil {
			return Account{}, err
		}
		a.Groups = append(a.Groups, name)
	}
	a.Group = a.Groups[0]
	return a, nil
}

// parseInitgroups reads "name  gid gid ...".
func parseInitgroups(line string) []uint32 {
	var gids []uint32
	fields := strings.Fields(line)
	for _, f := range fields[min(1, len(fields)):] {
		if gid, err := strconv.ParseUint(f, 10, 32); err == nil {
			gids = append(gids, uint32(gid))
		}
	}
	return gids
}

func (g *Getent) groupsFromFile(user string) ([]uint32, error) {
	text, err := g.read("/etc/group")
	if err != nil {
		return nil, err
	}
	var gids []uint32
	for line := range strings.Lines(string(text)) {
		if gr, ok := parseGroup(line); ok && slices.Contains(gr.members, user) {
			gids = append(gids, gr.gid)
		}
	}
	return gids, nil
}

func (g *Getent) groupName(ctx context.Context, gid uint32) (string, error) {
	number := strconv.FormatUint(uint64(gid), 10)
	text, err := g.database(ctx, "group", number)
	if err != nil && !errors.Is(err, ErrNoAccount) {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if gr, ok := parseGroup(line); ok && gr.gid == gid {
			return gr.name, nil
		}
	}
	return number, nil
}

type group struct {
	name    string
	gid     uint32
	members []string
}

// parseGroup reads name:password:gid:member,member.
func parseGroup(line string) (group, bool) {
	f := strings.Split(strings.TrimRight(line, "\n"), ":")
	if len(f) != 4 || f[0] == "" {
		return group{}, false
	}
	gid, err := strconv.ParseUint(f[2], 10, 32)
	return group{f[0], uint32(gid), strings.Split(f[3], ",")}, err == nil
}
