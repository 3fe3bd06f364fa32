package mom

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"rampart/transport/api"
)

// A sister that takes the call and never answers fails the checkpoint after 15 seconds: nothing of it is left at
// the mother superior, the job runs on everywhere, and a later one counts.
func TestJointCheckpoint_SilentSister(t *testing.T) {
	together(t, func(t *testing.T, p *party) {
		p.site(restartBySleep)
		p.goMad(func(to string, r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if to == "hostc" && strings.HasSuffix(r.URL.Path, "/Checkpoint") {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return next.RoundTrip(r)
		})
		p.hold()
		sleep(14 * time.Second)
		p.held(0, false)
		sleep(1500 * time.Millisecond)
		p.held(1, false)
		if got := p.parts("hosta"); got != "" {
			t.Errorf("the mother superior keeps %q", got)
		}
		p.goMad(nil)
		p.hold()
		sleep(time.Second)
		p.held(1, true)
		if got := p.parts("hostb"); got != "/00020002" {
			t.Errorf("hostb keeps %q", got)
		}
	})
}

// Checkpoints by cpu time are due by what all hosts have used together: three programs that use a core each
// need 200 seconds for ten minutes of it, and the mother superior's own 600.
func TestJointCheckpoint_ByCPUTime(t *testing.T) {
	together(t, func(t *testing.T, p *party) {
		p.site(restartBySleep)
		a := p.moms["hosta"]
		begun := time.Now()
		for _, c := range []struct {
			at   time.Duration // measurements and polls are a minute apart
			want int
		}{{190 * time.Second, 0}, {280 * time.Second, 1}, {390 * time.Second, 1}, {590 * time.Second, 2}} {
			sleep(c.at - time.Since(begun))
			if got := a.servers.snapped(); got != c.want {
				t.Errorf("%d checkpoints after %s, want %d", got, c.at, c.want)
			}
		}
		for n := range 3 {
			p.programs(hostOf(n), 1)
		}
	}, &api.Attribute{Name: "Checkpoint", Value: "c=10"}, &api.Attribute{Name: "periodic_checkpoints", Value: "True"})
}
