package service

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/cluster/blob"
	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/recovery"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// A bench is the services over a state with one writer: what is proposed is
// applied at once.
type bench struct {
	t *testing.T
	Services

	told      sync.Mutex // what handlers say, which may be several at once
	disasters []recovery.Disaster
	log       []string
	heard     []pbs.HostName

	mu     sync.Mutex
	store  *state.Store
	index  uint64
	reads  int
	behind *state.View   // what stale reads see
	cutOff error         // of fresh reads
	slow   time.Duration // of proposals

	changed chan struct{}
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, store: state.NewStore()}
	b.do(&command.InitCluster{
		ID: "c1", Name: "srv", Epoch: 7, GossipKey: []byte("0123456789abcdef"),
		Server: attr.List{}.Set("managers", "", "boss@*").Set("operators", "", "op@hosta").Set("job_history_enable", "", "True"),
	}, &command.PutReplica{Replica: state.Replica{Name: "s1", Host: "s1host", Address: "s1:15001"}})
	ca, err := transport.NewCA("c1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := blob.Open(blob.Config{
		Dir: t.TempDir(), View: func() *state.View { return b.store.View() }, Changed: b.Changed, Logger: slog.New(slog.DiscardHandler),
		Members: func() []blob.Member { return []blob.Member{{Name: "s1", Voter: true, Self: true}} },
		Room:    func(int64) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Services = New(Config{
		Blobs: keeper, Replica: b, Accounts: accounts{}, CA: ca, Logins: b, Ledger: b, Leases: func() Leases { return b },
		Log: b, Logger: slog.New(slog.DiscardHandler),
	})
	return b
}

func (b *bench) Propose(_ context.Context, p command.Proposal) (command.Outcome, error) {
	time.Sleep(b.slow)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.index++
	// Through the codec, so that bodies have the hash by which repeats are known.
	data, err := command.Encode(command.Entry{Time: pbs.Time(time.Now().UnixNano()), Proposals: []command.Proposal{p}})
	if err != nil {
		b.t.Fatal(err)
	}
	e, err := command.Decode(data)
	if err != nil {
		b.t.Fatal(err)
	}
	out, _ := command.Run(b.store, b.index, 1, e)
	defer b.announce()
	if err := b.store.Publish().Check(); err != nil {
		b.t.Error(err)
	}
	return out[0], nil
}

// Read returns the state; a stale one may be behind.
func (b *bench) Read(_ context.Context, mode cluster.Mode) (*state.View, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	if mode == cluster.Fresh && b.cutOff != nil {
		return nil, b.cutOff
	}
	if mode == cluster.Stale && b.behind != nil {
		return b.behind, nil
	}
	return b.store.View(), nil
}

func (b *bench) ReadIndex(context.Context) (uint64, uint64, error) { return b.index, 1, nil }
func (b *bench) Age() time.Duration                                { return 0 }
func (b *bench) Status() member.Status                             { return member.Status{Applied: b.index} }

func (b *bench) Statuses(context.Context) []member.Status { return []member.Status{b.Status()} }

func (b *bench) Voters() string { return "s1.1" }

func (b *bench) Leader() (string, bool, bool)                     { return "s1:15001", true, true }
func (b *bench) Transfer(context.Context, pbs.ReplicaName) error  { return nil }
func (b *bench) Snapshot(context.Context) (*cluster.Saved, error) { return nil, errors.New("none") }
func (b *bench) AddReplica(context.Context, state.Replica) error  { return nil }

func (b *bench) MayRemove(context.Context, pbs.ReplicaName) error { return nil }

func (b *bench) Withdraw(context.Context, pbs.ReplicaName) error { return nil }

func (b *bench) FinishRemoval(context.Context, pbs.ReplicaName) error { return nil }

// announce wakes those who wait for a newer state.
func (b *bench) announce() {
	if b.changed != nil {
		close(b.changed)
	}
	b.changed = nil
}

func (b *bench) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

func (b *bench) LogEnd() (recovery.LogEnd, error) {
	return recovery.LogEnd{ServerID: "s1.disk", Index: 9, Term: 2}, nil
}

func (b *bench) Recover(_ context.Context, d recovery.Disaster) (recovery.Rescue, error) {
	b.told.Lock()
	defer b.told.Unlock()
	b.disasters = append(b.disasters, d)
	return recovery.Rescue{Survivors: []recovery.LogEnd{{ServerID: "s1.disk", Index: 9, Term: 2}}, Lost: []string{"s2.disk"}, Epoch: 5}, nil
}

func (b *bench) LastStart(context.Context, identity.Question) (identity.Answer, error) {
	return identity.Answer{}, nil
}
func (b *bench) Records(uint64, uint64, func(*api.LedgerRecord) error) error { return nil }
func (b *bench) Kept() uint64                                                { return 1 }
func (b *bench) WaitSynced(context.Context, uint64) error                    { return nil }

func (b *bench) OfJob(_ context.Context, id, first, last string, newest bool) ([][]byte, error) {
	return [][]byte{[]byte(id), []byte(first), []byte(last), strconv.AppendBool(nil, newest)}, nil
}

func (b *bench) Renewed(h pbs.HostName) {
	b.told.Lock()
	defer b.told.Unlock()
	b.heard = append(b.heard, h)
}

func (b *bench) Issue(u pbs.User, ttl time.Duration) (string, time.Time, error) {
	return "token of " + u.String(), time.Now().Add(ttl), nil
}

func (b *bench) Write(_ time.Time, event uint16, class, object, text string) error {
	if event == pbs.LogSecurity || event == pbs.LogResv {
		b.told.Lock()
		defer b.told.Unlock()
		b.log = append(b.log, class+";"+object+";"+text)
	}
	return nil
}

// accounts know everybody but ghost; ann is in two groups, and toor is root.
type accounts struct{}

func (accounts) ByUID(context.Context, uint32) (transport.Account, error) {
	return transport.Account{}, transport.ErrNoAccount
}

func (accounts) ByName(_ context.Context, name string) (transport.Account, error) {
	if name == "ghost" {
		return transport.Account{}, transport.ErrNoAccount
	}
	uid := uint32(1000)
	if name == "root" || name == "toor" {
		uid = 0
	}
	return transport.Account{Name: name, UID: uid, Group: "users", Groups: []string{"users", name + "s"}}, nil
}

func (b *bench) do(commands ...command.Command) state.Result {
	b.t.Helper()
	out, _ := b.Propose(b.t.Context(), command.Proposal{Commands: commands})
	if out.Refusal != nil {
		b.t.Fatalf("%T: %v", commands[0], out.Refusal)
	}
	return out.Result
}

// as returns the context of a person whom a submit host, or "NAME@replica:s1",
// vouches for.
func (b *bench) as(who string) context.Context {
	u := pbs.ParseUser(who)
	c := transport.Caller{User: u, Role: transport.RoleSubmit, Host: u.Host, Vouched: true}
	if name, ok := strings.CutPrefix(string(u.Host), "replica:"); ok {
		c.Role, c.Host, c.User.Host = transport.RoleReplica, pbs.HostName(name), pbs.HostName(name)
	}
	return transport.WithCaller(b.t.Context(), c)
}

// asMom returns the context of a mom that speaks for itself.
func (b *bench) asMom(host string) context.Context {
	return transport.WithCaller(b.t.Context(), transport.Caller{Role: transport.RoleMom, Host: pbs.HostName(host)})
}

func request[T any](msg *T, id pbs.RequestID) *connect.Request[T] {
	r := connect.NewRequest(msg)
	if id != "" {
		r.Header().Set(transport.HeaderRequestID, string(id))
	}
	return r
}

func (b *bench) submit(who string, attributes ...*api.Attribute) (string, error) {
	r, err := b.Batch.Submit(b.as(who), request(&api.SubmitRequest{Attributes: attributes, Script: []byte("date\n")}, ""))
	if err != nil {
		return "", err
	}
	return r.Msg.GetJob(), nil
}

func (b *bench) mustSubmit(who string, attributes ...*api.Attribute) string {
	b.t.Helper()
	id, err := b.submit(who, attributes...)
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// host registers a mom with vnodes of 4 cpus.
func (b *bench) host(name string, vnodes ...string) {
	up := &command.HostUp{Host: pbs.HostName(name), Address: name + ":15002", BootID: "b", SpoolID: "s"}
	for _, v := range vnodes {
		up.Vnodes = append(up.Vnodes, command.ReportedVnode{
			Name: pbs.VnodeName(v), Available: resource.List{}.Set("ncpus", "4").Set("mem", "1gb").Set("host", name).Set("vnode", v),
		})
	}
	b.do(up)
}

func (b *bench) job(id string) *state.Job {
	b.t.Helper()
	j, ok := b.store.View().Job(pbs.JobID(id))
	if !ok {
		b.t.Fatalf("no job %s", id)
	}
	return j
}

func (b *bench) list(who string, r *api.ListRequest) ([]*api.Object, error) {
	var all []*api.Object
	err := b.Batch.list(b.as(who), r, func(m *api.ListReply) error {
		all = append(all, m.GetObjects()...)
		return nil
	})
	return all, err
}

func set(name, value string) *api.Attribute {
	base, res, _ := strings.Cut(name, ".")
	return &api.Attribute{Name: base, Resource: res, Value: value}
}
