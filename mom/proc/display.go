package proc

import (
	"errors"
	"net"
	"syscall"
	"time"

	"rampart/transport/x11"
)

const (
	// firstDisplay is the number of the first display of a job; those below are of people who are at the host,
	// and of ssh's. lastDisplay bounds how many a host has.
	firstDisplay = 50
	lastDisplay  = 999
	// displayWait is how long a program waits for somebody to show it to.
	displayWait = 10 * time.Second
	// keyFile is the file in a shim's folder with the key to the display of its job.
	keyFile = "xauthority"
)

// A display is where the programs of an interactive job connect to be shown elsewhere. Each of them gets a connection of
// its own to who is at the terminal, from those that have come for it: qsub keeps one more than it needs.
type display struct {
	number    int
	listeners []net.Listener // loopback: IPv4 and, where a host has it, IPv6
	programs  chan net.Conn
	closed    chan struct{}
}

// openDisplay finds a number that is free at all loopback addresses, so that nobody else has a part of it.
func openDisplay() (*display, error) {
	for number := firstDisplay; number <= lastDisplay; number++ {
		all, err := listenDisplay(number)
		if err == nil {
			d := newDisplay(all...)
			d.number = number
			return d, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, errors.New("all displays of the host are in use")
}

func listenDisplay(number int) ([]net.Listener, error) {
	four, err := net.Listen(x11.Display{Host: "127.0.0.1", Number: number}.Address())
	if err != nil {
		return nil, err
	}
	six, err := net.Listen(x11.Display{Host: "::1", Number: number}.Address())
	switch {
	case err == nil:
		return []net.Listener{four, six}, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, errors.Join(err, four.Close())
	}
	return []net.Listener{four}, nil // a host without IPv6
}

func newDisplay(listeners ...net.Listener) *display {
	d := &display{listeners: listeners, programs: make(chan net.Conn), closed: make(chan struct{})}
	for _, l := range listeners {
		go d.accept(l)
	}
	return d
}

// accept offers one program after the other.
func (d *display) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		late := time.NewTimer(displayWait)
		select {
		case d.programs <- c:
		case <-late.C:
			_ = c.Close()
		case <-d.closed:
			_ = c.Close()
		}
		late.Stop()
	}
}

// carry waits for a program, says that there is one, and carries what goes both ways until one side ends.
func (d *display) carry(c net.Conn) {
	given := make(chan net.Conn, 1)
	left := make(chan struct{})
	go func() {
		defer close(left)
		var program net.Conn
		for {
			f, err := ReadFrame(c)
			if program == nil {
				select {
				case program = <-given:
				default: // nothing is said before there is one
					return
				}
			}
			if err == nil && f.Kind == FrameInput {
				_, err = program.Write(f.Data)
			}
			if err != nil {
				_ = program.Close()
				return
			}
		}
	}()
	select {
	case <-left:
	case <-d.closed:
	case program := <-d.programs:
		given <- program
		defer program.Close()
		err := WriteFrame(c, Frame{Kind: FrameDisplay})
		buf := make([]byte, MaxFrame)
		for err == nil {
			var n int
			if n, err = program.Read(buf); n > 0 {
				err = errors.Join(err, WriteFrame(c, Frame{Kind: FrameOutput, Data: buf[:n]}))
			}
		}
	}
}

// close ends the display; what is connected goes on until its programs end.
func (d *display) close() {
	close(d.closed)
	for _, l := range d.listeners {
		_ = l.Close()
	}
}
