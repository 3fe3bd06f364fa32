package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"rampart/cmd/rampart/home"
	"rampart/fsm/pbs"
)

// version of the configuration file.
const version = 1

// Ports of a replica.
const (
	defaultPort       = 15001
	defaultGossipPort = 15003
)

// Config says who a replica is and where it listens.
type Config struct {
	Version   int      `json:"version"`
	Host      string   `json:"host"`                // name of the replica
	Server    string   `json:"server"`              // name of the cluster: the suffix of job ids
	Listen    string   `json:"listen"`              // HOST:PORT of the port for everything
	Advertise string   `json:"advertise,omitempty"` // HOST:PORT that others use; empty: Listen
	Gossip    string   `json:"gossip"`              // IP:PORT
	Replicas  []string `json:"replicas,omitempty"`  // HOST:PORT of others, to begin with
	Zone      string   `json:"zone,omitempty"`      // failure domain: what fails together
	// RTTClass is how far the replicas were from each other when this one was made; the state
	// says how far they are.
	RTTClass pbs.RTTClass `json:"rtt_class,omitempty"`
	// OpenMetrics lets anybody read /metrics, not only who has a certificate or a login token.
	OpenMetrics bool `json:"open_metrics,omitempty"`
	// LogKeepDays is how many days accounting files and logs are kept; 0: for ever.
	LogKeepDays int `json:"log_keep_days,omitempty"`

	Home    home.Home `json:"-"`
	Manager string    `json:"-"` // user@host, of a cluster to be made; root is one anyway
	Hot     bool      `json:"-"` // jobs that qterm has ended start again first, if this replica is the first to lead
	// Rename is what the server is called from now on, if this replica is alone; "": as it was made; nil: as it is.
	Rename *string `json:"-"`
}

// Default returns the configuration of a replica on a host of that name, which the others
// reach at that address.
func Default(hostname, address string) Config {
	short := pbs.ShortHost(hostname)
	return Config{
		Version: version, Host: short, Server: short, Home: home.Default,
		Listen: net.JoinHostPort(address, strconv.Itoa(defaultPort)),
		Gossip: net.JoinHostPort(address, strconv.Itoa(defaultGossipPort)),
	}
}

// Address returns where others reach the replica.
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
	if c.LogKeepDays < 0 {
		fault("log_keep_days: %d, want a number of days, or 0 to keep all", c.LogKeepDays)
	}
	if !validName(c.Host) {
		fault("--host: %q cannot be the name of a replica", c.Host)
	}
	if !validName(c.Server) {
		fault("--name: %q cannot be the name of a cluster", c.Server)
	}
	if _, err := pbs.ParseRTTClass(string(c.RTTClass.OrLan())); err != nil {
		fault("--rtt-class: %w", err)
	}
	if c.Zone != "" && !validName(c.Zone) {
		fault("--zone: %q cannot be the label of a zone, which is 1 to 64 of a-z, A-Z, 0-9, \"-\", \".\" and \"_\"", c.Zone)
	}
	if c.Home == "" {
		fault("--home: empty")
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		fault("--listen: %w", err)
	}
	host, _, err := net.SplitHostPort(c.Address())
	if err != nil {
		fault("--advertise: %w", err)
	} else if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		fault("--listen: %q cannot be told to others, set --advertise", c.Address())
	}
	if at, err := netip.ParseAddrPort(c.Gossip); err != nil || at.Addr().IsUnspecified() {
		fault("--gossip: %q, want an IP address and a port that others can reach", c.Gossip)
	}
	return errors.Join(faults...)
}

func validName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._", r))
	}) < 0
}

// Load reads the configuration that init or join left in the home.
func Load(h home.Home) (Config, error) {
	c := Config{Home: h}
	if err := home.ReadConfig(h.ServerConfig(), &c); errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("no replica in %s (rampart server init or join makes one): %w", h, err)
	} else if err != nil {
		return c, err
	}
	return c, c.Validate()
}

// save writes the configuration, after all else: a home that has it is whole.
func (c Config) save() error { return home.WriteConfig(c.Home.ServerConfig(), c) }
