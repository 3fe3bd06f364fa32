package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/known"
)

const (
	// fresh is how long an answer of getent is taken without asking again.
	fresh = 60 * time.Second
	// ownersKeep is how long the account of somebody who has jobs counts while nobody confirms it.
	ownersKeep = 30 * known.Day
)

// Options say how a Directory asks, and what else it knows. The zero value asks this host.
type Options struct {
	// Run runs getent; nil: Exec.
	Run transport.Runner
	// Etc has passwd and group; nil: /etc.
	Etc fs.FS
	// Recall returns the account on record with a name or uid, and of when it is; nil: there is no record.
	Recall func(key string) (transport.Account, time.Time, bool)
	// Owns reports whether somebody of that name has jobs; nil: nobody has.
	Owns func(name string) bool
	// Forgotten returns when an administrator has said that what is known of somebody counts no
	// more; the zero time: never. nil: of nobody.
	Forgotten func(name string) time.Time
	// Logger hears when the directory is silent; nil: nobody does.
	Logger *slog.Logger
}

// A Directory looks accounts up. What it knows stays good while the directory behind getent is silent.
type Directory struct {
	opts  Options
	files *files
	cache *known.Cache[transport.Account]
}

var _ transport.Accounts = (*Directory)(nil)

// New returns a directory. Close ends what it does in the background.
func New(opts Options) *Directory {
	if opts.Run == nil {
		opts.Run = Exec
	}
	if opts.Etc == nil {
		opts.Etc = os.DirFS("/etc")
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Directory{opts: opts, files: &files{etc: opts.Etc}}
	d.cache = known.New(known.Options[transport.Account]{
		Ask: d.ask, No: func(err error) bool { return errors.Is(err, transport.ErrNoAccount) },
		Fresh: fresh, Keep: d.keep, Recall: opts.Recall, Void: d.void, Told: d.told,
	})
	return d
}

// Close ends the questions that are open.
func (d *Directory) Close() { d.cache.Close() }

// Silent returns since when the directory has not answered; the zero value: it answers.
func (d *Directory) Silent() known.Silence { return d.cache.Silent() }

// ByUID implements transport.Accounts.
func (d *Directory) ByUID(ctx context.Context, uid uint32) (transport.Account, error) {
	key := strconv.FormatUint(uint64(uid), 10)
	if a, ok := d.files.byUID(uid); ok {
		return a, nil // who asks by number wants the name
	}
	return d.get(ctx, key)
}

// ByName implements transport.Accounts. A name made of digits is nobody's: getent would
// take it for a uid.
func (d *Directory) ByName(ctx context.Context, name string) (transport.Account, error) {
	if _, err := strconv.ParseUint(name, 10, 64); err == nil || name == "" || strings.ContainsAny(name, ":\x00\n") || name[0] == '-' {
		return transport.Account{}, fmt.Errorf("look up user %q: %w", name, transport.ErrNoAccount)
	}
	a, ok := d.files.byName(name)
	switch {
	case !ok:
		return d.get(ctx, name)
	case a.UID == 0:
		return a, nil // root depends on nobody
	}
	if more, ok := d.cache.Hint(ctx, name); ok && more.UID == a.UID {
		a = joined(a, more)
	}
	return a, nil
}

func (d *Directory) get(ctx context.Context, key string) (transport.Account, error) {
	a, err := d.cache.Get(ctx, key)
	switch {
	case err == nil:
		return a, nil
	case errors.Is(err, known.ErrSilent):
		return a, pbs.Errorf(pbs.NoDirectory, "look up user %s: the directory of users does not answer (getent passwd %s)", key, key)
	}
	return a, fmt.Errorf("look up user %s: %w", key, err)
}

// joined adds to an account of the files the groups that only the directory has.
func joined(a, more transport.Account) transport.Account {
	a.GIDs, a.Groups = slices.Clone(a.GIDs), slices.Clone(a.Groups)
	for i, gid := range more.GIDs {
		switch at := slices.Index(a.GIDs, gid); {
		case at < 0:
			a.GIDs, a.Groups = append(a.GIDs, gid), append(a.Groups, more.Groups[i])
		case a.Groups[at] == strconv.FormatUint(uint64(gid), 10):
			a.Groups[at] = more.Groups[i]
		}
	}
	a.Group, a.Told = a.Groups[0], time.Time{}
	return a
}

func (d *Directory) keep(a transport.Account) time.Duration {
	if d.opts.Owns != nil && d.opts.Owns(a.Name) {
		return ownersKeep
	}
	return known.Day
}

func (d *Directory) void(a transport.Account, then time.Time) bool {
	return d.opts.Forgotten != nil && !then.After(d.opts.Forgotten(a.Name))
}

func (d *Directory) told(since time.Time, err error) {
	if err != nil {
		d.opts.Logger.Warn("the directory of users does not answer; who is known stays known", "since", since, "error", err)
		return
	}
	d.opts.Logger.Info("the directory of users answers again", "silent_for", time.Since(since).Round(time.Second))
}
