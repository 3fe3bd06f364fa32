package transport

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// Hosts that are no more leave nothing behind, those that are called keep their connections.
func TestPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pools
		made := 0
		get := func(end string) *http.Client {
			return p.Client(end, func() *http.Transport {
				made++
				return new(http.Transport)
			})
		}
		kept := get("busy")
		get("gone")
		for range 8 {
			time.Sleep(poolLook)
			if get("busy") != kept {
				t.Fatal("a client that is in use was replaced")
			}
		}
		if len(p.byEnd) != 1 || made != 2 {
			t.Errorf("%d pools are left of %d", len(p.byEnd), made)
		}
		if get("gone"); made != 3 {
			t.Errorf("%d pools were made", made)
		}
		p.Close()
	})
}
