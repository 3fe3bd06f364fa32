package admin

import (
	"context"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// undertaker answers ForgetHost; nothing else is called.
type undertaker struct {
	apiconnect.ClusterClient
	refusal error
	asked   []string
}

func (u *undertaker) ForgetHost(_ context.Context, r *connect.Request[api.ForgetHostRequest]) (*connect.Response[api.ForgetHostReply], error) {
	u.asked = append(u.asked, r.Msg.GetHost())
	return connect.NewResponse(&api.ForgetHostReply{Requeued: 2, Ended: 1}), u.refusal
}

func TestForgetHost_TellsWhatBecameOfItsJobs(t *testing.T) {
	for _, c := range []struct {
		name    string
		args    string
		refusal error
		out     string
		err     string
	}{
		{"one host", "host forget hosta", nil, "hosta is taken for dead: 2 jobs queued again, 1 ended\n", ""},
		{"refused", "host forget hosta", pbs.Refuse(pbs.Unauthorized), "", "host forget: " + pbs.Unauthorized.Text()},
		{"no host", "host forget", nil, "", "host forget: name one host"},
		{"two hosts", "host forget hosta hostb", nil, "", `host forget: "hostb" is one word too many`},
	} {
		var out strings.Builder
		u := &undertaker{refusal: c.refusal}
		env := &Env{
			Stdout: &out, Cluster: func(string) (apiconnect.ClusterClient, error) { return u, nil },
			WithRequestID: func(ctx context.Context) context.Context { return ctx },
		}
		app := &cli.App{Writer: &out, Commands: Commands(env), ExitErrHandler: func(*cli.Context, error) {}}
		text := ""
		if err := app.RunContext(t.Context(), strings.Fields("rampart "+c.args)); err != nil {
			text = err.Error()
		}
		if text != c.err || out.String() != c.out {
			t.Errorf("%s: %q, %q; want %q, %q", c.name, out.String(), text, c.out, c.err)
		}
		if asked := strings.Join(u.asked, " "); (asked == "hosta") != (c.err == "" || c.refusal != nil) {
			t.Errorf("%s: asked about %q", c.name, asked)
		}
	}
}
