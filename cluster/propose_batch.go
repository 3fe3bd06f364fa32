package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

const (
	// entriesInFlight: one is written while the next one fills.
	entriesInFlight = 2
	// maxWaiting proposals may wait, of waitingBytes; beyond that one is refused (ErrBusy).
	maxWaiting = 16_384
)

// batcher is the group commit: all proposals that wait when an entry can go out
// go out in it. It accepts proposals while this replica leads; they wait until
// the term has started.
type batcher struct {
	apply func(data []byte) raft.ApplyFuture
	now   func() pbs.Time
	wake  chan struct{} // the queue is no longer empty

	mu    sync.Mutex
	open  bool
	queue []*request
	bytes int
	users map[string]int // bytes of the queue by who asked; daemons' have no name
}

// request is one proposal on its way.
type request struct {
	user    string
	encoded command.Encoded
	left    func(error) // called with the outcome

	done    chan struct{} // closed when the two below are set
	outcome command.Outcome
	err     error
}

func newBatcher(apply func([]byte) raft.ApplyFuture, now func() pbs.Time) *batcher {
	return &batcher{apply: apply, now: now, wake: make(chan struct{}, 1), users: make(map[string]int)}
}

// accept begins to take proposals.
func (b *batcher) accept() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = true
}

// refuse takes no more proposals, and answers those that were not sent.
func (b *batcher) refuse() {
	b.mu.Lock()
	waiting := b.queue
	b.open, b.queue, b.bytes = false, nil, 0
	clear(b.users)
	b.mu.Unlock()
	for _, r := range waiting {
		r.answer(command.Outcome{}, ErrNotLeader)
	}
}

// add queues a proposal. left is called when its outcome is there, whether anybody waits for it or not.
func (b *batcher) add(p command.Proposal, left func(error)) (*request, error) {
	encoded, err := command.EncodeProposal(p)
	if err != nil {
		return nil, fmt.Errorf("propose: %w", err)
	}
	if encoded.Bytes() > proposalBytes {
		return nil, pbs.Errorf(pbs.InvalidRequest, "the request has %s, a change of the state may have %s", megabytes(int64(encoded.Bytes())), megabytes(proposalBytes))
	}
	r := &request{user: p.Asker.Name, encoded: encoded, left: left, done: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return nil, ErrNotLeader
	}
	if len(b.queue) >= maxWaiting || b.bytes+encoded.Bytes() > waitingBytes {
		return nil, fmt.Errorf("%w: %w", ErrBusy, pbs.Refuse(pbs.ResourceBusy))
	}
	if r.user != "" && b.users[r.user]+encoded.Bytes() > userWaitingBytes {
		return nil, fmt.Errorf("%w: %w", ErrBusy, pbs.Errorf(pbs.ResourceBusy,
			"%s of requests of %s wait to be committed, which is the most for one user: try again in a while", megabytes(userWaitingBytes), r.user))
	}
	b.queue = append(b.queue, r)
	b.count(r, +1)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return r, nil
}

// next waits for proposals and takes as many as fit into one entry; nil when ctx
// ends.
func (b *batcher) next(ctx context.Context) []*request {
	for {
		if group := b.take(); len(group) > 0 {
			return group
		}
		select {
		case <-ctx.Done():
			return nil
		case <-b.wake:
		}
	}
}

func (b *batcher) take() []*request {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := fitting(b.queue)
	group := b.queue[:n:n]
	b.queue = b.queue[n:]
	for _, r := range group {
		b.count(r, -1)
	}
	return group
}

// count adds what a request has to what waits, or takes it away.
func (b *batcher) count(r *request, by int) {
	b.bytes += by * r.encoded.Bytes()
	if r.user == "" {
		return
	}
	if b.users[r.user] += by * r.encoded.Bytes(); b.users[r.user] == 0 {
		delete(b.users, r.user)
	}
}

// fitting returns how many requests from the front go into one entry: at least
// one, if there is one.
func fitting(queue []*request) int {
	commands, bytes := 0, 0
	for i, r := range queue {
		commands += r.encoded.Commands()
		bytes += r.encoded.Bytes()
		if i > 0 && (commands > command.MaxCommands || bytes > entryBytes) {
			return i
		}
	}
	return len(queue)
}

// run sends what waits until ctx ends; then it answers what was not sent, and
// waits for what was.
func (b *batcher) run(ctx context.Context) {
	slots := make(chan struct{}, entriesInFlight)
	var inFlight sync.WaitGroup
	defer inFlight.Wait()
	defer b.refuse()
	for {
		select {
		case <-ctx.Done():
			return
		case slots <- struct{}{}:
		}
		group := b.next(ctx)
		if group == nil {
			return
		}
		sent := b.send(group) // here, not in the goroutine: the order of entries is the order of proposals
		inFlight.Go(func() {
			b.deliver(group, sent)
			<-slots
		})
	}
}

func (b *batcher) send(group []*request) raft.ApplyFuture {
	proposals := make([]command.Encoded, len(group))
	for i, r := range group {
		proposals[i] = r.encoded
	}
	data, err := command.EncodeEntry(b.now(), proposals)
	if err != nil {
		return failedApply{err}
	}
	return b.apply(data)
}

// deliver waits for the entry and gives each request its outcome.
func (b *batcher) deliver(group []*request, sent raft.ApplyFuture) {
	outcomes, err := result(sent)
	if err == nil && len(outcomes) != len(group) {
		err = fmt.Errorf("%w: %d outcomes of %d proposals", ErrOutcomeUnknown, len(outcomes), len(group))
	}
	for i, r := range group {
		if err != nil {
			r.answer(command.Outcome{}, err)
			continue
		}
		r.answer(outcomes[i], nil)
	}
}

func (r *request) answer(o command.Outcome, err error) {
	r.outcome, r.err = o, err
	r.left(err)
	close(r.done)
}

// entryClock returns the time of entries: that of the clock, never running backwards.
func entryClock(clock func() time.Time) func() pbs.Time {
	var mu sync.Mutex
	var last pbs.Time
	return func() pbs.Time {
		now := pbs.Time(clock().UnixNano())
		mu.Lock()
		defer mu.Unlock()
		last = max(last, now)
		return last
	}
}
