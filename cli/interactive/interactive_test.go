package interactive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// glass is a terminal that nobody resizes.
type glass struct {
	cli.Console
	signals chan os.Signal
	raw     int
}

func (g *glass) Raw() (func(), error)      { g.raw++; return func() { g.raw = 0 }, nil }
func (g *glass) Size() (uint16, uint16)    { return 24, 80 }
func (g *glass) Resized() <-chan os.Signal { return nil }

// deleter notes what is deleted.
type deleter struct {
	apiconnect.BatchClient
	deleted []string
}

func (d *deleter) Delete(_ context.Context, r *connect.Request[api.DeleteRequest]) (*connect.Response[api.DeleteReply], error) {
	d.deleted = append(d.deleted, r.Msg.GetJob())
	return connect.NewResponse(&api.DeleteReply{}), nil
}

func sit(stdin io.Reader) (i *Session, g *glass, d *deleter, shown *bytes.Buffer) {
	g, d, shown = &glass{signals: make(chan os.Signal, 1)}, new(deleter), new(bytes.Buffer)
	env := &cli.Env{Stdin: stdin, Stdout: shown, NewRequestID: func() string { return "1" }, WithRequestID: func(ctx context.Context, _ string) context.Context { return ctx }}
	told := map[Moment]string{Over: "completed"}
	return &Session{Env: env, Batch: d, Console: g, signals: g.signals, Job: "1.srv", Tell: func(m Moment, _ string) { shown.WriteString(told[m]) }}, g, d, shown
}

var errAway = connect.NewError(connect.CodeUnavailable, errors.New("nobody answers"))

// TestWork_GivesUpWhenTheSessionIsGone: servers that never answer any more leave nobody at a dead terminal; a
// while without them does.
func TestWork_GivesUpWhenTheSessionIsGone(t *testing.T) {
	for _, away := range []time.Duration{5 * time.Minute, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			keys, typist := io.Pipe()
			defer typist.Close()
			i, g, _, shown := sit(keys)
			begun, first := time.Now(), true
			err := i.work(t.Context(), func(_ context.Context, r *remote, ready func()) error {
				switch lost := time.Since(begun); {
				case first:
					first = false
					ready()
				case lost >= away:
					ready()
					r.change(func() { r.ended = true })
					return nil
				}
				return errAway
			})
			took := time.Since(begun)
			if away < sessionGone && (err != nil || !strings.Contains(shown.String(), "completed")) {
				t.Errorf("away for %v: %v after %v: %s", away, err, took, shown)
			}
			if away > sessionGone && (!errors.Is(err, errAway) || took < sessionGone || took > sessionGone+2*attachAgainMost || strings.Contains(shown.String(), "completed")) {
				t.Errorf("away for %v: %v after %v: %s", away, err, took, shown)
			}
			if g.raw != 0 {
				t.Errorf("away for %v: the terminal is not given back", away)
			}
		})
	}
}

// TestWork_InterruptedBeforeItBegins: whoever waits for a session that cannot be reached yet may give the job up.
func TestWork_InterruptedBeforeItBegins(t *testing.T) {
	for name, c := range map[string]struct {
		sig    os.Signal
		answer string
	}{"^C": {os.Interrupt, "y\n"}, "hung up": {syscall.SIGHUP, ""}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i, g, d, _ := sit(strings.NewReader(c.answer))
				time.AfterFunc(time.Minute, func() { g.signals <- c.sig })
				err := i.work(t.Context(), func(context.Context, *remote, func()) error { return errAway })
				if !errors.Is(err, errDeleted) || len(d.deleted) != 1 || d.deleted[0] != "1.srv" {
					t.Errorf("%v, deleted %v", err, d.deleted)
				}
			})
		})
	}
}
