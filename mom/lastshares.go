package mom

import (
	"sync"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
)

// sharesFor is how long a mother superior may be away and still learn what a part has used that is forgotten.
const sharesFor = 15 * time.Minute

// lastShares are what parts on this host have used that the servers have let it forget: they do not wait for a
// mother superior whose mom was away when the part ended, and who comes for it afterwards.
type lastShares struct {
	mu     sync.Mutex
	shares map[spool.TaskKey]lastShare
	oldest []spool.TaskKey // in the order in which they came
}

type lastShare struct {
	mother pbs.HostName
	share  *api.Share
	until  time.Time
}

// keep notes the share of a part that is over, and drops those for which nobody has come.
func (l *lastShares) keep(t task.Task, now time.Time) {
	if !t.Sister() || len(t.Hosts) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shares == nil {
		l.shares = make(map[spool.TaskKey]lastShare)
	}
	for len(l.oldest) > 0 && !now.Before(l.shares[l.oldest[0]].until) {
		delete(l.shares, l.oldest[0])
		l.oldest = l.oldest[1:]
	}
	if _, again := l.shares[t.Key]; again {
		return
	}
	l.shares[t.Key] = lastShare{mother: t.Hosts[0].Name, share: share(t), until: now.Add(sharesFor)}
	l.oldest = append(l.oldest, t.Key)
}

// of returns what a forgotten part has used, nil where it is not known or the caller is not the mother superior.
func (l *lastShares) of(k spool.TaskKey, caller pbs.HostName) *api.Share {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.shares[k]; ok && s.mother == caller {
		return s.share
	}
	return nil
}
