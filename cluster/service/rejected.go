package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api/apiconnect"
)

// requestTypes are PBS's numbers of the requests that change something.
var requestTypes = map[string]int{
	apiconnect.BatchSubmitProcedure: typeSubmit, apiconnect.BatchAlterProcedure: typeAlter, apiconnect.BatchHoldProcedure: typeHold,
	apiconnect.BatchReleaseProcedure: typeRelease, apiconnect.BatchSignalProcedure: typeSignal, apiconnect.BatchDeleteProcedure: typeDelete,
	apiconnect.BatchRerunProcedure: typeRerun, apiconnect.BatchRunProcedure: typeRun, apiconnect.BatchMessageProcedure: typeMessage,
	apiconnect.BatchMoveProcedure: typeMove, apiconnect.BatchSwapProcedure: typeOrder, apiconnect.BatchManageProcedure: typeManage,
	apiconnect.BatchConfigureProcedure: typeManage, apiconnect.BatchImportHookProcedure: typeManage, apiconnect.BatchReleaseNodesProcedure: typeRelNode,
	apiconnect.BatchReserveProcedure: typeReserve, apiconnect.BatchAlterReservationProcedure: typeAlterResv,
	apiconnect.BatchDeleteReservationProcedure: typeDropResv,
}

// rejected logs a request that was refused, in the words of PBS. What has failed for other reasons
// is no refusal, and is asked again.
func (c *base) rejected(ctx context.Context, r connect.AnyRequest, err error) {
	refusal, ok := errors.AsType[*pbs.Error](err)
	number, known := requestTypes[r.Spec().Procedure]
	if !ok || !known || c.Log == nil {
		return
	}
	who := ""
	if caller, ok := transport.CallerFrom(ctx); ok {
		who = caller.User.String()
	}
	text := fmt.Sprintf("Reject reply code=%d, aux=0, type=%d, from %s", refusal.Code.Number(), number, who)
	if err := c.Log.Write(time.Now(), pbs.LogDebug, "Req", "req_reject", text); err != nil {
		c.Logger.Error("write the server log", "error", err)
	}
}
