package interactive

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rampart/transport/api"
	"rampart/transport/streams"
)

// TestRemote_InputEnds: the end of the input goes after all of it, and again by each new connection.
func TestRemote_InputEnds(t *testing.T) {
	r := newRemote("1.srv", new(bytes.Buffer), func() (uint16, uint16) { return 0, 0 })
	r.typed(t.Context(), []byte("abc"))
	r.change(func() { r.inputEnds = true })
	for _, known := range []heard{{}, {input: 1}, {input: 3}} {
		var got []api.FrameKind
		at := uint64(0)
		for f := r.next(&known); f != nil; f = r.next(&known) {
			got, at = append(got, f.GetKind()), f.GetOffset()
		}
		want := []api.FrameKind{api.FrameKind_FRAME_KIND_INPUT, api.FrameKind_FRAME_KIND_INPUT_END}
		if len(got) == 1 {
			want = want[1:]
		}
		if !slices.Equal(got, want) || at != 3 {
			t.Errorf("said %v, the last one of %d", got, at)
		}
	}
}

// TestWork_AtPipes: standard input goes to the job with its end, output comes apart, signals delete the job, and nothing of
// the terminal is touched.
func TestWork_AtPipes(t *testing.T) {
	for name, sig := range map[string]os.Signal{"": nil, "interrupted": os.Interrupt, "hung up": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i, g, d, shown := sit(strings.NewReader("typed ~.\n"))
				var errs bytes.Buffer
				i.Env.Stderr, i.Piped = &errs, true
				err := i.work(t.Context(), func(_ context.Context, r *remote, ready func()) error {
					ready()
					synctest.Wait()
					if string(r.input) != "typed ~.\n" || !r.inputEnds {
						t.Errorf("input %q, its end %v", r.input, r.inputEnds)
					}
					if sig != nil {
						g.signals <- sig
						synctest.Wait()
					}
					joined := streams.Append(streams.Append(nil, streams.Output, []byte("out")), streams.Errors, []byte("err"))
					r.take(&api.Frame{Kind: api.FrameKind_FRAME_KIND_OUTPUT, Data: joined})
					r.take(&api.Frame{Kind: api.FrameKind_FRAME_KIND_END})
					return nil
				})
				if err != nil || shown.String() != "outcompleted" || errs.String() != "err" || g.raw != 0 {
					t.Errorf("%v, output %q, errors %q", err, shown, errs.String())
				}
				if deleted := sig != nil; deleted != slices.Equal(d.deleted, []string{"1.srv"}) {
					t.Errorf("deleted %v", d.deleted)
				}
			})
		})
	}
}

// TestWork_PipesInterruptedTwice: a second signal leaves a session that does not end.
func TestWork_PipesInterruptedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, g, _, _ := sit(strings.NewReader(""))
		i.Env.Stderr, i.Piped = new(bytes.Buffer), true
		began := time.Now()
		err := i.work(t.Context(), func(ctx context.Context, _ *remote, ready func()) error {
			ready()
			g.signals <- os.Interrupt
			synctest.Wait()
			g.signals <- os.Interrupt
			<-ctx.Done()
			return ctx.Err()
		})
		if err != nil || time.Since(began) > lastLook {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

var errFull = errors.New("no space left on device")

// full is a disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestWork_TellsOfLostOutput: where the output of the job cannot be written it is not said that all went well.
func TestWork_TellsOfLostOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, _, _, _ := sit(strings.NewReader(""))
		i.Env.Stdout, i.Piped = full{}, true
		err := i.work(t.Context(), func(_ context.Context, r *remote, ready func()) error {
			ready()
			r.take(&api.Frame{Kind: api.FrameKind_FRAME_KIND_OUTPUT, Data: streams.Append(nil, streams.Output, []byte("out"))})
			r.take(&api.Frame{Kind: api.FrameKind_FRAME_KIND_END})
			return nil
		})
		if !errors.Is(err, errFull) {
			t.Errorf("%v", err)
		}
	})
}
