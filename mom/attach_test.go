package mom

import (
	"errors"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/transport"
	"rampart/transport/api"
)

// Somebody who attaches may be faster than the order to run the job: he is to come again, and not
// told that there is no such job.
func TestAttach_BeforeTheOrder(t *testing.T) {
	_, err := new(life).attach(t.Context(), nil)
	var refused *pbs.Error
	if connect.CodeOf(err) != connect.CodeUnavailable || errors.As(transport.FromWire(err), &refused) {
		t.Errorf("attach without a task: %v", err)
	}
}

// The frames of the wire and those of a shim's socket have the same numbers.
func TestFrames_SameNumbers(t *testing.T) {
	for wire, shim := range map[api.FrameKind]proc.FrameKind{
		api.FrameKind_FRAME_KIND_ATTACH: proc.FrameAttach, api.FrameKind_FRAME_KIND_INPUT: proc.FrameInput,
		api.FrameKind_FRAME_KIND_SEEN: proc.FrameSeen, api.FrameKind_FRAME_KIND_WINDOW: proc.FrameWindow,
		api.FrameKind_FRAME_KIND_HANGUP: proc.FrameHangup, api.FrameKind_FRAME_KIND_LEFT: proc.FrameLeft,
		api.FrameKind_FRAME_KIND_NOTICE: proc.FrameNotice, api.FrameKind_FRAME_KIND_OUTPUT: proc.FrameOutput,
		api.FrameKind_FRAME_KIND_TAKEN: proc.FrameTaken, api.FrameKind_FRAME_KIND_END: proc.FrameEnd,
	} {
		if uint8(wire) != uint8(shim) {
			t.Errorf("%v is %d at the shim", wire, shim)
		}
	}
	if len(api.FrameKind_name) != 11 {
		t.Errorf("%d kinds on the wire", len(api.FrameKind_name)-1)
	}
}
