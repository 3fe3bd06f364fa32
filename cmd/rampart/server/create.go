package server

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/google/uuid"

	"rampart/cmd/rampart/home"
	"rampart/fsm/acct"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
	"rampart/transport/directory"
)

// A founding is what the first start of the first replica writes into the log. The
// file is removed when that has been committed: an emptied disk must never found the
// cluster a second time.
type founding struct {
	ID        string `json:"id"`
	Epoch     uint64 `json:"epoch"`
	GossipKey []byte `json:"gossip_key"`
	Timezone  string `json:"timezone"`
	Manager   string `json:"manager,omitempty"` // Config.Manager

	From *beginning `json:"from,omitempty"` // of a snapshot: nil: the cluster begins with nothing
}

const (
	foundingFile  = "founding.json"
	gossipKeyFile = "gossip.key"
	gossipKeySize = 32
)

func (c Config) foundingPath() string { return filepath.Join(c.Home.ServerPriv(), foundingFile) }
func (c Config) gossipKeyPath() string {
	return filepath.Join(c.Home.ServerTLS(), gossipKeyFile)
}

// Init makes a cluster with its CA, and this replica as the first one. The replica
// founds it when it is started.
func Init(c Config) error { return initWith(c, nil, func() error { return nil }) }

// initWith is Init, and lays beside the founding what the cluster begins with.
func initWith(c Config, from *beginning, lay func() error) error {
	if err := prepare(c); err != nil {
		return fmt.Errorf("server init: %w", err)
	}
	f := founding{ID: uuid.NewString(), GossipKey: make([]byte, gossipKeySize), Timezone: timezone(), Manager: c.Manager, From: from}
	_, _ = rand.Read(f.GossipKey) // never fails (crypto/rand)
	f.Epoch = randomEpoch()
	now := time.Now()
	ca, err := transport.NewCA(f.ID, now)
	if err != nil {
		return fmt.Errorf("server init: %w", err)
	}
	id, err := ca.Issue(transport.RoleReplica, pbs.HostName(c.Host), now)
	if err != nil {
		return fmt.Errorf("server init: %w", err)
	}
	files := transport.Files{Dir: c.Home.ServerTLS()}
	err = errors.Join(files.SaveCA(ca), files.SaveIdentity(id), home.Replace(c.gossipKeyPath(), f.GossipKey), lay(),
		home.WriteConfig(c.foundingPath(), f))
	if err == nil {
		err = c.save()
	}
	if err != nil {
		return fmt.Errorf("server init: %w", err)
	}
	return nil
}

// prepare checks the configuration and makes the folders, unless a replica is there.
func prepare(c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if _, err := os.Stat(c.Home.ServerConfig()); err == nil {
		return fmt.Errorf("--home: a replica is in %s already", c.Home)
	}
	return c.Home.Make(c.Home.ServerPriv())
}

func randomEpoch() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return binary.BigEndian.Uint64(b[:])>>1 | 1
}

// timezone returns the name of the host's time zone: all replicas date their records
// by that of the first one.
func timezone() string {
	candidates := []string{os.Getenv("TZ")}
	if target, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
		_, name, _ := strings.Cut(target, "zoneinfo/")
		candidates = append(candidates, name)
	}
	for _, name := range candidates {
		if name = strings.TrimPrefix(name, ":"); name != "" {
			if acct.IsZone(name) {
				return name
			}
		}
	}
	return "UTC"
}

// founding returns the first command of the log, nil if the cluster is founded.
func (c Config) founding() (*command.InitCluster, error) {
	var f founding
	err := home.ReadConfig(c.foundingPath(), &f)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	server := attr.List(nil).Set("timezone", "", f.Timezone)
	if f.Manager != "" {
		server = server.Set("managers", "", f.Manager)
	}
	return &command.InitCluster{ID: f.ID, Name: c.Server, Epoch: f.Epoch, GossipKey: f.GossipKey, Server: server}, nil
}

// founded notes that the cluster is in the log.
func (c Config) founded() error {
	for _, path := range []string{c.foundingPath(), c.beginningPath()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Join makes this replica a member of the cluster that the token is of, which it reaches
// over the network. It starts voting when it runs and has caught up.
func Join(ctx context.Context, network transport.Network, c Config, tokenText string) error {
	token, err := transport.ParseToken(tokenText)
	if err == nil {
		err = token.For(transport.RoleReplica)
	}
	if err != nil {
		return fmt.Errorf("server join: the token: %w", err)
	}
	if len(c.Replicas) == 0 {
		return errors.New("server join: --replica: name a replica of the cluster, HOST:PORT")
	}
	if err := prepare(c); err != nil {
		return fmt.Errorf("server join: %w", err)
	}
	key, err := transport.NewKey()
	if err != nil {
		return fmt.Errorf("server join: %w", err)
	}
	csr, err := transport.NewCSR(key)
	if err != nil {
		return fmt.Errorf("server join: %w", err)
	}
	asker := client.New(client.Options{Replicas: c.Replicas, Network: network, TLS: transport.JoinTLS(token)})
	defer asker.Close()
	reply, err := asker.Cluster().Join(ctx, connect.NewRequest(&api.JoinRequest{Token: tokenText, Host: c.Host, Csr: csr}))
	if err != nil {
		return fmt.Errorf("server join: %w", err)
	}
	id, err := transport.NewIdentity(reply.Msg.GetCa(), reply.Msg.GetCertificate(), key)
	if err != nil {
		return fmt.Errorf("server join: %w", err)
	}
	return keepJoined(c, id, reply.Msg)
}

func keepJoined(c Config, id *transport.Identity, joined *api.JoinReply) error {
	ca, err := transport.ParseCA(joined.GetCa(), joined.GetCaKey())
	if err != nil {
		return fmt.Errorf("server join: %w", err)
	}
	c.Server, c.Replicas, c.RTTClass = joined.GetServer(), nil, pbs.RTTClass(joined.GetRttClass())
	for _, r := range joined.GetReplicas() {
		c.Replicas = append(c.Replicas, r.GetAddress())
	}
	files := transport.Files{Dir: c.Home.ServerTLS()}
	err = errors.Join(files.SaveCA(ca), files.SaveIdentity(id), home.Replace(c.gossipKeyPath(), joined.GetGossipKey()))
	if err == nil {
		err = c.save()
	}
	if err != nil {
		return fmt.Errorf("server join: %w", err)
	}
	return nil
}

// Manager returns who makes the cluster, if it is not root, as USER@HOST: he must be able to manage it.
func Manager(ctx context.Context, host string) (string, error) {
	uid := os.Geteuid()
	if uid == 0 {
		return "", nil
	}
	users := directory.New(directory.Options{})
	defer users.Close()
	account, err := users.ByUID(ctx, uint32(uid))
	return account.Name + "@" + host, err
}
