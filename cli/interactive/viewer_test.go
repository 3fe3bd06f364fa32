package interactive

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/x11"
)

// A jobEnd is the other end of a stream on which a program is shown.
type jobEnd struct {
	ctx      context.Context
	up, down chan *api.Frame
	refusal  chan error
}

func (e *jobEnd) Send(m *api.TerminalUp) error {
	select {
	case e.up <- m.GetFrame():
		return nil
	case <-e.ctx.Done():
		return io.EOF
	}
}

func (e *jobEnd) Receive() (*api.TerminalDown, error) {
	select {
	case err := <-e.refusal:
		return nil, err
	case f, ok := <-e.down:
		if ok {
			return &api.TerminalDown{Frame: f}, nil
		}
	case <-e.ctx.Done():
	}
	return nil, errAway
}

func (*jobEnd) CloseRequest() error  { return nil }
func (*jobEnd) CloseResponse() error { return nil }

func (e *jobEnd) says(data []byte) {
	e.down <- &api.Frame{Kind: api.FrameKind_FRAME_KIND_OUTPUT, Data: data}
}

// saying returns the first words of a program with a key.
func saying(key []byte) []byte {
	head := []byte{'l', 0, 11, 0, 0, 0, byte(len(x11.Cookie)), 0, byte(len(key)), 0, 0, 0}
	text := append([]byte(x11.Cookie+"\x00\x00"), key...)
	return append(append(head, text...), make([]byte, -len(key)&3)...)
}

// seat is somebody at a display, and the streams to his job.
type seat struct {
	viewer  *Viewer
	said    *bytes.Buffer
	servers chan net.Conn // what is connected to the display
	opened  chan *jobEnd
}

func sitAtDisplay(t *testing.T, ctx context.Context, key []byte) *seat {
	t.Helper()
	s := &seat{said: new(bytes.Buffer), servers: make(chan net.Conn, 1), opened: make(chan *jobEnd)}
	files := fstest.MapFS{"keys": {Data: x11.KeyFile(3, key)}}
	env := &cli.Env{
		Stderr: s.said, Hostname: func() (string, error) { return "here", nil },
		Environ: func() []string { return []string{"DISPLAY=:3.1", "XAUTHORITY=keys"} },
		Open:    func(name string) (fs.File, error) { return files.Open(name) },
		Dial: func(_ context.Context, network, address string) (net.Conn, error) {
			if network != "unix" || address != "/tmp/.X11-unix/X3" {
				t.Errorf("the display is looked for at %s %s", network, address)
			}
			here, there := net.Pipe()
			s.servers <- there
			return here, nil
		},
	}
	v, err := NewViewer(env)
	if err != nil {
		t.Fatal(err)
	}
	s.viewer = v
	go v.serve(ctx, "1.srv", func(ctx context.Context) terminalStream {
		e := &jobEnd{ctx: ctx, up: make(chan *api.Frame, 1), down: make(chan *api.Frame), refusal: make(chan error)}
		select {
		case s.opened <- e:
		case <-ctx.Done():
		}
		return e
	})
	return s
}

// Each program is shown with the key of the display, which the job never sees; while it is, the next one is waited for.
func TestViewer_ExchangesKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		own := []byte("the display's")
		s := sitAtDisplay(t, ctx, own)
		grant, err := x11.ParseGrant(s.viewer.Grant())
		if err != nil || grant.Screen != 1 || len(grant.Key) != keyLength || bytes.Contains(grant.Key, own) {
			t.Fatalf("the job is told %q, %v", s.viewer.Grant(), err)
		}
		for range 2 {
			e := <-s.opened
			if f := <-e.up; f.GetKind() != api.FrameKind_FRAME_KIND_DISPLAY {
				t.Fatalf("the job is asked %v", f)
			}
			e.down <- &api.Frame{Kind: api.FrameKind_FRAME_KIND_DISPLAY}
			e.says(append(saying(grant.Key), "draw"...))
			server := <-s.servers
			want := append(saying(own), "draw"...)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(server, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the display hears %q, %v; want %q", got, err, want)
			}
			if _, err := io.WriteString(server, "key"); err != nil {
				t.Error(err)
			}
			if f := <-e.up; string(f.GetData()) != "key" {
				t.Errorf("the program hears %v", f)
			}
		}
		cancel()
		synctest.Wait()
		if s.said.Len() > 0 {
			t.Errorf("said %q", s.said)
		}
	})
}

// Whoever connects on the job's host without its key is shown nothing.
func TestViewer_TurnsAwayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := sitAtDisplay(t, ctx, []byte("the display's"))
		e := <-s.opened
		<-e.up
		e.down <- &api.Frame{Kind: api.FrameKind_FRAME_KIND_DISPLAY}
		e.says(saying([]byte("guessed and tried")))
		server := <-s.servers
		if n, err := server.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the display hears %d bytes, %v", n, err)
		}
		synctest.Wait()
		if !strings.Contains(s.said.String(), x11.ErrWrongKey.Error()) {
			t.Errorf("said %q", s.said)
		}
	})
}

// One that says nothing keeps its connection, and that to the display, for a while only.
func TestViewer_WaitsForNobodyForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := sitAtDisplay(t, ctx, nil)
		e := <-s.opened
		<-e.up
		e.down <- &api.Frame{Kind: api.FrameKind_FRAME_KIND_DISPLAY}
		server, begun := <-s.servers, time.Now()
		if n, err := server.Read(make([]byte, 1)); err != io.EOF || time.Since(begun) != firstWords {
			t.Errorf("after %v the display hears %d bytes, %v", time.Since(begun), n, err)
		}
	})
}

// A connection that broke is made anew; a job that is over is not asked again.
func TestViewer_ComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := sitAtDisplay(t, ctx, nil)
		for range 30 {
			e := <-s.opened
			<-e.up
			close(e.down)
		}
		begun := time.Now()
		e := <-s.opened
		if took := time.Since(begun); took > attachAgainMost {
			t.Errorf("it comes back after %v", took)
		}
		<-e.up
		e.refusal <- pbs.Refuse(pbs.BadState)
		select {
		case <-s.opened:
			t.Error("it asks again a job that has ended")
		case <-time.After(time.Hour):
		}
	})
}

func TestNewViewer_Refusals(t *testing.T) {
	for display, want := range map[string]string{"": "DISPLAY not set", "nonsense": `DISPLAY "nonsense" is not [HOST]:NUMBER[.SCREEN]`} {
		env := &cli.Env{Environ: func() []string { return []string{"DISPLAY=" + display} }}
		if _, err := NewViewer(env); err == nil || err.Error() != want {
			t.Errorf("%q: %v", display, err)
		}
	}
}
