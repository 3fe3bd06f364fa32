package mom

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/load"
	"rampart/transport/api"
)

// loadSeldom is how often the servers are told of load at most that nobody goes by, and at least of what has moved at all.
const loadSeldom = time.Minute

// loads is what there is to tell of the load of the host: it goes with the renewals of the lease, since it is neither to be
// kept nor to be in the log.
type loads struct {
	mu     sync.Mutex
	parts  map[string]load.Values // of each source
	told   load.Values            // nil: nothing was
	toldAt time.Time
	wish   api.LoadWish
}

// set takes what a source says, nil if it has nothing to say any more, and reports whether the servers are to hear of it at once.
func (s *loads) set(source string, v load.Values, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts == nil {
		s.parts, s.wish = map[string]load.Values{}, api.LoadWish_LOAD_WISH_NOW
	}
	s.parts[source] = v
	return s.dueLocked(now) && (s.told == nil || now.Sub(s.toldAt) >= leaseEvery)
}

// due returns what is to be told with a renewal; nil: nothing.
func (s *loads) due(now time.Time) *api.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dueLocked(now) {
		return nil
	}
	all := s.allLocked()
	msg := new(api.Load)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		msg.Indices = append(msg.Indices, &api.LoadIndex{Name: name, Value: all[name]})
	}
	return msg
}

func (s *loads) dueLocked(now time.Time) bool {
	if s.parts == nil {
		return false
	}
	switch all, old := s.allLocked(), now.Sub(s.toldAt) >= loadSeldom; s.wish {
	case api.LoadWish_LOAD_WISH_NOW:
		return true
	case api.LoadWish_LOAD_WISH_SELDOM:
		return old && load.Moved(s.told, all)
	case api.LoadWish_LOAD_WISH_OFTEN:
		return load.Moved(s.told, all) || old && !maps.Equal(s.told, all)
	}
	return false
}

// allLocked returns what all sources say together. The kernel's word counts unless the site's program has another.
func (s *loads) allLocked() load.Values {
	all := load.Values{}
	for _, source := range slices.Sorted(maps.Keys(s.parts)) {
		maps.Copy(all, s.parts[source])
	}
	return all
}

// of returns the present value of an index.
func (s *loads) of(index string) (value float64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, known = s.allLocked()[index]
	return value, known
}

// answered notes that what was told is known, and when more is to be told; it reports whether that is at once.
func (s *loads) answered(sent *api.Load, wish api.LoadWish, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts == nil {
		return false
	}
	s.wish = wish
	if sent == nil {
		return s.dueLocked(now)
	}
	s.told, s.toldAt = load.Values{}, now
	for _, x := range sent.GetIndices() {
		s.told[x.GetName()] = x.GetValue()
	}
	return false
}

// A loadKeeper has the load of the host measured, and the servers told of it.
type loadKeeper struct {
	mom  *Mom
	life *life
}

// keepKernel measures what the kernel says of the load.
func (k loadKeeper) keepKernel(ctx context.Context) {
	if k.mom.config.Load == nil {
		return
	}
	k.mom.config.Load.Run(ctx, func(v load.Values) { k.loaded(kernel, v) })
}

// keepElim runs the program of $elim, another one when the configuration names another.
func (k loadKeeper) keepElim(ctx context.Context) {
	if k.mom.config.Elim == nil {
		return
	}
	for ctx.Err() == nil {
		command := k.mom.settings.Load().elim
		running, stop := context.WithCancel(ctx)
		var program sync.WaitGroup
		if command != "" {
			e := k.mom.config.Elim(command, func(problem string) { k.mom.lines.system(pbs.LogError, "elim", problem) })
			program.Go(func() { e.Run(running, func(v load.Values) { k.loaded(elim, v) }) })
		}
		for ctx.Err() == nil && k.mom.settings.Load().elim == command {
			select {
			case <-ctx.Done():
			case <-k.mom.reelim:
			}
		}
		stop()
		program.Wait()
		if command != "" {
			k.loaded(elim, nil)
		}
	}
}

// The sources of load: what a later one in the order says of an index counts.
const (
	kernel = "1 kernel"
	elim   = "2 elim"
)

// loaded takes what a source says, and has the servers hear of it soon if it is due.
func (k loadKeeper) loaded(source string, v load.Values) {
	if k.life.loads.set(source, v, time.Now()) {
		k.life.renewSoon()
	}
	k.mom.judgeLoad(k.life)
}
