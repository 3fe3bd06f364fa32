package mom

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/memnet"
)

// wire reaches the moms of other hosts over a network in memory, by connections that are kept.
type wire struct{ *http.Transport }

// SisterOf implements Sisters.
func (w wire) SisterOf(host, address string) apiconnect.SisterClient {
	return apiconnect.NewSisterClient(&http.Client{Transport: w.Transport}, "http://"+address)
}

// startOver starts two jobs, one after the other, over a mother superior and sisters that are a
// round trip away, and returns how long each took from the order to the fact.
func startOver(t *testing.T, sisters int, roundTrip time.Duration) (took [2]time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := memnet.New(1)
		mother := network.Host("host0")
		roads := wire{&http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return mother.Dial(ctx, address)
		}}}
		var hosts []*api.RunHost
		var names []string
		var moms []*world
		for n := range sisters + 1 {
			w, name := newWorld(t), fmt.Sprintf("host%d", n)
			host := network.Host(name)
			network.Delay("host0", name, roundTrip/2)
			ln, err := host.Listen(t.Context(), net.JoinHostPort(host.IP().String(), "15002"))
			if err != nil {
				t.Fatal(err)
			}
			w.config.Host, w.config.Sisters, w.config.Address = pbs.HostName(name), roads, ln.Addr().String()
			w.servers.owner = &api.RunOwner{Mother: "host0", User: "ann"}
			w.up()
			_, handler := w.mom.SisterHandler(connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, w.config.Logger)))
			server := &http.Server{ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				caller := transport.Caller{Role: transport.RoleMom, Host: "host0"}
				handler.ServeHTTP(out, r.WithContext(transport.WithCaller(r.Context(), caller)))
			})}
			go func() { _ = server.Serve(ln) }()
			defer server.Close()
			hosts = append(hosts, &api.RunHost{Name: name, Address: ln.Addr().String()})
			names, moms = append(names, name), append(moms, w)
		}
		first, p := moms[0], &party{t: t}
		for i := range took {
			job := fmt.Sprintf("%d.srv", i+1)
			o := first.run(job, "sleep 1000", p.assignment(names...)...)
			o.GetRun().Hosts = hosts
			began := time.Now()
			if got := first.deliver(o); got[0].GetRefusal() != nil {
				t.Fatalf("refused: %v", got)
			}
			for !slices.Equal(first.servers.told(job), []string{"1 started"}) {
				if time.Since(began) > time.Minute {
					t.Fatalf("not started: %q", first.servers.told(job))
				}
				time.Sleep(time.Millisecond) // of the bubble
				synctest.Wait()
			}
			took[i] = time.Since(began)
		}
		roads.CloseIdleConnections()
		for _, w := range moms {
			w.down()
		}
	})
	return took
}

// A job over a hundred hosts starts as fast as one over two: one round trip, by connections that
// are there, and no time for each.
func TestStart_OneRoundTrip(t *testing.T) {
	const roundTrip = 100 * time.Millisecond
	one, hundred := startOver(t, 1, roundTrip), startOver(t, 100, roundTrip)
	t.Logf("one sister %v, a hundred %v, of a round trip of %v; the first has to connect", one, hundred, roundTrip)
	for i := range hundred {
		if hundred[i] > one[i]+5*time.Millisecond {
			t.Errorf("job %d: a hundred sisters take %v, one takes %v", i+1, hundred[i], one[i])
		}
	}
	if hundred[1] > roundTrip+20*time.Millisecond {
		t.Errorf("by kept connections it takes %v, want one round trip of %v and a bit", hundred[1], roundTrip)
	}
}
