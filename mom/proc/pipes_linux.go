package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"rampart/transport/streams"
)

// pipes are this side of the standard streams of a job to which somebody attaches who has no terminal: what the job
// writes is read joined, as package streams has it.
type pipes struct {
	stdin     *os.File
	outputs   [2]*os.File
	pieces    chan []byte
	rest      []byte // of a piece
	closed    chan struct{}
	closeOnce sync.Once
	leader    atomic.Int64 // pid of the job's first process, whose group hears of a hang-up; 0: nobody does
}

// openPipes returns the pipes, and the job's side of them: its standard input, output and error.
func openPipes() (near *pipes, far []*os.File, err error) {
	p := &pipes{pieces: make(chan []byte), closed: make(chan struct{})}
	var in, out, failed *os.File
	if in, p.stdin, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	if p.outputs[0], out, err = os.Pipe(); err == nil {
		p.outputs[1], failed, err = os.Pipe()
	}
	if err != nil {
		for _, f := range []*os.File{in, p.stdin, out, p.outputs[0]} {
			_ = f.Close() // one that is not there says so
		}
		return nil, nil, err
	}
	var both sync.WaitGroup
	for i, f := range p.outputs {
		both.Go(func() { p.readFrom(f, streams.Output+byte(i)) })
	}
	go func() {
		both.Wait()
		close(p.pieces)
	}()
	return p, []*os.File{in, out, failed}, nil
}

// readFrom passes on what comes by one pipe, until that ends.
func (p *pipes) readFrom(f *os.File, stream byte) {
	buf := make([]byte, MaxFrame-streams.Head)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			select {
			case p.pieces <- streams.Append(nil, stream, buf[:n]):
			case <-p.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Read returns joined output; io.EOF says that both streams have ended.
func (p *pipes) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		piece, more := <-p.pieces
		if !more {
			return 0, io.EOF
		}
		p.rest = piece
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Write gives the job input. A job that has closed its own does without.
func (p *pipes) Write(b []byte) (int, error) {
	n, err := p.stdin.Write(b)
	if errors.Is(err, unix.EPIPE) {
		return len(b), nil
	}
	return n, err
}

// CloseWrite ends the input.
func (p *pipes) CloseWrite() error { return p.stdin.Close() }

// Close cuts the line: as at a terminal the job is told by SIGHUP.
func (p *pipes) Close() error {
	p.closeOnce.Do(func() {
		close(p.closed)
		if leader := int(p.leader.Load()); leader > 0 {
			_ = unix.Kill(-leader, unix.SIGHUP) // it may have ended
		}
		_ = p.stdin.Close()
		for _, f := range p.outputs {
			_ = f.Close()
		}
	})
	return nil
}
