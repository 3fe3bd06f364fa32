package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// requestTypes are PBS's numbers of the requests on jobs and objects that change something, and statusTypes those
// of such that ask for them.
var requestTypes = map[string]int{
	apiconnect.BatchSubmitProcedure: typeSubmit, apiconnect.BatchAlterProcedure: typeAlter, apiconnect.BatchHoldProcedure: typeHold,
	apiconnect.BatchReleaseProcedure: typeRelease, apiconnect.BatchSignalProcedure: typeSignal, apiconnect.BatchDeleteProcedure: typeDelete,
	apiconnect.BatchRerunProcedure: typeRerun, apiconnect.BatchRunProcedure: typeRun, apiconnect.BatchMessageProcedure: typeMessage,
	apiconnect.BatchMoveProcedure: typeMove, apiconnect.BatchSwapProcedure: typeOrder, apiconnect.BatchManageProcedure: typeManage,
	apiconnect.BatchConfigureProcedure: typeManage, apiconnect.BatchImportHookProcedure: typeManage, apiconnect.BatchReleaseNodesProcedure: typeRelNode,
	apiconnect.BatchReserveProcedure: typeReserve, apiconnect.BatchAlterReservationProcedure: typeAlterResv,
	apiconnect.BatchDeleteReservationProcedure: typeDropResv,
}

var statusTypes = map[api.ObjectKind]int{
	api.ObjectKind_OBJECT_KIND_JOB: typeStatus, api.ObjectKind_OBJECT_KIND_QUEUE: typeStatusQueue, api.ObjectKind_OBJECT_KIND_SERVER: typeStatusServer,
	api.ObjectKind_OBJECT_KIND_VNODE: typeStatusNode, api.ObjectKind_OBJECT_KIND_HOST: typeStatusNode, api.ObjectKind_OBJECT_KIND_RESERVATION: typeStatusResv,
	api.ObjectKind_OBJECT_KIND_SCHED: typeStatusSched, api.ObjectKind_OBJECT_KIND_RESOURCE: typeStatusResource, api.ObjectKind_OBJECT_KIND_HOOK: typeStatusHook,
	api.ObjectKind_OBJECT_KIND_PBSHOOK: typeStatusHook,
}

// say writes a line into the server log of this replica and, of a request that came by another one, into that one's, too.
func (c *base) say(ctx context.Context, event uint16, class, object, text string) {
	if c.Log == nil {
		return
	}
	if err := c.Log.Write(time.Now(), event, class, object, text); err != nil {
		c.Logger.Error("write the server log", "error", err)
	}
	transport.Note(ctx, transport.LogLine{Event: event, Class: class, Object: object, Text: text})
}

// received logs a request that has come, in the words of PBS. Where PBS has the number of a socket, it is the port of whoever is at the other end of the
// connection, 0 if there is none.
func (c *base) received(ctx context.Context, peer connect.Peer, number int) {
	_, port, _ := net.SplitHostPort(peer.Addr)
	text := fmt.Sprintf("Type %d request received from %s, sock=%s", number, asker(ctx), cmp.Or(port, "0"))
	c.say(ctx, pbs.LogDebug2, "Req", "", text)
}

// asker returns who has sent a request.
func asker(ctx context.Context) string {
	if caller, ok := transport.CallerFrom(ctx); ok {
		return caller.User.String()
	}
	return ""
}

// statusType returns the number of a request for the status of objects.
func statusType(r *api.ListRequest) (number int, known bool) {
	number, known = statusTypes[r.GetKind()]
	if number == typeStatus && len(r.GetWhere()) > 0 {
		number = typeSelect
	}
	return number, known
}

// rejected logs a request that was refused, in the words of PBS. What has failed for other reasons
// is no refusal, and is asked again.
func (c *base) rejected(ctx context.Context, r connect.AnyRequest, err error) {
	if number, known := requestTypes[r.Spec().Procedure]; known {
		c.rejectedAs(ctx, number, err)
	}
}

// rejectedAs is rejected for a request of a type.
func (c *base) rejectedAs(ctx context.Context, number int, err error) {
	refusal, ok := errors.AsType[*pbs.Error](err)
	if !ok {
		return
	}
	text := fmt.Sprintf("Reject reply code=%d, aux=0, type=%d, from %s", refusal.Code.Number(), number, asker(ctx))
	c.say(ctx, pbs.LogDebug, "Req", "req_reject", text)
}
