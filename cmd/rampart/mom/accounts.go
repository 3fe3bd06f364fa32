package mom

import (
	"context"
	"sync"
	"time"

	"connectrpc.com/connect"

	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/directory"
	"rampart/transport/meter"
)

const (
	// recallLimit is how long somebody waits for what the replicas have on record of him, before the
	// directory is asked.
	recallLimit = 500 * time.Millisecond
	// ownerFresh is how long it is believed that somebody has jobs, or has none.
	ownerFresh = time.Hour
	// ownerLimit bounds a question of the background.
	ownerLimit = 10 * time.Second
	// maxOwners bounds how many are remembered.
	maxOwners = 10_000
)

// accounts is what the replicas know of users, for the directory of a host that has no state of its own.
type accounts struct {
	ask func(ctx context.Context, user string) (*api.RecallAccountReply, error)

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu        sync.Mutex
	heard     bool                 // the replicas have said once who is forgotten
	stamps    map[string]int64     // what they said of when
	forgotten map[string]time.Time // what this host was told until then does not count
	owners    map[string]*owner
}

// An owner is somebody who has jobs, or was asked about.
type owner struct {
	has    bool
	at     time.Time // zero: nobody has said so yet
	asking bool
}

func newAccounts(ask func(context.Context, string) (*api.RecallAccountReply, error)) *accounts {
	a := &accounts{ask: ask, stamps: map[string]int64{}, forgotten: map[string]time.Time{}, owners: map[string]*owner{}}
	a.ctx, a.stop = context.WithCancel(context.Background())
	return a
}

func (a *accounts) close() {
	a.mu.Lock() // owns begins nothing afterwards
	a.stop()
	a.mu.Unlock()
	a.wg.Wait()
}

// openAccounts makes the directory of this host, unless the outside has brought another.
func (d *daemon) openAccounts() {
	if d.outside.Accounts != nil {
		return
	}
	d.accounts = newAccounts(func(ctx context.Context, user string) (*api.RecallAccountReply, error) {
		reply, err := d.asker.Trust().RecallAccount(ctx, connect.NewRequest(&api.RecallAccountRequest{User: user}))
		if err != nil {
			return nil, err
		}
		return reply.Msg, nil
	})
	d.directory = directory.New(directory.Options{
		Recall: d.accounts.recall, Owns: d.accounts.owns, Forgotten: d.accounts.forgottenAt, Logger: d.options.Logger,
	})
	d.outside.Accounts = d.directory
	meter.Silence(d.metrics, "names", func() float64 { return transport.NamesSilent().Seconds() })
	meter.Silence(d.metrics, "accounts", func() float64 { return d.directory.Silent().Seconds() })
}

// recall is directory.Options.Recall.
func (a *accounts) recall(key string) (transport.Account, time.Time, bool) {
	ctx, cancel := context.WithTimeout(a.ctx, recallLimit)
	defer cancel()
	reply, err := a.ask(ctx, key)
	if err != nil || reply.GetAccount() == nil {
		return transport.Account{}, time.Time{}, false
	}
	was, told := reply.GetAccount(), time.Unix(0, reply.GetTold())
	if len(was.GetGroups()) == 0 || len(was.GetGroups()) != len(was.GetGids()) {
		return transport.Account{}, time.Time{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	*a.ownerLocked(was.GetName()) = owner{has: reply.GetOwner(), at: time.Now()}
	return transport.Account{
		Name: was.GetName(), UID: was.GetUid(), GID: was.GetGid(), Home: was.GetHome(), Shell: was.GetShell(),
		Group: was.GetGroups()[0], Groups: was.GetGroups(), GIDs: was.GetGids(), Told: told,
	}, told, true
}

// owns is directory.Options.Owns: it reports whether the user has jobs, as far as the mom knows. It never
// waits; an answer older than ownerFresh is returned, and a new one is fetched in the background.
func (a *accounts) owns(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.ownerLocked(name)
	if !o.asking && time.Since(o.at) > ownerFresh && a.ctx.Err() == nil {
		o.asking = true
		a.wg.Go(func() { a.askOwner(name) })
	}
	return o.has
}

func (a *accounts) askOwner(name string) {
	ctx, cancel := context.WithTimeout(a.ctx, ownerLimit)
	defer cancel()
	reply, err := a.ask(ctx, name)
	a.mu.Lock()
	defer a.mu.Unlock()
	o := a.ownerLocked(name)
	o.asking = false
	if err == nil {
		o.has, o.at = reply.GetOwner(), time.Now()
	}
}

func (a *accounts) ownerLocked(name string) *owner {
	o := a.owners[name]
	if o == nil {
		if len(a.owners) >= maxOwners {
			clear(a.owners)
		}
		o = new(owner)
		a.owners[name] = o
	}
	return o
}

// forgottenAt is directory.Options.Forgotten.
func (a *accounts) forgottenAt(name string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.forgotten[name]
}

// forget takes over who is forgotten. The answers of this host have times of its own clock: what it was told
// before it hears of a new one does not count, whatever the clock of the replicas says.
func (a *accounts) forget(all []*api.ForgottenAccount) {
	a.mu.Lock()
	defer a.mu.Unlock()
	stamps := make(map[string]int64, len(all))
	for _, f := range all {
		stamps[f.GetUser()] = f.GetAt()
		if a.stamps[f.GetUser()] == f.GetAt() {
			continue
		}
		at := time.Unix(0, f.GetAt())
		if now := time.Now(); a.heard && now.After(at) {
			at = now
		}
		a.forgotten[f.GetUser()] = at
	}
	for name := range a.stamps {
		if _, still := stamps[name]; !still {
			delete(a.forgotten, name)
		}
	}
	a.heard, a.stamps = true, stamps
}
