package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// longestLine is how long a line of a trace may be.
const longestLine = 1 << 20

// An input is the lines of files, one after the other, each plain or compressed by gzip.
type input struct {
	files []string
	sizes []int64
	total int64 // bytes of all files
	past  int64 // bytes of those that are behind

	name string
	line int
	file *os.File
	seen *counter      // bytes of the file
	raw  *bufio.Reader // of them, those that are read ahead
	out  *counter      // bytes of lines: those of the file, or what they unpack to
	in   *bufio.Reader
	long []byte

	last  []byte // the line that next has returned
	again bool   // and that it returns once more
}

// A counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func openInput(files []string) (*input, error) {
	in := &input{files: files}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		in.sizes = append(in.sizes, info.Size())
		in.total += info.Size()
	}
	return in, nil
}

// next returns the next line without its end, which is good until the next call.
func (in *input) next() ([]byte, error) {
	if in.again {
		in.again = false
		return in.last, nil
	}
	for {
		if in.in == nil {
			if err := in.open(); err != nil {
				return nil, err
			}
		}
		line, err := in.read()
		if err == nil || len(line) > 0 {
			in.line++
			in.last = bytes.TrimRight(line, "\r\n")
			return in.last, nil
		}
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:%d: %w", in.name, in.line+1, err)
		}
		in.shut()
	}
}

// unread has next return the last line once more: what comes from a pipe is there once only.
func (in *input) unread() { in.again = true }

// read reads a line; of one that is too long the rest is dropped.
func (in *input) read() ([]byte, error) {
	part, err := in.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	in.long = append(in.long[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = in.in.ReadSlice('\n')
		if len(in.long) < longestLine {
			in.long = append(in.long, part...)
		}
	}
	return in.long, err
}

func (in *input) open() error {
	if len(in.files) == 0 {
		return io.EOF
	}
	f, err := os.Open(in.files[0])
	if err != nil {
		return err
	}
	in.name, in.line, in.file, in.seen = in.files[0], 0, f, &counter{r: f}
	in.in = bufio.NewReaderSize(in.seen, 1<<16)
	in.raw, in.out = in.in, in.seen
	if magic, _ := in.in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in.in)
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		in.out = &counter{r: z}
		in.in = bufio.NewReaderSize(in.out, 1<<16)
	}
	return nil
}

func (in *input) shut() {
	_ = in.file.Close() // it was only read
	in.past += in.sizes[0]
	in.files, in.sizes, in.in, in.file, in.seen, in.raw, in.out = in.files[1:], in.sizes[1:], nil, nil, nil, nil, nil
}

// part tells how much of all lines next has returned, of 1: what is only read ahead does not count.
func (in *input) part() float64 {
	if in.total == 0 {
		return 1
	}
	n := float64(in.past)
	if in.seen != nil && in.out.n > 0 {
		taken := in.seen.n
		if in.out != in.seen {
			taken -= int64(in.raw.Buffered())
		}
		n += float64(taken) * float64(in.out.n-int64(in.in.Buffered())) / float64(in.out.n)
	}
	return n / float64(in.total)
}

func (in *input) close() error {
	if in.file == nil {
		return nil
	}
	return in.file.Close()
}
