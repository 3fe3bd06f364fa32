package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// peers asks other replicas over pooled connections, one attempt per question:
// whoever asks knows when to ask again.
type peers struct {
	transport *http.Transport
	http      *http.Client
	clients   sync.Map // address -> apiconnect.ClusterClient; there are as many as replicas
	// nameless shows no certificate: a replica that was removed has none that counts.
	nameless *http.Transport
}

var _ cluster.Peers = (*peers)(nil)

// turned asks when it is its turn: see Outside.
type turned struct {
	http.RoundTripper
	turn func(addr, what string) (done func())
}

// RoundTrip implements http.RoundTripper.
func (t turned) RoundTrip(r *http.Request) (*http.Response, error) {
	defer t.turn(r.URL.Host, r.URL.Path)()
	return t.RoundTripper.RoundTrip(r)
}

func newPeers(network transport.Network, id *transport.Identity, turn func(addr, what string) (done func())) *peers {
	t := transport.NewTransport(id.Over(network), id.ClientTLS(transport.RoleReplica))
	hidden := id.ClientTLS(transport.RoleReplica)
	hidden.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &tls.Certificate{}, nil }
	c := &http.Client{Transport: t}
	if turn != nil {
		c.Transport = turned{t, turn}
	}
	return &peers{transport: t, http: c, nameless: transport.NewTransport(id.Over(network), hidden)}
}

func (p *peers) close() {
	p.transport.CloseIdleConnections()
	p.nameless.CloseIdleConnections()
}

func (p *peers) at(address string) apiconnect.ClusterClient {
	if c, ok := p.clients.Load(address); ok {
		return c.(apiconnect.ClusterClient)
	}
	c, _ := p.clients.LoadOrStore(address, apiconnect.NewClusterClient(p.http, "https://"+address, transport.Uncompressed()))
	return c.(apiconnect.ClusterClient)
}

// trustAt returns the client of a replica's word on certificates and keys.
func (p *peers) trustAt(address string) apiconnect.TrustClient {
	return apiconnect.NewTrustClient(p.http, "https://"+address, transport.Uncompressed())
}

// ReadIndex implements cluster.Peers.
func (p *peers) ReadIndex(ctx context.Context, address string) (index, term uint64, err error) {
	reply, err := p.at(address).ReadIndex(ctx, connect.NewRequest(&api.ReadIndexRequest{}))
	if err != nil {
		return 0, 0, transport.FromWire(err)
	}
	return reply.Msg.GetIndex(), reply.Msg.GetTerm(), nil
}

// Clock implements cluster.Peers.
func (p *peers) Clock(ctx context.Context, address string) (time.Time, error) {
	reply, err := p.at(address).Clock(ctx, connect.NewRequest(&api.ClockRequest{}))
	if err != nil {
		return time.Time{}, transport.FromWire(err)
	}
	return time.Unix(0, reply.Msg.GetUnixNano()), nil
}

// Status implements cluster.Peers.
func (p *peers) Status(ctx context.Context, address string) (member.Status, error) {
	reply, err := p.at(address).Status(ctx, connect.NewRequest(&api.StatusRequest{Local: true}))
	if err != nil {
		return member.Status{}, transport.FromWire(err)
	}
	if n := len(reply.Msg.GetReplicas()); n != 1 {
		return member.Status{}, fmt.Errorf("%s told of %d replicas, want of itself", address, n)
	}
	return statusFromWire(reply.Msg.GetReplicas()[0])
}

// LastStart implements cluster.Peers.
func (p *peers) LastStart(ctx context.Context, address string, q identity.Question) (identity.Answer, error) {
	reply, err := p.at(address).LastStart(ctx, connect.NewRequest(&api.LastStartRequest{
		ServerId: q.ServerID, Address: q.Address, Generation: q.Start.Generation, Start: q.Start.Token, Decided: q.Decided,
	}))
	if err != nil {
		return p.standing(ctx, address, q.ServerID, transport.FromWire(err))
	}
	a := identity.Answer{
		Known:      identity.Start{Generation: reply.Msg.GetGeneration(), Token: reply.Msg.GetStart()},
		ReplacedBy: reply.Msg.GetReplacedBy(), RunsAt: reply.Msg.GetRunsAt(), Removed: reply.Msg.GetRemoved(), Anew: reply.Msg.GetAnew(),
	}
	if at := reply.Msg.GetExcluded(); at != 0 {
		a.Excluded = time.Unix(at, 0)
	}
	return a, nil
}

// standing asks without a certificate whether a server that gets no answer was removed.
func (p *peers) standing(ctx context.Context, address, serverID string, unanswered error) (identity.Answer, error) {
	asker := apiconnect.NewMembersClient(&http.Client{Transport: p.nameless}, "https://"+address, transport.Uncompressed())
	reply, err := asker.Standing(ctx, connect.NewRequest(&api.StandingRequest{ServerId: serverID}))
	if err != nil || !reply.Msg.GetRemoved() {
		return identity.Answer{}, unanswered
	}
	return identity.Answer{Removed: true}, nil
}

func statusFromWire(r *api.ReplicaStatus) (member.Status, error) {
	digest, err := strconv.ParseUint(r.GetDigest(), 16, 64)
	if err != nil && r.GetDigest() != "" {
		return member.Status{}, fmt.Errorf("status of %s: digest %q", r.GetName(), r.GetDigest())
	}
	var marks []command.Mark
	for _, m := range r.GetMarks() {
		marks = append(marks, command.Mark{Index: m.GetIndex(), Digest: m.GetDigest()})
	}
	var scripts *member.Scripts
	if s := r.GetScripts(); s != nil {
		scripts = &member.Scripts{Index: s.GetIndex(), Missing: int(s.GetMissing())}
	}
	return member.Status{
		Scripts: scripts,
		Self: state.Replica{
			Name: pbs.ReplicaName(r.GetName()), ServerID: r.GetServerId(), Address: r.GetAddress(),
			GossipAddress: r.GetGossipAddress(), Host: pbs.HostName(r.GetHost()), Version: r.GetVersion(), Build: r.GetBuild(),
			FeatureLevel: r.GetFeatureLevel(), Generation: r.GetGeneration(), Start: r.GetStart(), Zone: r.GetZone(),
		},
		Role: member.Role(r.GetRole()), Term: r.GetTerm(), Commit: r.GetCommitIndex(), Applied: r.GetAppliedIndex(),
		Digest: digest, LastContact: time.Duration(r.GetLastContactMs()) * time.Millisecond,
		Alarms: alarmsFromWire(r), Marks: marks, Voter: r.GetVoter(), Class: pbs.RTTClass(r.GetRttClass()),
		Disk: store.Disk{
			WriteLatency: store.WriteLatency{
				Writes: int(r.GetWrites()), P99: time.Duration(r.GetWriteP99Us()) * time.Microsecond,
				Max: time.Duration(r.GetWriteMaxUs()) * time.Microsecond, Sick: r.GetDiskSlow(),
			},
			Free: r.GetDiskFree(), Low: r.GetDiskLow(), Dir: r.GetDiskDir(),
		},
	}, nil
}

func alarmsFromWire(r *api.ReplicaStatus) []member.Alarm {
	var all []member.Alarm
	for _, a := range r.GetAlarmDetails() {
		all = append(all, member.Alarm{Kind: member.AlarmKind(a.GetKind()), Text: a.GetText(), Advice: a.GetAdvice(), Serves: a.GetServes()})
	}
	return all
}
