package memnet

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Packets and streams, and deadlines, of the same moment come one after the other in an orderly net: first what was first.
func TestOrderly_OneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(1)
		n.Host("b")
		n.Delay("a", "b", time.Millisecond)
		n.Orderly()
		from, err := n.Host("a").ListenPacket(t.Context(), ":0")
		if err != nil {
			t.Fatal(err)
		}
		var to []net.PacketConn
		for i := range 9 {
			p, err := n.Host("b").ListenPacket(t.Context(), fmt.Sprintf(":%d", 100+i))
			if err != nil {
				t.Fatal(err)
			}
			to = append(to, p)
		}
		begun := time.Now()
		came := make(chan int, 2*len(to))
		var reading sync.WaitGroup
		for i, p := range to {
			reading.Go(func() {
				_, _, _ = p.ReadFrom(make([]byte, 9))
				came <- i
				_ = p.SetReadDeadline(begun.Add(time.Second))
				_, _, _ = p.ReadFrom(make([]byte, 9))
				came <- i
			})
		}
		for _, p := range to {
			if _, err := from.WriteTo([]byte("x"), p.LocalAddr()); err != nil {
				t.Fatal(err)
			}
		}
		reading.Wait()
		close(came)
		var got []int
		for i := range came {
			got = append(got, i)
		}
		if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
