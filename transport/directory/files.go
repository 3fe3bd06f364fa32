package directory

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rampart/transport"
)

// files are passwd and group of /etc, read again when they have changed.
type files struct {
	etc fs.FS

	mu      sync.Mutex
	version [2]version
	users   []transport.Account
	named   map[string]int // by name, into users
	by      map[uint32]int // by uid; the first one counts
	names   map[uint32]string
}

// A version tells one state of a file from another.
type version struct {
	size int64
	at   time.Time
}

func (f *files) byName(name string) (transport.Account, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readLocked()
	i, ok := f.named[name]
	return f.accountLocked(i, ok)
}

func (f *files) byUID(uid uint32) (transport.Account, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readLocked()
	i, ok := f.by[uid]
	return f.accountLocked(i, ok)
}

// groups returns the names of the groups. The map is not changed any more.
func (f *files) groups() map[uint32]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readLocked()
	return f.names
}

func (f *files) accountLocked(i int, ok bool) (transport.Account, bool) {
	if !ok {
		return transport.Account{}, false
	}
	return f.users[i], true
}

// readLocked reads the files if they are others than before. What cannot be read has nobody.
func (f *files) readLocked() {
	now := [2]version{f.versionOf("passwd"), f.versionOf("group")}
	if f.named != nil && now == f.version {
		return
	}
	passwd, _ := fs.ReadFile(f.etc, "passwd")
	text, _ := fs.ReadFile(f.etc, "group")
	f.version, f.users = now, nil
	f.named, f.by, f.names = map[string]int{}, map[uint32]int{}, map[uint32]string{}
	member := f.readGroups(string(text))
	for line := range strings.Lines(string(passwd)) {
		a, ok := parsePasswd(line)
		if _, twice := f.named[a.Name]; !ok || twice {
			continue
		}
		f.named[a.Name] = len(f.users)
		if _, twice := f.by[a.UID]; !twice {
			f.by[a.UID] = len(f.users)
		}
		f.users = append(f.users, withLocal(a, member[a.Name], f.names))
	}
}

// readGroups reads the names of the groups, and returns of whom they have members.
func (f *files) readGroups(text string) map[string][]uint32 {
	member := map[string][]uint32{}
	for line := range strings.Lines(text) {
		g, ok := parseGroup(line)
		if !ok {
			continue
		}
		if _, twice := f.names[g.gid]; !twice {
			f.names[g.gid] = g.name
		}
		for _, name := range g.members {
			member[name] = append(member[name], g.gid)
		}
	}
	return member
}

func (f *files) versionOf(name string) version {
	info, err := fs.Stat(f.etc, name)
	if err != nil {
		return version{}
	}
	return version{info.Size(), info.ModTime()}
}

// withLocal adds to an account the groups that the file has.
func withLocal(a transport.Account, gids []uint32, names map[uint32]string) transport.Account {
	a.GIDs = []uint32{a.GID}
	for _, gid := range gids {
		if !slices.Contains(a.GIDs, gid) {
			a.GIDs = append(a.GIDs, gid)
		}
	}
	for _, gid := range a.GIDs {
		a.Groups = append(a.Groups, nameOf(names, gid))
	}
	a.Group = a.Groups[0]
	return a
}

// parsePasswd reads name:password:uid:gid:gecos:home:shell. A line that begins with + or -
// only says where to look further.
func parsePasswd(line string) (transport.Account, bool) {
	f := strings.Split(strings.TrimRight(line, "\n"), ":")
	if len(f) != 7 || f[0] == "" || f[0][0] == '+' || f[0][0] == '-' {
		return transport.Account{}, false
	}
	uid, err1 := strconv.ParseUint(f[2], 10, 32)
	gid, err2 := strconv.ParseUint(f[3], 10, 32)
	a := transport.Account{Name: f[0], UID: uint32(uid), GID: uint32(gid), Home: f[5], Shell: f[6]}
	return a, err1 == nil && err2 == nil
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

type group struct {
	name    string
	gid     uint32
	members []string
}

// parseGroup reads name:password:gid:member,member.
func parseGroup(line string) (group, bool) {
	f := strings.Split(strings.TrimRight(line, "\n"), ":")
	if len(f) != 4 || f[0] == "" || f[0][0] == '+' || f[0][0] == '-' {
		return group{}, false
	}
	gid, err := strconv.ParseUint(f[2], 10, 32)
	return group{f[0], uint32(gid), strings.Split(f[3], ",")}, err == nil
}
