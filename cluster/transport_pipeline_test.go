package cluster

import (
	"testing"
	"testing/synctest"

	"github.com/hashicorp/raft"
)

// bare is a pipeline whose answers come when the test says so.
type bare struct {
	raft.AppendPipeline
	answers chan raft.AppendFuture
}

func (b *bare) Consumer() <-chan raft.AppendFuture { return b.answers }
func (b *bare) Close() error                       { return nil }

func TestPipeline_AnswersNeedNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &bare{answers: make(chan raft.AppendFuture)}
		p := newPipeline(inner)
		sent := 0
		go func() {
			for range 5 {
				inner.answers <- nil
				sent++
			}
		}()
		synctest.Wait()
		if sent != 5 {
			t.Errorf("%d of 5 answers were taken, and nobody reads", sent)
		}
		<-p.Consumer() // and a reader finds them
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}
