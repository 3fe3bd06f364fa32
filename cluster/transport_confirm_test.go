package cluster

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

func TestConfirmer_CountsOnlyWhatWasSentSince(t *testing.T) {
	servers := []raft.Server{{ID: "b"}, {ID: "c"}}
	c := newConfirmer(nil)
	sentBefore := c.now
	mark := c.mark()
	steps := []struct {
		name string
		id   raft.ServerID
		ack  ack
		want int
	}{
		{"an answer to what was sent before", "b", ack{term: 3, sent: sentBefore}, 0},
		{"an answer of an older term", "b", ack{term: 2, sent: mark}, 0},
		{"an answer of a server that has no vote", "x", ack{term: 3, sent: mark}, 0},
		{"an answer to what was sent since", "b", ack{term: 3, sent: mark}, 1},
		{"an older answer that comes late", "b", ack{term: 3, sent: sentBefore}, 1},
		{"another voter", "c", ack{term: 3, sent: mark + 1}, 2},
	}
	for _, s := range steps {
		c.note(s.id, s.ack)
		if n, _ := c.count(servers, 3, mark); n != s.want {
			t.Errorf("%s: %d, want %d", s.name, n, s.want)
		}
	}
}

func TestConfirmer_WaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfirmer(nil)
		mark := c.mark()
		if err := c.wait(t.Context(), nil, 0, 1, mark); err != nil {
			t.Errorf("alone: %v", err)
		}
		go func() {
			<-time.After(time.Second)
			c.note("b", ack{term: 1, sent: mark})
		}()
		servers := []raft.Server{{ID: "b"}}
		if err := c.wait(t.Context(), servers, 1, 1, mark); err != nil {
			t.Errorf("with one more: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.wait(ctx, servers, 1, 2, mark); err == nil {
			t.Error("a term that nobody acknowledges was confirmed")
		}
	})
}
