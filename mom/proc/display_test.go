//go:build linux

package proc

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A door is a listener to which programs come by calls.
type door struct {
	come   chan net.Conn
	closed chan struct{}
}

func newDoor() *door { return &door{make(chan net.Conn), make(chan struct{})} }

func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.come:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}
func (d *door) Close() error   { close(d.closed); return nil }
func (d *door) Addr() net.Addr { return &net.TCPAddr{} }

// program connects one; it returns its end.
func (d *door) program() net.Conn {
	here, there := net.Pipe()
	go func() { d.come <- there }()
	return here
}

// viewer connects somebody who shows programs, as a mom does.
func viewer(s *session) net.Conn {
	here, there := net.Pipe()
	go s.hear(there)
	_ = WriteFrame(here, Frame{Kind: FrameDisplay})
	return here
}

func shown(t *testing.T, do func(s *session, at *door)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		at := newDoor()
		d := newDisplay(at)
		s := newSession(newLine(), nil, d)
		do(s, at)
		d.close()
		s.hangUp()
	})
}

func TestDisplay_EachProgramHasAViewer(t *testing.T) {
	shown(t, func(s *session, at *door) {
		for i := range 2 {
			program, v := at.program(), viewer(s)
			if f, err := ReadFrame(v); err != nil || f.Kind != FrameDisplay {
				t.Fatalf("viewer %d is told %v, %v", i, f, err)
			}
			go func() { _, _ = io.WriteString(program, "draw") }()
			if f, err := ReadFrame(v); err != nil || f.Kind != FrameOutput || string(f.Data) != "draw" {
				t.Errorf("viewer %d reads %v, %v", i, f, err)
			}
			go func() { _ = WriteFrame(v, Frame{Kind: FrameInput, Data: []byte("key")}) }()
			buf := make([]byte, 3)
			if _, err := io.ReadFull(program, buf); err != nil || string(buf) != "key" {
				t.Errorf("program %d reads %q, %v", i, buf, err)
			}
			_ = program.Close()
			if f, err := ReadFrame(v); err == nil {
				t.Errorf("viewer %d of a program that has ended reads %v", i, f)
			}
		}
	})
}

// A program's connection ends with its viewer's: X has no way to go on.
func TestDisplay_EndsWithTheViewer(t *testing.T) {
	shown(t, func(s *session, at *door) {
		program := at.program()
		v := viewer(s)
		if _, err := ReadFrame(v); err != nil {
			t.Fatal(err)
		}
		_ = v.Close()
		if _, err := program.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the program reads %v", err)
		}
	})
}

// One that is gone before a program has come gets none; the next one does.
func TestDisplay_PassesOverWhoHasLeft(t *testing.T) {
	shown(t, func(s *session, at *door) {
		_ = viewer(s).Close()
		synctest.Wait()
		program := at.program()
		v := viewer(s)
		if f, err := ReadFrame(v); err != nil || f.Kind != FrameDisplay {
			t.Errorf("%v, %v", f, err)
		}
		_, _ = v.Close(), program.Close()
	})
}

func TestDisplay_ProgramsDoNotWaitForEver(t *testing.T) {
	shown(t, func(s *session, at *door) {
		program, begun := at.program(), time.Now()
		if _, err := program.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(begun) != displayWait {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}

// Two jobs of a host have displays of their own.
func TestOpenDisplay(t *testing.T) {
	one, err := openDisplay()
	if err != nil {
		t.Fatal(err)
	}
	defer one.close()
	other, err := openDisplay()
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if one.number < firstDisplay || other.number <= one.number {
		t.Errorf("displays %d and %d", one.number, other.number)
	}
}
