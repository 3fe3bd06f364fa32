package mom

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
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
		api.FrameKind_FRAME_KIND_DISPLAY: proc.FrameDisplay, api.FrameKind_FRAME_KIND_INPUT_END: proc.FrameInputEnd,
	} {
		if uint8(wire) != uint8(shim) {
			t.Errorf("%v is %d at the shim", wire, shim)
		}
	}
	if len(api.FrameKind_name) != 13 {
		t.Errorf("%d kinds on the wire", len(api.FrameKind_name)-1)
	}
}

// A session that comes while its job starts waits for it; when the job does not start it is refused.
func TestAttach_WaitsForTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		comes bool
		code  pbs.Code
	}{
		"it starts":     {true, pbs.CodeOf(nil)},
		"it never does": {false, pbs.BadState},
	} {
		t.Run(name, func(t *testing.T) {
			together(t, func(t *testing.T, p *party) {
				a := p.moms["hosta"]
				p.cutOff(true, "hostc")
				o := a.run("2.srv", "sleep 1000", p.assignment(hostOf(0), hostOf(1), hostOf(2))...)
				for n := range 3 {
					o.GetRun().Hosts = append(o.GetRun().Hosts, &api.RunHost{Name: hostOf(n), Address: hostOf(n) + ":15002"})
				}
				if got := a.deliver(o)[0].GetRefusal(); got != nil {
					t.Fatalf("refused: %v", got)
				}
				session := exec.Command("/bin/sleep", "60")
				session.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				if err := session.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() {
					_ = session.Process.Kill()
					_, _ = session.Process.Wait()
				}()
				answer := make(chan error, 1)
				go func() {
					ctx := context.WithValue(t.Context(), uidKey{}, uint32(0))
					_, err := taskManager{a.mom}.Attach(ctx, connect.NewRequest(&api.AttachRequest{
						Credential: &api.Credential{Job: "2.srv"}, Pid: int64(session.Process.Pid),
					}))
					answer <- err
				}()
				sleep(5 * time.Second)
				select {
				case err := <-answer:
					t.Fatalf("it did not wait: %v", err)
				default:
				}
				p.cutOff(!c.comes, "hostc")
				if err := <-answer; pbs.CodeOf(err) != c.code {
					t.Errorf("answered %v", err)
				}
				running := a.mom.running().task(spool.TaskKey{Job: "2.srv", Run: 1}).Task()
				if attached := len(running.Programs) == 1 && running.Programs[0].Attached; attached != c.comes {
					t.Errorf("the programs of the job are %+v", running.Programs)
				}
			})
		})
	}
}
