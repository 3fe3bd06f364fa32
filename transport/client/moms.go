package client

import (
	"net/http"

	"rampart/transport"
	"rampart/transport/api/apiconnect"
)

// Moms is a leader's pool of connections to moms. It makes one attempt per
// call: whether and when to repeat an order is the dispatcher's to decide.
type Moms struct {
	transport *http.Transport
	http      *http.Client
}

// NewMoms returns a pool for the given replica.
func NewMoms(network transport.Network, id *transport.Identity) *Moms {
	t := transport.NewTransport(network, id.ClientTLS(transport.RoleMom))
	return &Moms{transport: t, http: &http.Client{Transport: t}}
}

// Agent returns the client of the mom at HOST:PORT.
func (m *Moms) Agent(address string) apiconnect.AgentClient {
	return apiconnect.NewAgentClient(m.http, "https://"+address)
}

// Close ends the idle connections. Call it when no call is in hand any more.
func (m *Moms) Close() { m.transport.CloseIdleConnections() }
