package bare

import (
	"context"
	"errors"
	"sync"

	"github.com/hashicorp/raft"
)

// The group commit of design section 4, without twins, limits and refusals.
const (
	maxGroup = 256
	inFlight = 2
)

type submission struct {
	body   []byte
	number uint64
	err    error
	done   chan struct{}
}

// group gathers what waits into entries.
type group struct {
	apply   func(data []byte) raft.ApplyFuture
	waiting chan *submission
}

func newGroup(apply func([]byte) raft.ApplyFuture) *group {
	return &group{apply: apply, waiting: make(chan *submission, maxGroup)}
}

// submit returns the number of the submission when it is committed.
func (g *group) submit(ctx context.Context, body []byte) (uint64, error) {
	s := &submission{body: body, done: make(chan struct{})}
	select {
	case g.waiting <- s:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case <-s.done:
		return s.number, s.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// run sends groups until ctx ends.
func (g *group) run(ctx context.Context) {
	slots := make(chan struct{}, inFlight)
	var sent sync.WaitGroup
	defer sent.Wait()
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		all := g.next(ctx)
		if all == nil {
			return
		}
		future := g.apply(entry(all))
		sent.Go(func() {
			deliver(all, future)
			<-slots
		})
	}
}

func (g *group) next(ctx context.Context) []*submission {
	var all []*submission
	select {
	case s := <-g.waiting:
		all = append(all, s)
	case <-ctx.Done():
		return nil
	}
	for len(all) < maxGroup {
		select {
		case s := <-g.waiting:
			all = append(all, s)
		default:
			return all
		}
	}
	return all
}

func deliver(all []*submission, future raft.ApplyFuture) {
	err := future.Error()
	first, ok := future.Response().(uint64)
	if err == nil && !ok {
		err = errors.New("the state machine gave no number")
	}
	for i, s := range all {
		s.number, s.err = first+uint64(i), err
		close(s.done)
	}
}
