package transport

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
)

func TestErrors_ThereAndBack(t *testing.T) {
	errUnknown, errQuorum, errElsewhere := errors.New("unknown"), errors.New("quorum"), errors.New("elsewhere")
	f := Failures{NotLeader: errElsewhere, Unknown: errUnknown, NoQuorum: errQuorum}
	for _, test := range []struct {
		err  error
		wire connect.Code
		code pbs.Code
	}{
		{fmt.Errorf("delete 1.srv: %w", pbs.Refuse(pbs.UnknownJob)), connect.CodeNotFound, pbs.UnknownJob},
		{pbs.Attribute(pbs.BadAttributeValue, "Hold_Types"), connect.CodeInvalidArgument, pbs.BadAttributeValue},
		{pbs.Refuse(pbs.BadState), connect.CodeFailedPrecondition, pbs.BadState},
		{pbs.Refuse(pbs.Unauthorized), connect.CodePermissionDenied, pbs.Unauthorized},
		{fmt.Errorf("submit: %w: %w", errUnknown, context.DeadlineExceeded), connect.CodeAborted, pbs.UnknownResult},
		{fmt.Errorf("read: %w", errQuorum), connect.CodeUnavailable, pbs.NoQuorum},
		{fmt.Errorf("submit: %w", errElsewhere), connect.CodeUnavailable, pbs.SystemError},
		{ErrNotLeader, connect.CodeUnavailable, pbs.SystemError},
		{context.Canceled, connect.CodeCanceled, pbs.SystemError},
		{context.DeadlineExceeded, connect.CodeDeadlineExceeded, pbs.SystemError},
		{errors.New("disk on fire in /var/secret"), connect.CodeInternal, pbs.SystemError},
		{connect.NewError(connect.CodeDataLoss, nil), connect.CodeDataLoss, pbs.SystemError},
	} {
		wire := f.encode(test.err)
		if connect.CodeOf(wire) != test.wire {
			t.Errorf("%v went as %v", test.err, wire)
		}
		if back := FromWire(wire); pbs.CodeOf(back) != test.code {
			t.Errorf("%v came back as %v", test.err, back)
		}
	}
	if got := FromWire(f.encode(fmt.Errorf("alter: %w", pbs.Attribute(pbs.BadAttributeValue, "x")))).Error(); got != "Illegal attribute or resource value x" {
		t.Errorf("the user reads %q", got)
	}
	if got := f.encode(errors.New("disk on fire in /var/secret")).Error(); got != "internal: system error" {
		t.Errorf("the inside got out: %q", got)
	}
	if f.encode(nil) != nil || FromWire(nil) != nil {
		t.Error("nothing became something")
	}
}
