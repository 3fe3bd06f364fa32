package lsf

import (
	"context"
	"errors"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/fsm/lsf/conf"
	"rampart/fsm/rusage"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// configured answers what badmin and bresources ask.
type configured struct {
	apiconnect.BatchClient
	reply   *api.ConfigureReply
	config  lsf.Config
	changed int
}

func (c *configured) Configure(_ context.Context, r *connect.Request[api.ConfigureRequest]) (*connect.Response[api.ConfigureReply], error) {
	if !r.Msg.GetCheck() && !c.reply.GetFatal() {
		c.changed++
	}
	return connect.NewResponse(c.reply), nil
}

func (c *configured) Configuration(context.Context, *connect.Request[api.ConfigurationRequest]) (*connect.Response[api.ConfigurationReply], error) {
	out := &api.ConfigurationReply{}
	for _, f := range conf.Dump(conf.Configuration{Config: c.config}) {
		out.Files = append(out.Files, &api.ConfigurationFile{Name: f.Name, Text: []byte(f.Text)})
	}
	return connect.NewResponse(out), nil
}

func configuring(out *strings.Builder, c *configured, input string, terminal bool) *session {
	s := testSession(out)
	s.command, s.batch = badmin(), c
	s.env.Stdin = strings.NewReader(input)
	s.env.Terminal = func() bool { return terminal }
	s.env.WithRequestID = func(ctx context.Context, _ string) context.Context { return ctx }
	return s
}

// What badmin reconfig prints and does (specification: reservation section 8.7).
func TestReconfigure(t *testing.T) {
	const head = "\nChecking configuration files ...\n\n"
	warning := &api.ConfigureReply{Messages: []string{"a warning"}}
	fatal := &api.ConfigureReply{Messages: []string{"an error"}, Fatal: true}
	const details, really = "Do you want to see detailed messages? [y/n] ", "Do you want to reconfigure? [y/n] "
	for _, c := range []struct {
		name     string
		reply    *api.ConfigureReply
		args     string
		input    string
		terminal bool
		want     string
		failed   bool
		changed  int
	}{
		{"well", &api.ConfigureReply{}, "", "", true, "No errors found.\n\nReconfiguration initiated\n", false, 1},
		{"RSV-55", warning, "-v", "", true, "a warning\n\nThere are warning errors.\n\nReconfiguration initiated\n", false, 1},
		{"no terminal", warning, "", "", false, "a warning\n\nThere are warning errors.\n\nReconfiguration initiated\n", false, 1},
		{"-f", warning, "-f", "", true, "There are warning errors.\n\nReconfiguration initiated\n", false, 1},
		{"asked", warning, "", "y\nmaybe\ny\n", true, "There are warning errors.\n\n" + details + "a warning\n\n" + really + really + "Reconfiguration initiated\n", false, 1},
		{"no", warning, "", "n\nn\n", true, "There are warning errors.\n\n" + details + really + "Reconfiguration aborted.\n", true, 0},
		{"no answer", warning, "", "", true, "There are warning errors.\n\n" + details + really + "Reconfiguration aborted.\n", true, 0},
		{"RSV-56", fatal, "-v", "", true, "an error\n\nThere are fatal errors.\n\nReconfiguration aborted.\n", true, 0},
	} {
		var out strings.Builder
		fake := &configured{reply: c.reply}
		s := configuring(&out, fake, c.input, c.terminal)
		err := s.reconfigure(t.Context(), false, cli.OptionsOf(s.command.Grammar.Parse(strings.Fields(c.args))))
		var status cli.Status
		if out.String() != head+c.want || errors.As(err, &status) != c.failed || fake.changed != c.changed {
			t.Errorf("%s: %v, changed %d times:\n%s", c.name, err, fake.changed, out.String())
		}
	}
	var out strings.Builder
	fake := &configured{reply: warning}
	s := configuring(&out, fake, "", false)
	if err := s.reconfigure(t.Context(), true, cli.OptionsOf(s.command.Grammar.Parse(nil))); err != nil || fake.changed > 0 || strings.Contains(out.String(), "Reconf") {
		t.Errorf("ckconfig: %v, %s", err, out.String())
	}
}

// RSV-24: the rows of ReservationUsage.
func TestReservationUsage(t *testing.T) {
	c := lsf.Config{Resources: []lsf.Resource{}}
	for i, name := range []string{"licenseX", "licenseY", "licenseZ"} {
		c.Resources = append(c.Resources, lsf.Resource{Name: name, Kind: 1, Consumable: true})
		c.Usage = append(c.Usage, lsf.UsageRow{Resource: name, Method: rusage.Method(i)})
	}
	for args, want := range map[string]string{
		"":         "Begin ReservationUsage RESOURCE METHOD licenseX PER_JOB licenseY PER_HOST licenseZ PER_SLOT End ReservationUsage",
		"licenseZ": "RESOURCE METHOD licenseZ PER_SLOT",
		"nosuch":   "nosuch: No reservation usage is configured for this resource",
	} {
		var out strings.Builder
		s := configuring(&out, &configured{config: c}, "", false)
		got, err := s.configuration(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = s.reservationUsage(got, strings.Fields(args))
		if text := strings.Join(strings.Fields(out.String()), " "); err != nil || text != want || (s.status == failed) != (args == "nosuch") {
			t.Errorf("%q: %s, %v", args, text, err)
		}
	}
}

func TestThresholds(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "r15s r1m r15m ut pg io ls it tmp swp mem loadSched - - - - - - - - - - - loadStop - - - - - - - - - - -",
		"mem=100/20 r1m=3.5/ ut=": "r15s r1m r15m ut pg io ls it tmp swp mem loadSched - 3.5 - - - - - - - - 100 loadStop - - - - - - - - - - 20",
	} {
		if got := strings.Join(strings.Fields(thresholds(text)), " "); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
