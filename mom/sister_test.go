package mom

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// sisterOf is the mom as that of the host `by` reaches it.
func (w *world) sisterOf(by string) apiconnect.SisterClient {
	_, handler := w.mom.SisterHandler(connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, w.config.Logger)))
	from := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(out, r.WithContext(transport.WithCaller(r.Context(), transport.Caller{Role: transport.RoleMom, Host: pbs.HostName(by)})))
	})
	return apiconnect.NewSisterClient(&http.Client{Transport: direct{from}}, "http://mom")
}

// A mom joins a run if the servers say of it what the host says that asks: that host leads it,
// and its owner is who is named. Else a host that was broken into could run programs of anybody
// on all others.
func TestJoin_AsTheServersSay(t *testing.T) {
	for _, c := range []struct {
		name                string
		job, user, group    string
		mother, owner, team string
		joins               bool
	}{
		{"the owner's", "12.srv", "ann", "staff", "hostb", "ann", "staff", true},
		{"another user's", "12.srv", "root", "staff", "hostb", "ann", "staff", false},
		{"another group's", "12.srv", "ann", "wheel", "hostb", "ann", "staff", false},
		{"nobody's", "12.srv", "", "", "hostb", "ann", "staff", false},
		{"by another host", "12.srv", "ann", "staff", "hostc", "ann", "staff", false},
		{"out of the folder", "../../../12.srv", "ann", "staff", "hostb", "ann", "staff", false},
		{"of no job", "", "ann", "staff", "hostb", "ann", "staff", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.servers.owner = &api.RunOwner{Mother: c.mother, User: c.owner, Group: c.team}
				w.up()
				mine := w.sisterOf("hostb")
				_, err := mine.Join(context.Background(), connect.NewRequest(&api.JoinRunRequest{
					Job: c.job, RunCount: 1, Hosts: []*api.RunHost{{Name: "hostb", Address: "b:1"}, {Name: "hosta", Address: "a:1"}},
					Attributes: []*api.Attribute{{Name: "euser", Value: c.user}, {Name: "egroup", Value: c.group}},
				}))
				if (err == nil) != c.joins {
					t.Errorf("join: %v", err)
				}
				_, err = mine.Spawn(context.Background(), connect.NewRequest(&api.SpawnRequest{Job: c.job, RunCount: 1, Key: "k", Args: []string{"true"}}))
				if (err == nil) != c.joins {
					t.Errorf("spawn: %v", err)
				}
				strays, _ := filepath.Glob(filepath.Join(filepath.Dir(w.home), "*@1"))
				if above, err := os.ReadDir(w.home); err == nil {
					for _, e := range above {
						if strings.Contains(e.Name(), "@") {
							strays = append(strays, e.Name())
						}
					}
				}
				if len(strays) > 0 {
					t.Errorf("a record lies at %v", strays)
				}
			})
		})
	}
}
