package mom

import (
	"context"
	"fmt"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/transport"
	"rampart/transport/api"
)

// orderType returns PBS's number of the request that an order stands for.
func orderType(o *api.Order) int {
	switch {
	case o.GetRun() != nil:
		return 1
	case o.GetKill() != nil, o.GetSignal() != nil:
		return 18
	case o.GetForget() != nil:
		return 6
	case o.GetCheckpoint() != nil:
		return 7
	case o.GetMessage() != nil:
		return 10
	}
	return 11 // of the job: its attributes, or its vnodes
}

// received logs an order that has come, in the words of PBS. An order has no socket of its own.
func (d *delivery) received(ctx context.Context, o *api.Order) {
	d.mom.lines.write(pbs.LogDebug2, "Req", "", fmt.Sprintf("Type %d request received from %s, sock=0", orderType(o), sender(ctx)))
}

// rejected logs an order that is refused, in the words of PBS.
func (d *delivery) rejected(ctx context.Context, o *api.Order, refusal *spool.Refusal) {
	if refusal != nil {
		text := fmt.Sprintf("Reject reply code=%d, aux=0, type=%d, from %s", pbs.Code(refusal.Code).Number(), orderType(o), sender(ctx))
		d.mom.lines.write(pbs.LogDebug, "Req", "req_reject", text)
	}
}

// sender returns whose order it is: the leader's, which PBS knows as root of the server's host.
func sender(ctx context.Context) string {
	caller, _ := transport.CallerFrom(ctx)
	return "root@" + string(caller.Host)
}
