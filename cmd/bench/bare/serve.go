package bare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"rampart/cluster/store"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// Config is one replica. Its identity lies in Dir/tls, its log in Dir/raft.
type Config struct {
	Dir       string
	Addresses []string // of all replicas, HOST:PORT
	Self      int      // which of them this one is
}

// Serve is one replica, until ctx ends.
func Serve(ctx context.Context, c Config) error {
	logger := slog.New(slog.DiscardHandler)
	id, err := transport.Files{Dir: filepath.Join(c.Dir, "tls")}.Identity()
	if err != nil {
		return err
	}
	r := &replica{}
	r.group = newGroup(func(data []byte) raft.ApplyFuture { return r.raft.Apply(data, 0) })
	mux := http.NewServeMux()
	mux.Handle(apiconnect.NewBatchHandler(r))
	port, err := transport.NewServer(ctx, transport.ServerConfig{
		Network: transport.System{}, Address: c.Addresses[c.Self], Identity: id, Handler: mux, Raft: true, Logger: logger,
	})
	if err != nil {
		return err
	}
	stores, err := store.OpenFiles(filepath.Join(c.Dir, "raft"), logger)
	if err != nil {
		return errors.Join(err, port.Close())
	}
	dial := id.RaftDialer(transport.System{})
	if r.raft, err = start(c, stores, layer{port.Raft(), dial}); err != nil {
		return errors.Join(err, stores.Close(), port.Close())
	}
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return port.Run(ctx) })
	serving.Go(func() error { r.group.run(ctx); return nil })
	err = serving.Wait()
	return errors.Join(err, r.raft.Shutdown().Error(), stores.Close())
}

// start brings Raft up with the settings of design section 12.
func start(c Config, stores store.Backend, l layer) (*raft.Raft, error) {
	conf := raft.DefaultConfig()
	conf.LocalID = serverID(c.Self)
	conf.HeartbeatTimeout, conf.ElectionTimeout = 300*time.Millisecond, 300*time.Millisecond
	conf.LeaderLeaseTimeout, conf.CommitTimeout = 150*time.Millisecond, 20*time.Millisecond
	conf.MaxAppendEntries, conf.BatchApplyCh = 64, true
	conf.SnapshotInterval, conf.SnapshotThreshold = 24*time.Hour, 1<<60
	conf.NoLegacyTelemetry = true
	conf.Logger = hclog.NewNullLogger()
	log, err := raft.NewLogCache(512, stores.Log())
	if err != nil {
		return nil, err
	}
	carrier := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: l, MaxPool: 3, Timeout: 5 * time.Second, Logger: conf.Logger, MsgpackUseNewTimeFormat: true,
	})
	var members raft.Configuration
	for i, a := range c.Addresses {
		members.Servers = append(members.Servers, raft.Server{ID: serverID(i), Address: raft.ServerAddress(a)})
	}
	if err := raft.BootstrapCluster(conf, log, stores.Stable(), stores.Snapshots(), carrier, members); err != nil {
		return nil, err
	}
	return raft.NewRaft(conf, &counter{}, log, stores.Stable(), stores.Snapshots(), carrier)
}

func serverID(i int) raft.ServerID { return raft.ServerID("bare" + strconv.Itoa(i)) }

// layer carries Raft over the replica's port.
type layer struct {
	net.Listener
	dial func(ctx context.Context, address string) (net.Conn, error)
}

// Dial implements raft.StreamLayer.
func (l layer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return l.dial(ctx, string(address))
}

// replica answers Submit and nothing else.
type replica struct {
	apiconnect.UnimplementedBatchHandler
	raft  *raft.Raft
	group *group
}

// Submit commits the message as it came.
func (r *replica) Submit(ctx context.Context, req *connect.Request[api.SubmitRequest]) (*connect.Response[api.SubmitReply], error) {
	if r.raft.State() != raft.Leader {
		return nil, connect.NewError(connect.CodeUnavailable, errors.New("not the leader"))
	}
	body, err := proto.Marshal(req.Msg)
	if err != nil {
		return nil, err
	}
	number, err := r.group.submit(ctx, body)
	if err != nil {
		return nil, fmt.Errorf("submit: %w", err)
	}
	return connect.NewResponse(&api.SubmitReply{Job: strconv.FormatUint(number, 10)}), nil
}

// Until returns a context that ends when the pipe from the parent does.
func Until(ctx context.Context, pipe io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with the pipe, that is with this process or its parent
		defer cancel()
		_, _ = io.Copy(io.Discard, pipe)
	}()
	return ctx
}
