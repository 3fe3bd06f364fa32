package interactive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	"rampart/cli"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/x11"
)

const (
	// keyLength is the length of the key that a job's programs get, in bytes.
	keyLength = 16
	// firstWords is how long a program may take to say who it is: anybody on the job's host may connect, and say nothing.
	firstWords = 10 * time.Second
)

// A Viewer shows the programs of an interactive job at the display of whoever waits for it. The programs know a key that is good for the
// way here only; that of the display stays on this host.
type Viewer struct {
	env     *cli.Env
	display x11.Display
	key     []byte // of the programs
}

// NewViewer returns the viewer of the display that the environment names.
func NewViewer(env *cli.Env) (*Viewer, error) {
	text := env.Getenv("DISPLAY")
	if text == "" {
		return nil, errors.New("DISPLAY not set")
	}
	d, err := x11.ParseDisplay(text)
	if err != nil {
		return nil, err
	}
	v := &Viewer{env: env, display: d, key: make([]byte, keyLength)}
	_, err = rand.Read(v.key)
	return v, err
}

// Grant returns what the job has to know: the value of forward_x11_cookie.
func (v *Viewer) Grant() string { return x11.Grant{Key: v.key, Screen: v.display.Screen}.String() }

// serve keeps a connection to the job for the next of its programs, until ctx ends.
func (v *Viewer) serve(ctx context.Context, job string, open func(context.Context) terminalStream) {
	for pause := attachAgain; ctx.Err() == nil; pause = min(2*pause, attachAgainMost) {
		each, end := context.WithCancel(ctx)
		stream := open(each)
		leave := func() {
			end()
			_ = stream.CloseRequest()
			_ = stream.CloseResponse()
		}
		err := await(stream, job)
		if err == nil {
			pause = attachAgain / 2
			go func() {
				defer leave()
				v.show(each, end, stream)
			}()
			continue
		}
		leave()
		if final(err) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// await waits until a program wants to be shown.
func await(stream terminalStream, job string) error {
	if err := stream.Send(&api.TerminalUp{Job: job, Frame: &api.Frame{Kind: api.FrameKind_FRAME_KIND_DISPLAY}}); err != nil && !errors.Is(err, io.EOF) {
		return transport.FromWire(err)
	}
	for {
		msg, err := stream.Receive()
		if err != nil {
			return transport.FromWire(err)
		}
		if msg.GetFrame().GetKind() == api.FrameKind_FRAME_KIND_DISPLAY {
			return nil
		}
	}
}

// show connects a program to the display until one of them ends; cut ends the stream.
func (v *Viewer) show(ctx context.Context, cut func(), stream terminalStream) {
	p := &program{stream: stream}
	late := time.AfterFunc(firstWords, cut)
	server, err := v.connect(ctx, p)
	late.Stop()
	if err != nil {
		fmt.Fprintf(v.env.Stderr, "display %s: %v\r\n", v.display, err)
		return
	}
	closed := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer closed()
	defer server.Close()
	done := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(server, p)
		done <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(p, server)
		done <- struct{}{}
	}()
	<-done
}

// connect opens a connection to the display, and says there what the program has said first, with the key that counts here.
func (v *Viewer) connect(ctx context.Context, p *program) (net.Conn, error) {
	network, address := v.display.Address()
	server, err := v.env.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	key, err := v.ownKey(server.RemoteAddr())
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	first, err := x11.Exchange(p, v.key, key)
	if err == nil {
		_, err = server.Write(first)
	}
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return server, nil
}

// ownKey finds the key to the display; nil: there is none, and whoever connects may use it.
func (v *Viewer) ownKey(at net.Addr) ([]byte, error) {
	name := v.env.Getenv("XAUTHORITY")
	if name == "" {
		name = filepath.Join(v.env.Getenv("HOME"), ".Xauthority")
	}
	f, err := v.env.Open(name)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	host, err := v.env.Hostname()
	if err != nil {
		return nil, err
	}
	var addresses []net.IP
	if tcp, ok := at.(*net.TCPAddr); ok {
		addresses = []net.IP{tcp.IP}
	}
	return x11.KeyFor(f, v.display, host, addresses)
}

// A program is one of the job's, at the other end of a stream: what it says is read, what it is told is written.
type program struct {
	stream terminalStream
	said   []byte // that nobody has read
}

// Read implements io.Reader.
func (p *program) Read(b []byte) (int, error) {
	for len(p.said) == 0 {
		msg, err := p.stream.Receive()
		if err != nil {
			return 0, io.EOF
		}
		if f := msg.GetFrame(); f.GetKind() == api.FrameKind_FRAME_KIND_OUTPUT {
			p.said = f.GetData()
		}
	}
	n := copy(b, p.said)
	p.said = p.said[n:]
	return n, nil
}

// Write implements io.Writer.
func (p *program) Write(b []byte) (int, error) {
	for at := 0; at < len(b); at += maxPiece {
		piece := b[at:min(at+maxPiece, len(b))]
		if err := p.stream.Send(&api.TerminalUp{Frame: &api.Frame{Kind: api.FrameKind_FRAME_KIND_INPUT, Data: piece}}); err != nil {
			return at, err
		}
	}
	return len(b), nil
}
