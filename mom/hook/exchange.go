package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// request is the first line that a forked interpreter reads.
type request struct {
	Compile bool   `json:"compile,omitempty"`
	Script  []byte `json:"script"` // base64 in JSON
	User    *User  `json:"user,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Data    data   `json:"data"`
}

// data is the event with what is around it.
type data struct {
	*Event
	Hook      map[string]string `json:"hook"`
	Host      string            `json:"host,omitempty"`
	Conf      map[string]string `json:"conf,omitempty"`
	ConfFile  string            `json:"conf_file,omitempty"`
	Config    string            `json:"config,omitempty"`
	Resources map[string]string `json:"resources,omitempty"`
}

// Bounds of what one run may tell: a script that goes mad hurts only itself.
const (
	maxMessage = 16 << 20
	maxLines   = 10_000
	maxOutput  = 64 << 10
)

// message is one line of a script's process.
type message struct {
	Log  *int    `json:"log"`
	Job  string  `json:"job"`
	Text string  `json:"text"`
	Ask  string  `json:"ask"`
	Name string  `json:"name"`
	Done *Answer `json:"done"`
}

// pipes are the three pipes of a run; the ends of the process are given away.
type pipes struct {
	in, out, noise                *os.File // ours
	theirIn, theirOut, theirNoise *os.File
}

func newPipes() (p *pipes, err error) {
	p = &pipes{}
	var errs [3]error
	p.theirIn, p.in, errs[0] = os.Pipe()
	p.out, p.theirOut, errs[1] = os.Pipe()
	p.noise, p.theirNoise, errs[2] = os.Pipe()
	if err = errors.Join(errs[:]...); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pipes) closeTheirs() {
	for _, f := range []*os.File{p.theirIn, p.theirOut, p.theirNoise} {
		_ = f.Close()
	}
}

func (p *pipes) close() {
	p.closeTheirs()
	for _, f := range []*os.File{p.in, p.out, p.noise} {
		_ = f.Close()
	}
}

// exchange runs a script and serves what it asks until it has answered, has ended, or the
// alarm has rung. Whatever it has started in its own session is killed then.
func (r *Runtime) exchange(ctx context.Context, req *request, alarm time.Duration, run *Run) (*Answer, error) {
	w, err := r.alive()
	if err != nil {
		return nil, err
	}
	p, err := newPipes()
	if err != nil {
		return nil, fmt.Errorf("run a hook: %w", err)
	}
	defer p.close()
	pid, err := w.fork(ctx, p.theirIn, p.theirOut, p.theirNoise)
	p.closeTheirs()
	if err != nil {
		return nil, err
	}
	defer w.reap(pid)
	defer killGroup(pid)

	rung := time.Now().Add(alarm)
	ctx, cancel := context.WithDeadline(ctx, rung)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		killGroup(pid)
		_ = p.out.SetDeadline(time.Unix(1, 0))
		_ = p.in.SetDeadline(time.Unix(1, 0))
	})
	defer stop()
	output := listenTo(p.noise)
	answer, err := converse(ctx, p, req, run)
	killGroup(pid)
	text := output()
	switch {
	case answer == nil && ctx.Err() != nil && !time.Now().Before(rung):
		answer = &Answer{Failure: fmt.Sprintf("alarm call after %s", alarm), TimedOut: true}
	case answer == nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case answer == nil && w.gone():
		return nil, ErrWorker
	case answer == nil:
		answer = &Answer{Failure: "the script ended without an answer: " + lastWords(text, err)}
	}
	answer.Output = text
	return answer, nil
}

func lastWords(text string, err error) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return fmt.Sprint(err)
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// listenTo collects the first of what a script prints; output returns it when the pipe is
// at its end, or after a moment, for a stray process may hold it.
func listenTo(noise *os.File) (output func() string) {
	var mu sync.Mutex
	var kept []byte
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 4096)
		for {
			n, err := noise.Read(buffer)
			mu.Lock()
			if room := maxOutput - len(kept); room > 0 {
				kept = append(kept, buffer[:min(n, room)]...)
			}
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return func() string {
		_ = noise.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		<-done
		mu.Lock()
		defer mu.Unlock()
		return string(kept)
	}
}

// converse gives the event to the process and does what it says, line by line.
func converse(ctx context.Context, p *pipes, req *request, run *Run) (*Answer, error) {
	if err := send(p.in, req); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(io.LimitReader(p.out, 4*maxMessage), 64<<10)
	for lines := 0; ; {
		text, err := readLine(in)
		if err != nil {
			return nil, err
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("read what the script says: %w", err)
		}
		switch {
		case m.Done != nil:
			return m.Done, nil
		case m.Log != nil && run != nil && run.Log != nil && lines < maxLines:
			lines++
			run.Log(Line{Level: *m.Log, Job: m.Job, Text: m.Text})
		case m.Ask != "":
			if err := serve(ctx, p.in, run, m); err != nil {
				return nil, err
			}
		}
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxMessage:
			return nil, fmt.Errorf("the script says more than %d bytes at once", maxMessage)
		}
	}
}

// serve answers a question about the cluster; what cannot be found out is answered by nothing.
func serve(ctx context.Context, in *os.File, run *Run, m message) error {
	if run != nil && run.Source != nil {
		err := run.Source.Objects(ctx, m.Ask, m.Name, func(o Object) error {
			if o.Attrs == nil {
				o.Attrs = []Attr{}
			}
			return send(in, o)
		})
		if err != nil && ctx.Err() != nil {
			return err
		}
	}
	return send(in, struct{}{})
}

func send(in *os.File, v any) error {
	text, err := jsonText(v)
	if err == nil {
		_, err = in.Write(text)
	}
	return err
}
