package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// coming is a request whose body a sender writes; it is served, and served's outcome comes back.
func coming(t *testing.T, u *uploads, who string, size int64) (sender net.Conn, served <-chan error) {
	t.Helper()
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	r := httptest.NewRequest(http.MethodPost, apiconnect.BatchSubmitProcedure, io.LimitReader(here, size))
	r.ContentLength = size
	out := make(chan error, 1)
	go func() {
		done, err := u.admit(r, person(who), here.SetReadDeadline)
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
			done()
		}
		out <- err
	}()
	return there, out
}

// TestDelivery_SlowOnesMakeRoom: who sends nothing holds nobody's room, and who sends briskly is
// not hurried.
func TestDelivery_SlowOnesMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		_, slow := coming(t, u, "ann", maxBody)
		synctest.Wait()
		large := int64(4 << 20)
		brisk, served := coming(t, u, "bob", userBodies)
		go func() {
			for range userBodies / large {
				time.Sleep(time.Second)
				_, _ = brisk.Write(make([]byte, large))
			}
		}()
		began := time.Now()
		if done, err := u.admit(upload(maxBody), person("eve"), nil); err != nil || time.Since(began) > 0 {
			t.Fatalf("beside the greatest of another user, after %s: %v", time.Since(began), err)
		} else {
			done()
		}
		for _, who := range []string{"ann", "bob"} {
			done, err := u.admit(upload(large), person(who), nil)
			if wait := time.Since(began); (err == nil) != (who == "ann") || who == "ann" && wait > briskGrace+2*bodyLooks {
				t.Errorf("%s, after %s: %v", who, wait, err)
			}
			if err == nil {
				done()
			}
		}
		if err := <-slow; !errors.Is(err, errSlow()) {
			t.Errorf("the slow one: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("the brisk one: %v", err)
		}
		if u.all != 0 || len(u.users)+len(u.coming) != 0 {
			t.Errorf("%d bytes of %v are left", u.all, u.users)
		}
	})
}

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// cancelling is a body that cancels its request when a read fails, as that of net/http.
type cancelling struct {
	net.Conn
	cancel func()
}

func (c cancelling) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.cancel()
	}
	return n, err
}

// TestDelivery_SlowReader: who is not waited for is not slow, however long it takes that what he sends is taken.
func TestDelivery_SlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		here, there := net.Pipe()
		r := httptest.NewRequest(http.MethodPost, apiconnect.BatchSubmitProcedure, here)
		r.ContentLength = userBodies
		done, err := u.admit(r, person("ann"), here.SetReadDeadline)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		go func() {
			_, _ = there.Write(make([]byte, 4<<10))
			_ = there.Close()
		}()
		time.Sleep(bodyPatience) // whoever takes it waits for room himself
		u.hurry()
		if n, err := io.Copy(io.Discard, r.Body); n != 4<<10 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
}

// TestDelivery_SlowOnesMayTryAgain: who sent too slowly learns it as of every refusal, by its code.
func TestDelivery_SlowOnesMayTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		_, service := apiconnect.NewBatchHandler(apiconnect.UnimplementedBatchHandler{})
		asker := &http.Client{Transport: roundTrip(func(r *http.Request) *http.Response {
			here, there := net.Pipe()
			defer func() { _, _ = here.Close(), there.Close() }()
			ctx, cancel := context.WithCancel(r.Context())
			r = r.WithContext(ctx)
			r.Body = cancelling{here, cancel} // nothing comes
			done, err := u.admit(r, person("ann"), here.SetReadDeadline)
			if err != nil {
				t.Error(err)
			}
			defer done()
			answer := httptest.NewRecorder()
			service.ServeHTTP(answer, r)
			return answer.Result()
		})}
		_, err := apiconnect.NewBatchClient(asker, "http://replica").Submit(t.Context(), connect.NewRequest(&api.SubmitRequest{Script: make([]byte, maxBody/2)}))
		if err := FromWire(err); pbs.CodeOf(err) != pbs.ResourceBusy || !strings.Contains(err.Error(), "try again") {
			t.Error(err)
		}
	})
}

// TestDelivery_Ends: a large body has an end also where nobody waits for its room, and a
// connection whose body has come whole has no deadline any more.
func TestDelivery_Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUploads()
		began := time.Now()
		_, slow := coming(t, u, "ann", 32<<20)
		if err := <-slow; !errors.Is(err, errSlow()) {
			t.Error(err)
		}
		if took, most := time.Since(began), bodyGrace+32<<20/slowestBody*time.Second; took > most || took < bodyGrace {
			t.Errorf("after %s, not %s", took, most)
		}
		var at time.Time
		r := upload(32 << 20)
		done, err := u.admit(r, person("ann"), func(d time.Time) error {
			at = d
			return nil
		})
		if err != nil || at.IsZero() {
			t.Fatal(at, err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil || !at.IsZero() {
			t.Errorf("deadline %s, %v", at, err)
		}
		done()
	})
}
