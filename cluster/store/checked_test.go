package store

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// stuckStable is a disk whose writes do not come back before it is freed.
type stuckStable struct {
	*raft.InmemStore
	free chan struct{}
}

func (s stuckStable) Set(key, value []byte) error {
	<-s.free
	return s.InmemStore.Set(key, value)
}

// A write that hangs lets the next one wait so that its deadline can pass.
func TestCheckedStable_WritersWaitWithoutALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := stuckStable{raft.NewInmemStore(), make(chan struct{})}
		s, _, err := openStable(disk)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 2)
		for _, key := range []string{"a", "b"} {
			go func() { done <- s.Set([]byte(key), []byte("1")) }()
		}
		<-time.After(time.Second) // stands still while somebody waits for a mutex
		close(disk.free)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		for _, key := range []string{"a", "b"} {
			if got, err := s.Get([]byte(key)); err != nil || string(got) != "1" {
				t.Errorf("%s is %q, %v", key, got, err)
			}
		}
	})
}
