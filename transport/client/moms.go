package client

import (
	"net/http"

	"connectrpc.com/connect"

	"rampart/transport"
	"rampart/transport/api/apiconnect"
)

// Moms is a leader's pool of connections to moms. It makes one attempt per
// call: whether and when to repeat an order is the dispatcher's to decide.
type Moms struct {
	network transport.Network
	id      *transport.Identity
	pools   transport.Pools // by the host that must be at the other end, "" for any

	// Turn, if set before the first call, returns when a call may be made, and what is called when it is answered: bubbles keep
	// apart what several moms are asked for at the same moment.
	Turn func(address, what string) (done func())
}

// NewMoms returns a pool for the given replica.
func NewMoms(network transport.Network, id *transport.Identity) *Moms {
	return &Moms{network: network, id: id}
}

// Agent returns the client of whatever mom is at HOST:PORT.
func (m *Moms) Agent(address string) apiconnect.AgentClient { return m.AgentOf("", address) }

// AgentOf returns the client of a host's mom, which is expected at HOST:PORT: a
// mom of another host does not get its orders when an address changes hands.
func (m *Moms) AgentOf(host, address string) apiconnect.AgentClient {
	return apiconnect.NewAgentClient(m.pool(host), "https://"+address, transport.Uncompressed())
}

// SisterOf returns the client of what a host's mom does for others of the same job; it is
// expected at HOST:PORT.
func (m *Moms) SisterOf(host, address string) apiconnect.SisterClient {
	return apiconnect.NewSisterClient(m.pool(host), "https://"+address, transport.Uncompressed())
}

func (m *Moms) pool(host string) connect.HTTPClient {
	c := m.pools.Client(host, func() *http.Transport {
		return transport.NewTransport(m.id.Over(m.network), m.id.HostTLS(transport.RoleMom, host))
	})
	if m.Turn == nil {
		return c
	}
	return turned{c, m.Turn}
}

// turned calls when it is its turn.
type turned struct {
	client *http.Client
	turn   func(address, what string) (done func())
}

// Do implements connect.HTTPClient.
func (t turned) Do(r *http.Request) (*http.Response, error) {
	defer t.turn(r.URL.Host, r.URL.Path)()
	return t.client.Do(r)
}

// Close ends the idle connections. Call it when no call is in hand any more.
func (m *Moms) Close() { m.pools.Close() }
