package server

import (
	"context"

	"connectrpc.com/connect"

	"rampart/cluster/recovery"
	"rampart/cluster/service"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

func (p *peers) recoveryAt(address string) apiconnect.RecoveryClient {
	return apiconnect.NewRecoveryClient(p.http, "https://"+address, transport.Uncompressed())
}

// LogEnd implements cluster.Peers.
func (p *peers) LogEnd(ctx context.Context, address string) (recovery.LogEnd, error) {
	reply, err := p.recoveryAt(address).LogEnd(ctx, connect.NewRequest(&api.LogEndRequest{}))
	if err != nil {
		return recovery.LogEnd{}, transport.FromWire(err)
	}
	return service.EndOf(reply.Msg.GetEnd()), nil
}

// Recover implements cluster.Peers.
func (p *peers) Recover(ctx context.Context, address string, d recovery.Disaster) (recovery.Rescue, error) {
	reply, err := p.recoveryAt(address).Recover(ctx, connect.NewRequest(service.DisasterMessage(d)))
	if err != nil {
		return recovery.Rescue{}, transport.FromWire(err)
	}
	return service.RescueOf(reply.Msg), nil
}
