package mom

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"rampart/transport/api"
	"rampart/transport/build"
)

// madness is what becomes of calls of a mom.
type madness func(req *http.Request, mom http.RoundTripper) (*http.Response, error)

func rubbish(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {req.Header.Get("Content-Type")}},
		Body:   io.NopCloser(strings.NewReader("\xff\xfe what is this")),
	}
}

// A sister that answers rubbish, late, or does everything twice harms nobody but itself: the other
// hosts go on, the run ends once, and nothing of it stays anywhere.
func TestSister_MadOnesAreContained(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	for _, c := range []struct {
		name  string
		mad   madness
		other []string // what the servers hear of a run that it is to join
	}{
		{"rubbish", func(req *http.Request, _ http.RoundTripper) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, req.Body)
			return rubbish(req), nil
		}, []string{"1 never -30"}},
		{"rubbish after it has done it", func(req *http.Request, mom http.RoundTripper) (*http.Response, error) {
			if _, err := mom.RoundTrip(req); err != nil {
				return nil, err
			}
			return rubbish(req), nil
		}, []string{"1 never -30"}},
		{"late", func(req *http.Request, mom http.RoundTripper) (*http.Response, error) {
			resp, err := mom.RoundTrip(req)
			select {
			case <-time.After(20 * time.Second):
			case <-req.Context().Done():
			}
			return resp, err
		}, []string{"1 started", "1 ended 265"}},
		{"twice", func(req *http.Request, mom http.RoundTripper) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			again := req.Clone(req.Context())
			req.Body, again.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
			if _, err := mom.RoundTrip(req); err != nil {
				return nil, err
			}
			return mom.RoundTrip(again)
		}, []string{"1 started", "1 ended 265"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			together(t, func(t *testing.T, p *party) {
				a := p.moms[hostOf(0)]
				p.goMad(func(host string, req *http.Request, mom http.RoundTripper) (*http.Response, error) {
					if host == hostOf(1) {
						return c.mad(req, mom)
					}
					return mom.RoundTrip(req)
				})
				sleep(time.Minute)
				p.programs(hostOf(0), 1)
				p.programs(hostOf(2), 1)
				kill := a.next(released, 1)
				kill.What = &api.Order_Kill{Kill: &api.KillJob{}}
				a.deliver(kill)
				sleep(10 * time.Minute)
				p.programs(hostOf(0), 0)
				p.programs(hostOf(2), 0)
				const other = "2.srv"
				o := a.run(other, "sleep 1000", p.assignment(hostOf(0), hostOf(1), hostOf(2))...)
				for n := range 3 {
					o.GetRun().Hosts = append(o.GetRun().Hosts, &api.RunHost{Name: hostOf(n), Address: hostOf(n) + ":15002"})
				}
				a.deliver(o)
				sleep(5 * time.Minute)
				kill = a.next(other, 1)
				kill.What = &api.Order_Kill{Kill: &api.KillJob{}}
				a.deliver(kill)
				sleep(10 * time.Minute)
				p.goMad(nil)
				sleep(10 * time.Minute)
				for n := range 3 {
					p.programs(hostOf(n), 0)
				}
				for job, want := range map[string][]string{released: {"1 started", "1 ended 265"}, other: c.other} {
					if got := a.servers.told(job); !slices.Equal(got, want) {
						t.Errorf("told %q of %s, want %q", got, job, want)
					}
				}
			})
		})
	}
}

// goMad has calls between moms go another way, nil: as they should.
func (p *party) goMad(how func(string, *http.Request, http.RoundTripper) (*http.Response, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mad = how
}
