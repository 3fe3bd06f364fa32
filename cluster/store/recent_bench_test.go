package store

import (
	"runtime"
	"testing"

	"github.com/hashicorp/raft"
)

// nowhere is a log that takes all and has nothing.
type nowhere struct{ raft.LogStore }

func (nowhere) StoreLogs([]*raft.Log) error { return nil }

func (nowhere) GetLog(uint64, *raft.Log) error { return raft.ErrLogNotFound }

// BenchmarkRecent compares what keeps the latest entries in memory with Raft's own: an entry is
// written, and read by the state machine and two followers. Held is what 512 entries of 1 MiB leave
// on the heap.
func BenchmarkRecent(b *testing.B) {
	for _, c := range []struct {
		name string
		of   func() raft.LogStore
	}{
		{"recent", func() raft.LogStore { return newRecent(nowhere{}) }},
		{"raft.LogCache", func() raft.LogStore {
			l, err := raft.NewLogCache(recentEntries, nowhere{})
			if err != nil {
				b.Fatal(err)
			}
			return l
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			log := c.of()
			data := make([]byte, 1<<10)
			b.ReportAllocs()
			index := uint64(0)
			for b.Loop() {
				index++
				if err := log.StoreLogs([]*raft.Log{{Index: index, Data: data}}); err != nil {
					b.Fatal(err)
				}
				var l raft.Log
				for range 3 {
					if err := log.GetLog(index, &l); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(c.name+", held", func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				log := c.of()
				for i := range uint64(recentEntries) {
					_ = log.StoreLogs([]*raft.Log{{Index: i + 1, Data: make([]byte, 1<<20)}})
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(log)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		})
	}
}
