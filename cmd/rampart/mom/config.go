package mom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"rampart/cmd/rampart/home"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
)

// version of the configuration file.
const version = 1

// Ports of a mom.
const (
	defaultPort       = 15002
	defaultGossipPort = 15004
)

// Config says who a mom is and where it listens.
type Config struct {
	Version    int      `json:"version"`
	Host       string   `json:"host"`                // name of the execution host
	Listen     string   `json:"listen"`              // HOST:PORT
	Advertise  string   `json:"advertise,omitempty"` // HOST:PORT that others use; empty: Listen
	Gossip     string   `json:"gossip"`              // IP:PORT
	Replicas   []string `json:"replicas"`            // HOST:PORT
	Seeds      []string `json:"seeds,omitempty"`     // gossip addresses of replicas
	SubmitOnly bool     `json:"submit_only,omitempty"`
	// OpenMetrics lets anybody read /metrics, not only who has a certificate.
	OpenMetrics bool `json:"open_metrics,omitempty"`

	Home home.Home `json:"-"`
}

// Default returns the configuration of a mom on a host of that name, which the others
// reach at that address.
func Default(hostname, address string) Config {
	short := pbs.ShortHost(hostname)
	return Config{
		Version: version, Host: short, Home: home.Default,
		Listen: net.JoinHostPort(address, strconv.Itoa(defaultPort)),
		Gossip: net.JoinHostPort(address, strconv.Itoa(defaultGossipPort)),
	}
}

// Address returns where others reach the mom.
func (c Config) Address() string {
	if c.Advertise != "" {
		return c.Advertise
	}
	return c.Listen
}

// Validate reports all faults, each naming its flag.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Version != version {
		fault("version: %d, want %d", c.Version, version)
	}
	if c.Host == "" || strings.ContainsAny(c.Host, " /\t\n") {
		fault("--host: %q cannot be the name of a host", c.Host)
	}
	if c.Home == "" {
		fault("--home: empty")
	}
	if len(c.Replicas) == 0 {
		fault("--replica: name a replica of the cluster, HOST:PORT")
	}
	for _, r := range c.Replicas {
		if _, _, err := net.SplitHostPort(r); err != nil {
			fault("--replica: %w", err)
		}
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		fault("--listen: %w", err)
	}
	if host, _, err := net.SplitHostPort(c.Address()); err != nil {
		fault("--advertise: %w", err)
	} else if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		fault("--listen: %q cannot be told to others, set --advertise", c.Address())
	}
	if at, err := netip.ParseAddrPort(c.Gossip); err != nil || at.Addr().IsUnspecified() {
		fault("--gossip: %q, want an IP address and a port that others can reach", c.Gossip)
	}
	return errors.Join(faults...)
}

const gossipKeyFile = "gossip.key"

func (c Config) gossipKeyPath() string { return filepath.Join(c.Home.MomTLS(), gossipKeyFile) }

// Load reads the configuration that join left in the home.
func Load(h home.Home) (Config, error) {
	c := Config{Home: h}
	if err := home.ReadConfig(h.MomConfig(), &c); errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("no mom in %s (rampart mom join makes one): %w", h, err)
	} else if err != nil {
		return c, err
	}
	return c, c.Validate()
}

func (c Config) save() error { return home.WriteConfig(c.Home.MomConfig(), c) }

// Join enrols this host at the cluster that the token is of, which it reaches over the network.
func Join(ctx context.Context, network transport.Network, c Config, tokenText string) error {
	token, err := transport.ParseToken(tokenText)
	if err == nil {
		err = token.For(transport.RoleMom, transport.RoleSubmit)
	}
	if err != nil {
		return fmt.Errorf("mom join: the token: %w", err)
	}
	c.SubmitOnly = token.Role == transport.RoleSubmit
	if err := c.Validate(); err != nil {
		return fmt.Errorf("mom join: %w", err)
	}
	if _, err := os.Stat(c.Home.MomConfig()); err == nil {
		return fmt.Errorf("mom join: --home: a mom is in %s already", c.Home)
	}
	if err := c.Home.Make(c.Home.MomPriv()); err != nil {
		return fmt.Errorf("mom join: %w", err)
	}
	if err := c.enrol(ctx, network, token, tokenText); err != nil {
		return fmt.Errorf("mom join: %w", err)
	}
	return nil
}

func (c Config) enrol(ctx context.Context, network transport.Network, token transport.Token, tokenText string) error {
	key, err := transport.NewKey()
	if err != nil {
		return err
	}
	csr, err := transport.NewCSR(key)
	if err != nil {
		return err
	}
	asker := client.New(client.Options{Replicas: c.Replicas, Network: network, TLS: transport.JoinTLS(token)})
	defer asker.Close()
	reply, err := asker.Cluster().Join(ctx, connect.NewRequest(&api.JoinRequest{Token: tokenText, Host: c.Host, Csr: csr}))
	if err != nil {
		return err
	}
	joined := reply.Msg
	id, err := transport.NewIdentity(joined.GetCa(), joined.GetCertificate(), key)
	if err != nil {
		return err
	}
	c.Replicas, c.Seeds = nil, nil
	for _, r := range joined.GetReplicas() {
		c.Replicas, c.Seeds = append(c.Replicas, r.GetAddress()), append(c.Seeds, r.GetGossipAddress())
	}
	files := transport.Files{Dir: c.Home.MomTLS()}
	err = files.SaveIdentity(id)
	if len(joined.GetGossipKey()) > 0 { // a login host gets none
		err = errors.Join(err, home.Replace(c.gossipKeyPath(), joined.GetGossipKey()))
	}
	return errors.Join(err, c.save())
}
