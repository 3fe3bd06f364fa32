package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"math"
	"net/http/httptest"
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// csr returns a certificate request for a fresh key.
func csr(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func (b *bench) token(r *api.CreateTokenRequest) string {
	b.t.Helper()
	reply, err := b.Cluster.CreateToken(b.as("root@replica:s1"), request(r, ""))
	if err != nil {
		b.t.Fatal(err)
	}
	return reply.Msg.GetToken()
}

func TestJoin(t *testing.T) {
	b := newBench(t)
	join := func(token, host string, req []byte) (*api.JoinReply, error) {
		r, err := b.Cluster.Join(t.Context(), request(&api.JoinRequest{Token: token, Host: host, Csr: req}, ""))
		if err != nil {
			return nil, err
		}
		return r.Msg, nil
	}
	mine := csr(t)
	token := b.token(&api.CreateTokenRequest{Role: "mom", Host: "hosta"})
	if _, err := join(token, "hostb", mine); pbs.CodeOf(err) != pbs.BadToken {
		t.Errorf("another host: %v", err)
	}
	for range 2 { // the answer may have been lost
		got, err := join(token, "hosta", mine)
		if err != nil {
			t.Fatal(err)
		}
		if got.GetCluster() != "c1" || len(got.GetCertificate()) == 0 || len(got.GetCaKey()) != 0 || len(got.GetGossipKey()) == 0 || len(got.GetReplicas()) != 1 {
			t.Errorf("joined with %v", got)
		}
	}
	if _, err := join(token, "hosta", csr(t)); pbs.CodeOf(err) != pbs.BadToken {
		t.Errorf("a used token with another key: %v", err)
	}
	if got, err := join(b.token(&api.CreateTokenRequest{Role: "replica"}), "s2", csr(t)); err != nil || len(got.GetCaKey()) == 0 {
		t.Errorf("a replica gets the CA's key: %v", err)
	}
	again := b.token(&api.CreateTokenRequest{Role: "submit", Reusable: true})
	for _, host := range []string{"login1", "login2"} {
		if got, err := join(again, host, csr(t)); err != nil || len(got.GetGossipKey()) != 0 {
			t.Errorf("reusable token: %v", err)
		}
	}
	before := b.index
	if _, err := join(transport.NewToken(b.Cluster.CA, transport.RoleMom).String(), "hosta", mine); pbs.CodeOf(err) != pbs.BadToken || b.index != before {
		t.Errorf("a token that is not on record: %v, %d entries", err, b.index-before)
	}
	if _, err := join("nonsense", "hosta", mine); pbs.CodeOf(err) != pbs.BadToken {
		t.Errorf("nonsense: %v", err)
	}
	if _, err := join(token, "hosta", []byte("nonsense")); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("no request: %v", err)
	}
}

func TestRenew(t *testing.T) {
	b := newBench(t)
	mine := csr(t)
	key, err := transport.CSRKeyHash(mine)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Cluster.Join(t.Context(), request(&api.JoinRequest{Token: b.token(&api.CreateTokenRequest{Role: "mom"}), Host: "hosta", Csr: mine}, "")); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		caller transport.Caller
		csr    []byte
		want   pbs.Code
	}{
		{"expired, its own key", transport.Caller{Role: transport.RoleMom, Host: "hosta", Key: key, Expired: true}, mine, 0},
		{"another key", transport.Caller{Role: transport.RoleMom, Host: "hosta", Key: key}, csr(t), pbs.Unauthorized},
		{"another role", transport.Caller{Role: transport.RoleReplica, Host: "hosta", Key: key}, mine, pbs.Unauthorized},
		{"not on record", transport.Caller{Role: transport.RoleMom, Host: "hostb", Key: "x"}, mine, pbs.Unauthorized},
	}
	for _, c := range cases {
		_, err := b.Cluster.Renew(transport.WithCaller(t.Context(), c.caller), request(&api.RenewRequest{Csr: c.csr}, ""))
		if pbs.CodeOf(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestReport_Life(t *testing.T) {
	b := newBench(t)
	ctx := b.asMom("hosta")
	register := func() *api.RegisterReply {
		t.Helper()
		r, err := b.Report.Register(ctx, request(&api.RegisterRequest{
			Host: "hosta", Address: "hosta:15002", BootId: "b1", SpoolId: "sp", Pcpus: 4,
			Vnodes: []*api.VnodeReport{{Name: "hosta", Attributes: []*api.Attribute{
				set("resources_available.ncpus", "4"), set("resources_available.nosuch", "1"),
				set("resources_measured.mem", "much"), set("resources_measured.ngpus", "2"), set("resources_measured.ncpus", "9"), set("resources_measured.nosuch", "1"),
			}}},
		}, ""))
		if err != nil {
			t.Fatal(err)
		}
		return r.Msg
	}
	lease := func() *api.LeaseReply {
		t.Helper()
		r, err := b.Report.Lease(ctx, request(&api.LeaseRequest{Host: "hosta", BootId: "b1", SpoolId: "sp"}, ""))
		if err != nil {
			t.Fatal(err)
		}
		return r.Msg
	}
	if _, err := b.Report.Lease(ctx, request(&api.LeaseRequest{Host: "hosta"}, "")); pbs.CodeOf(err) != pbs.UnknownNode || len(b.heard) != 0 {
		t.Errorf("lease before it registers: %v", err)
	}
	if r := register(); r.GetEpoch() != 7 || r.GetAckedSeq() != 0 {
		t.Errorf("registered with %v", r)
	}
	if vn, _ := b.store.View().Vnode("hosta"); fmt.Sprint(vn.Available()) != "[{ncpus 4} {ngpus 2}]" {
		t.Errorf("it offers %s", vn.Available())
	}
	if l := lease(); l.GetRegister() || l.GetEpoch() != 7 || l.GetTerm() != 1 || l.GetFenceSeconds() != 310 || len(b.heard) != 2 {
		t.Errorf("lease: %v, heard %v", l, b.heard)
	}
	b.do(&command.HostDown{Host: "hosta"})
	if l := lease(); !l.GetRegister() {
		t.Errorf("lease of a host that is down: %v", l)
	}
	register()
	b.do(&command.ManageVnode{Verb: command.VerbDelete, Vnode: "hosta"})
	b.do(&command.ManageVnode{Verb: command.VerbCreate, Vnode: "hosta"})
	if l := lease(); !l.GetRegister() {
		t.Errorf("lease of a host whose vnode was made anew: %v", l)
	}
	register()
	if l := lease(); l.GetRegister() {
		t.Errorf("lease after it told of the vnode: %v", l)
	}
	id := b.mustSubmit("ann@h")
	b.do(&command.StartJob{Job: pbs.JobID(id), ExecVnode: "(hosta:ncpus=1)"})

	facts := &api.FactsRequest{Host: "hosta", SpoolId: "sp", Facts: []*api.Fact{
		{Seq: 1, Job: id, RunCount: 1, What: &api.Fact_Started{Started: &api.Started{Session: 4711}}},
		{Seq: 2, Job: id, RunCount: 1, What: &api.Fact_Ended{Ended: &api.Ended{ExitStatus: 5, Used: []*api.Attribute{set("resources_used.cput", "00:00:01"), set("resources_used.a\nb", "1")}}}},
	}}
	for range 2 { // a repeat changes nothing
		r, err := b.Report.Facts(ctx, request(facts, ""))
		if err != nil || r.Msg.GetAckedSeq() != 2 {
			t.Fatalf("facts: %v, %v", r, err)
		}
	}
	j := b.job(id)
	if cput, _ := j.LastRun().Used.Get("cput"); j.State != pbs.Finished || j.LastRun().ExitStatus != 5 || cput != "00:00:01" || len(j.LastRun().Used) != 6 {
		t.Errorf("job %+v", j)
	}
	if r := register(); r.GetAckedSeq() != 2 {
		t.Errorf("registered again with %v", r)
	}
	if n := b.store.View().Cluster().LastRecord; n != 3 {
		t.Errorf("%d accounting records, want Q, S, E", n)
	}
}

func TestReport_OnlyForItself(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	id := b.mustSubmit("ann@h")
	b.do(&command.StartJob{Job: pbs.JobID(id), ExecVnode: "(hosta:ncpus=1)"})
	b.host("hostb", "hostb")
	if _, err := b.Report.Facts(b.asMom("hostb"), request(&api.FactsRequest{Host: "hosta", SpoolId: "s"}, "")); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("facts of another host: %v", err)
	}
	// A fact about a job that is not on the host is taken, and changes nothing.
	_, err := b.Report.Facts(b.asMom("hostb"), request(&api.FactsRequest{Host: "hostb", SpoolId: "s", Facts: []*api.Fact{
		{Seq: 1, Job: id, RunCount: 1, What: &api.Fact_Ended{Ended: &api.Ended{}}},
	}}, ""))
	if j := b.job(id); err != nil || j.State != pbs.Running {
		t.Errorf("job is %s, %v", j.State, err)
	}
	_, err = b.Report.Samples(b.asMom("hostb"), request(&api.SamplesRequest{Host: "hostb", Jobs: []*api.JobSample{
		{Job: id, RunCount: 1, Used: []*api.Attribute{set("resources_used.mem", "1gb")}},
	}}, ""))
	if j := b.job(id); err != nil || len(j.LastRun().Used) != 0 {
		t.Errorf("used %v, %v", j.LastRun().Used, err)
	}
}

func TestHealth(t *testing.T) {
	b := newBench(t)
	for _, h := range []struct {
		path string
		code int
	}{{"/healthz", 200}, {"/readyz", 200}} {
		w := httptest.NewRecorder()
		handler := b.Healthz()
		if h.path == "/readyz" {
			handler = b.Readyz()
		}
		handler.ServeHTTP(w, httptest.NewRequest("GET", h.path, nil))
		if w.Code != h.code {
			t.Errorf("%s: %d %s", h.path, w.Code, w.Body)
		}
	}
}

// TestReport_Load: what a mom says with its renewals is told to whoever asks, and what cannot be is in the server log.
func TestReport_Load(t *testing.T) {
	b := newBench(t)
	ctx := b.asMom("hosta")
	if _, err := b.Report.Register(ctx, request(&api.RegisterRequest{
		Host: "hosta", Address: "hosta:15002", BootId: "b1", SpoolId: "sp", Vnodes: []*api.VnodeReport{{Name: "hosta"}},
	}, "")); err != nil {
		t.Fatal(err)
	}
	lease := func(load *api.Load) api.LoadWish {
		t.Helper()
		r, err := b.Report.Lease(ctx, request(&api.LeaseRequest{Host: "hosta", BootId: "b1", SpoolId: "sp", Load: load}, ""))
		if err != nil {
			t.Fatal(err)
		}
		return r.Msg.GetLoad()
	}
	if wish := lease(nil); wish != api.LoadWish_LOAD_WISH_NOW {
		t.Errorf("a leader that knows nothing wishes %v", wish)
	}
	if wish := lease(&api.Load{Indices: []*api.LoadIndex{{Name: "r1m", Value: 0.5}, {Name: "mem", Value: 100}, {Name: "ut", Value: math.NaN()}}}); wish != api.LoadWish_LOAD_WISH_SELDOM {
		t.Errorf("where nobody looks it wishes %v", wish)
	}
	r, err := b.Batch.Load(b.as("ann@hosta"), request(&api.LoadRequest{}, ""))
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	for _, h := range r.Msg.GetHosts() {
		for _, x := range h.GetIndices() {
			told += fmt.Sprintf("%s %s %g, ", h.GetHost(), x.GetName(), x.GetValue())
		}
	}
	if told != "hosta mem 100, hosta r1m 0.5, " {
		t.Error(told)
	}
	if wish := lease(nil); wish != api.LoadWish_LOAD_WISH_OFTEN {
		t.Errorf("where somebody looks it wishes %v", wish)
	}
}
