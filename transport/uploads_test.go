package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/api/apiconnect"
)

func upload(size int64, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, apiconnect.BatchSubmitProcedure, io.LimitReader(zeros{}, size))
	r.ContentLength = size
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func person(name string) Caller { return Caller{User: pbs.User{Name: name, Host: "h"}} }

// One user's large requests are taken as many at a time as there is room for; the others wait for
// a while, and then are refused with the reason. Neither small ones nor other users wait.
func TestUploads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		large := int64(userBodies/2 + 1)
		release, err := u.admit(upload(large), person("ann"), nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := u.admit(upload(large), person("ann"), nil); !errors.Is(err, errCrowded) || pbs.CodeOf(err) != pbs.ResourceBusy || time.Since(began) != bodyPatience {
			t.Errorf("a second one, after %s: %v", time.Since(began), err)
		}
		for who, size := range map[string]int64{"ann": smallBody, "bob": large} {
			began := time.Now()
			done, err := u.admit(upload(size), person(who), nil)
			if err != nil || time.Since(began) > 0 {
				t.Fatalf("%d bytes of %s, after %s: %v", size, who, time.Since(began), err)
			}
			done()
		}
		turn := make(chan error)
		go func() {
			done, err := u.admit(upload(maxBody), person("ann"), nil)
			turn <- err
			done()
		}()
		time.Sleep(bodyPatience / 2)
		release()
		release()
		if err := <-turn; err != nil {
			t.Errorf("when it is its turn: %v", err)
		}
		synctest.Wait()
		if u.all != 0 || len(u.users) != 0 {
			t.Errorf("%d bytes of %v are left", u.all, u.users)
		}
	})
}

// A request that does not say how long it is counts when it is long, and a compressed one as soon
// as it is read.
func TestUploads_OfNoKnownSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		hold, err := u.admit(upload(userBodies), person("ann"), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name    string
			r       *http.Request
			size    int
			refused bool
		}{
			{"short", chunked(upload(1000)), 1000, false},
			{"long", chunked(upload(smallBody + 1)), smallBody, true},
			{"compressed", upload(1000, "Content-Encoding", "gzip"), 0, true},
		} {
			done, err := u.admit(c.r, person("ann"), nil)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			_, err = io.Copy(&b, c.r.Body)
			if (err != nil) != c.refused || b.Len() != c.size {
				t.Errorf("%s: %d bytes, %v", c.name, b.Len(), err)
			}
			done()
		}
		hold()
		if u.all != 0 {
			t.Errorf("%d bytes are left", u.all)
		}
	})
}

func chunked(r *http.Request) *http.Request {
	r.ContentLength = -1
	return r
}
