package conformance

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"rampart/transport/x11"
)

// A screen is somebody's display: an X server as far as the key goes, by which it knows who may use it.
type screen struct {
	t             *testing.T
	display, keys string
	key           []byte
	listener      net.Listener
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	d := x11.Display{Host: "127.0.0.1", Number: l.Addr().(*net.TCPAddr).Port - 6000}
	s := &screen{t: t, display: d.String(), keys: filepath.Join(t.TempDir(), "keys"), key: []byte("of the screen"), listener: l}
	if err := os.WriteFile(s.keys, x11.KeyFile(d.Number, s.key), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

var jobDisplay = regexp.MustCompile(`at:(localhost:[0-9.]+):(/[^:]+):`)

// shows has a program of the job connect to the display that the job has, with the key that the job has for it.
func (s *screen) shows(p *typist) {
	s.t.Helper()
	at := jobDisplay.FindStringSubmatch(p.shown.String())
	if at == nil {
		s.t.Fatalf("the job has no display: %s", p.shown.String())
	}
	d, err := x11.ParseDisplay(at[1])
	if err != nil {
		s.t.Fatal(err)
	}
	file, err := os.ReadFile(at[2])
	if err != nil {
		s.t.Fatal(err)
	}
	key, err := x11.KeyFor(bytes.NewReader(file), d, "", nil)
	if err != nil || bytes.Equal(key, s.key) {
		s.t.Fatalf("the job's key is %q, %v", key, err)
	}
	waitFor(s.t, patience, "a program to be shown", func() error { return s.show(d, key) })
}

// show plays a program and the screen that it is shown at.
func (s *screen) show(d x11.Display, key []byte) error {
	network, address := d.Address()
	program, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer program.Close()
	first := append([]byte{'l', 0, 11, 0, 0, 0, byte(len(x11.Cookie)), 0, byte(len(key)), 0, 0, 0}, x11.Cookie+"\x00\x00"...)
	if _, err := program.Write(append(first, key...)); err != nil { // the key is 16 bytes long: none are to fill up
		return err
	}
	if err := s.listener.(*net.TCPListener).SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	server, err := s.listener.Accept()
	if err != nil {
		return err
	}
	defer server.Close()
	if _, err := x11.Exchange(server, s.key, nil); err != nil {
		return err
	}
	if _, err := io.WriteString(server, "welcome"); err != nil {
		return err
	}
	_, err = io.ReadFull(program, make([]byte, len("welcome")))
	return err
}
