package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// request is the first line that a forked interpreter reads.
type request struct {
	Compile bool   `json:"compile,omitempty"`
	Script  []byte `json:"script"` // base64 in JSON
	User    *User  `json:"user,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Data    data   `json:"data"`

	// Of a process that is to see several events:
	Stays bool   `json:"stays,omitempty"` // it is to wait for another one
	Item  uint64 `json:"item,omitempty"`  // its answer names it
	Key   string `json:"key,omitempty"`   // of the script, which comes once
}

// data is the event with what is around it.
type data struct {
	*Event
	Hook      map[string]string `json:"hook"`
	Host      string            `json:"host,omitempty"`
	Node      string            `json:"node,omitempty"`
	Conf      map[string]string `json:"conf,omitempty"`
	ConfFile  string            `json:"conf_file,omitempty"`
	Config    string            `json:"config,omitempty"`
	Path      string            `json:"path,omitempty"` // of the script
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

	Item  uint64 `json:"item"`
	Stays bool   `json:"stays"`
}

// pipes are the pipes of a run; the ends of the process are given away. Nothing goes through the last one: the root of
// the family has its other end, and sees by it that the daemon is gone.
type pipes struct {
	in, out, noise, life                     *os.File // ours
	theirIn, theirOut, theirNoise, theirLife *os.File
}

func newPipes() (p *pipes, err error) {
	p = &pipes{}
	var errs [4]error
	p.theirIn, p.in, errs[0] = os.Pipe()
	p.out, p.theirOut, errs[1] = os.Pipe()
	p.noise, p.theirNoise, errs[2] = os.Pipe()
	p.theirLife, p.life, errs[3] = os.Pipe()
	if err = errors.Join(errs[:]...); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pipes) closeTheirs() {
	for _, f := range []*os.File{p.theirIn, p.theirOut, p.theirNoise, p.theirLife} {
		_ = f.Close()
	}
}

func (p *pipes) close() {
	p.closeTheirs()
	for _, f := range []*os.File{p.in, p.out, p.noise, p.life} {
		_ = f.Close()
	}
}

func lastWords(text string, err error) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return fmt.Sprint(err)
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// converse gives the event to the process and does what it says, line by line. It returns, too,
// whether the process waits for another event.
func converse(ctx context.Context, p *process, req *request, run *Run) (a *Answer, stays bool, err error) {
	if err := send(p.in, req); err != nil {
		return nil, false, err
	}
	p.rest.N = 4 * maxMessage
	for lines := 0; ; {
		text, err := readLine(p.lines)
		if err != nil {
			return nil, false, err
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, false, fmt.Errorf("read what the script says: %w", err)
		}
		switch {
		case m.Done != nil && m.Item != req.Item:
			return nil, false, errors.New("read what the script says: an answer to another event")
		case m.Done != nil:
			return m.Done, m.Stays, nil
		case m.Log != nil && run != nil && run.Log != nil && lines < maxLines:
			lines++
			run.Log(Line{Level: *m.Log, Job: m.Job, Text: m.Text})
		case m.Ask != "":
			if err := serve(ctx, p.in, run, m); err != nil {
				return nil, false, err
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
