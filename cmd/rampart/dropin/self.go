package dropin

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"rampart/cmd/rampart/home"
	"rampart/fsm/pbs"
	"rampart/transport"
)

// Ports of the daemons unless pbs.conf has others (design section 3).
const (
	serverPort = "15001"
	momPort    = "15002"
)

// A self is this host as pbs.conf and the system describe it.
type self struct {
	name    string   // PBS_LEAF_NAME, or the host name
	short   string   // the first label of it
	address string   // by which others reach it
	servers []string // PBS_SERVER_HOST_NAME, or PBS_SERVER; this host if neither is set
}

func (c *call) self(ctx context.Context) (self, error) {
	name, err := os.Hostname()
	if err != nil {
		return self{}, err
	}
	name = cmp.Or(strings.TrimSpace(home.Conf("PBS_LEAF_NAME")), name)
	me := self{name: name, short: pbs.ShortHost(name), address: c.world.Address()}
	if leaf := home.Conf("PBS_LEAF_NAME"); leaf != "" {
		me.address = cmp.Or(ownAddress(ctx, name), me.address)
	}
	me.servers = strings.FieldsFunc(cmp.Or(home.Conf("PBS_SERVER_HOST_NAME"), home.Conf("PBS_SERVER")), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	return me, nil
}

// first returns the first name of PBS_SERVER without its port.
func (s self) first() string {
	if len(s.servers) == 0 {
		return s.name
	}
	if host, _, err := net.SplitHostPort(s.servers[0]); err == nil {
		return host
	}
	return s.servers[0]
}

// port returns the port that pbs.conf names, else the usual one.
func (s self) port(key, usual string) string { return cmp.Or(home.Conf(key), usual) }

// replica returns the address of the first server.
func (s self) replica() string {
	return net.JoinHostPort(s.first(), s.port("PBS_BATCH_SERVICE_PORT", serverPort))
}

// unenrolled says how this host joins the cluster, which needs a token of that role.
func (s self) unenrolled(c *call, role, daemon, also string) error {
	return fmt.Errorf("no %s in %s; on %s, or another host of a replica, run\n\trampart token create --role %s --host %s\n"+
		"and on this one, where it reads the token,\n\trampart %s join --home %s --token-file - --replica %s\nor start the daemon once with the token in %s%s",
		role, c.home, s.first(), role, s.short, daemon, c.home, s.replica(), home.TokenVariable, also)
}

// resolveWithin bounds a question to the name service.
const resolveWithin = 5 * time.Second

// is reports whether the name means this host: by name, or by an address of it.
func (s self) is(ctx context.Context, name string) bool {
	if pbs.SameHost(name, s.name) || pbs.ThisHost(name) {
		return true
	}
	return ownAddress(ctx, name) != ""
}

// ownAddress returns the address of that name that this host has; none: "".
func ownAddress(ctx context.Context, name string) string {
	interfaces, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	addresses, err := transport.LookupHost(ctx, name)
	if err != nil {
		return ""
	}
	for _, a := range interfaces {
		if n, ok := a.(*net.IPNet); ok && slices.Contains(addresses, n.IP.String()) {
			return n.IP.String()
		}
	}
	return ""
}
