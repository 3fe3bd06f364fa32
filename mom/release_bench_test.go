package mom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/task"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/memnet"
)

// crowd is moms on a network in memory, of which the first is the mother superior.
type crowd struct {
	b       *testing.B
	net     *memnet.Net
	servers *servers
	moms    []*Mom
	hosts   []*api.RunHost
	order   uint64
	pools   transport.Pools // as client.Moms keeps them
}

// SisterOf implements Sisters.
func (c *crowd) SisterOf(host, address string) apiconnect.SisterClient {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return c.net.Host("host0").Dial(ctx, address)
	}
	return apiconnect.NewSisterClient(c.pools.Client(address, func() *http.Transport {
		return &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 1}
	}), "http://"+host, transport.Uncompressed())
}

func (c *crowd) add(n int) {
	c.b.Helper()
	name := fmt.Sprintf("host%d", n)
	host := c.net.Host(name)
	ln, err := host.Listen(c.b.Context(), net.JoinHostPort(host.IP().String(), "15002"))
	if err != nil {
		c.b.Fatal(err)
	}
	_, report := apiconnect.NewReportHandler(c.servers)
	m, err := New(Config{
		Host: pbs.HostName(name), Home: c.b.TempDir(), Address: ln.Addr().String(), Adopt: true, Sisters: c,
		Reporter: apiconnect.NewReportClient(&http.Client{Transport: direct{report}}, "http://servers", transport.Uncompressed()),
		System:   proc.NewFake(nil), Accounts: names{c.b.TempDir()}, Logger: slog.New(slog.DiscardHandler), NoSync: true, Local: time.UTC,
	})
	if err != nil {
		c.b.Fatal(err)
	}
	c.moms, c.hosts = append(c.moms, m), append(c.hosts, &api.RunHost{Name: name, Address: ln.Addr().String()})
	_, handler := m.SisterHandler(connect.WithInterceptors(transport.ServerErrors(transport.Failures{}, slog.New(slog.DiscardHandler))))
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(transport.WithCaller(r.Context(), transport.Caller{Role: transport.RoleMom, Host: "host0"})))
	})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- m.Run(ctx) }()
	go func() { _ = server.Serve(ln); done <- nil }()
	c.b.Cleanup(func() {
		cancel()
		if err := errors.Join(server.Close(), <-done, <-done); err != nil {
			c.b.Error(err)
		}
	})
	c.until("the mom knows its servers", func() bool { l := m.running(); return l != nil && l.known() })
}

func (c *crowd) until(what string, ok func() bool) {
	c.b.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.b.Fatalf("not within a minute: %s", what)
		}
	}
}

func (c *crowd) deliver(o *api.Order) {
	c.b.Helper()
	c.order++
	o.Id, o.Job, o.RunCount = c.order, released, 1
	r, err := c.moms[0].Deliver(context.Background(), connect.NewRequest(&api.DeliverRequest{Epoch: c.servers.epoch, Term: 1, Orders: []*api.Order{o}}))
	if err != nil || r.Msg.GetAnswers()[0].GetRefusal() != nil {
		c.b.Fatal(r, err)
	}
}

// confirmed counts the hosts that have told the servers that their part is over.
func (c *crowd) confirmed() int {
	c.servers.mu.Lock()
	defer c.servers.mu.Unlock()
	n := 0
	for _, f := range c.servers.facts {
		if f.GetEnded() != nil {
			n++
		}
	}
	return n
}

// A job gives 999 of its 1,000 hosts back: answered is the time to the mother superior's answers, each
// host's mom has saved, ended its part, and told the servers at the end of an operation.
func BenchmarkRelease_1000Hosts(b *testing.B) {
	const hosts = 1000
	c := &crowd{b: b, net: memnet.New(1), servers: &servers{epoch: 7, scripts: map[string]string{}, acked: map[string]uint64{}, refusals: map[string]bool{}}}
	c.servers.owner = &api.RunOwner{Mother: "host0", User: "ann"}
	for n := range hosts {
		c.add(n)
	}
	all := make([]string, hosts)
	for n := range all {
		all[n] = fmt.Sprintf("host%d", n)
	}
	p := &party{t: b}
	w := &world{t: nil, servers: c.servers, user: b.TempDir()}
	o := w.run(released, "sleep 1000", append(p.assignment(all...), &api.Attribute{Name: "euser", Value: "ann"})...)
	o.GetRun().Hosts = c.hosts
	c.deliver(o)
	nodes := filepath.Join(c.moms[0].config.Home, "aux", released)
	c.until("the job has started", func() bool { _, err := os.Stat(nodes); return err == nil && len(c.servers.told(released)) > 0 })
	b.ResetTimer()
	began, used := time.Now(), cpuTime()
	for step := api.ReleaseStep_RELEASE_STEP_ASKED; step <= api.ReleaseStep_RELEASE_STEP_DONE; step++ {
		c.deliver(&api.Order{What: &api.Order_Release{Release: &api.ReleaseNodes{
			Number: uint64(step), Step: step, Attributes: p.assignment("host0"), Hosts: c.hosts[:1],
		}}})
		if step == api.ReleaseStep_RELEASE_STEP_ASKED {
			b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms/answered")
		}
	}
	c.until("all have left", func() bool { return c.confirmed() == hosts-1 })
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/left")
	b.ReportMetric(float64((cpuTime() - used).Milliseconds()), "cpu-ms/left") // of one core, whoever else uses the machine
	c.until("the mother superior has heard it", func() bool { return len(c.moms[0].running().all()[0].Task().Assignment.In(task.MemberLeft)) == hosts-1 })
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/reported")
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
