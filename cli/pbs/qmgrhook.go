package pbs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// The content types and encodings of import and export (specification: hooks section 2).
const (
	pythonContent = "application/x-python"
	configContent = "application/x-config"
	plainEncoding = "default"
	base64Coding  = "base64"
)

// A content is what an import or export names behind the hook.
type content struct {
	kind     api.HookFileKind
	encoding string
	file     string // empty: standard output; "-": standard input or output
}

// content reads TYPE ENCODING [FILE].
func (p *scanner) content(verb string) (*content, error) {
	c := &content{}
	switch p.word() {
	case pythonContent:
		c.kind = api.HookFileKind_HOOK_FILE_KIND_SCRIPT
	case configContent:
		c.kind = api.HookFileKind_HOOK_FILE_KIND_CONFIG
	default:
		return nil, fmt.Errorf("<content-type> must be %s or %s", pythonContent, configContent)
	}
	if c.encoding = p.word(); c.encoding != plainEncoding && c.encoding != base64Coding {
		return nil, fmt.Errorf("<content-encoding> must be %s or %s", plainEncoding, base64Coding)
	}
	c.file = unquote(p.word())
	if verb == "import" && c.file == "" {
		return nil, errors.New(`no input file: name one, or "-" for standard input`)
	}
	if p.rest() {
		return nil, p.fault()
	}
	return c, nil
}

func (m *manager) importHook(ctx context.Context, d *directive, n objectName) error {
	text, err := m.readContent(d.content)
	if err != nil {
		return &fileError{err}
	}
	reply, err := m.batch.ImportHook(m.next(ctx), connect.NewRequest(&api.ImportHookRequest{
		Hook: n.name, Kind: d.content.kind, File: filepath.Base(d.content.file), Content: text, Builtin: d.object.word == "pbshook",
	}))
	if err == nil && reply.Msg.GetOverwritten() {
		m.say("hook '%s' contents overwritten\n", n.name)
	}
	return err
}

// A fileError is about a file on this side.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// readContent reads a file, or standard input: plain to its end, base64 to an empty line.
func (m *manager) readContent(c *content) ([]byte, error) {
	var text []byte
	var err error
	switch {
	case c.file != "-":
		text, err = m.readFile(c.file)
	case c.encoding == base64Coding:
		text, err = m.readBlock()
	default:
		text, err = io.ReadAll(io.LimitReader(m.input(), pbs.MaxScript))
	}
	if err != nil || c.encoding != base64Coding {
		return text, err
	}
	plain := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	size, err := base64.StdEncoding.Decode(plain, bytes.Join(bytes.Fields(text), nil))
	if err != nil {
		return nil, fmt.Errorf("%s is not base64: %w", c.file, err)
	}
	return plain[:size], nil
}

func (m *manager) readFile(name string) ([]byte, error) {
	f, err := m.env.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// input is standard input, from where the directives that were read end.
func (m *manager) input() *bufio.Reader {
	if m.in == nil {
		m.in = bufio.NewReader(m.env.Stdin)
	}
	return m.in
}

func (m *manager) readBlock() ([]byte, error) {
	var text []byte
	for len(text) < pbs.MaxScript {
		line, err := m.input().ReadBytes('\n')
		if len(bytes.TrimSpace(line)) == 0 || err != nil && !errors.Is(err, io.EOF) {
			return text, nil
		}
		text = append(text, line...)
		if err != nil {
			break
		}
	}
	return text, nil
}

func (m *manager) exportHook(ctx context.Context, d *directive, n objectName) error {
	text, err := m.fetchHook(ctx, n.name, d.content.kind, d.object.word == "pbshook")
	if err != nil {
		return err
	}
	if d.content.encoding == base64Coding {
		text = encoded(text)
	}
	if d.content.file == "" || d.content.file == "-" {
		_, err = m.env.Stdout.Write(text)
	} else {
		err = m.env.WriteFile(d.content.file, text)
	}
	if err != nil {
		return &fileError{err}
	}
	return nil
}

func (m *manager) fetchHook(ctx context.Context, name string, kind api.HookFileKind, builtin bool) ([]byte, error) {
	reply, err := m.batch.ExportHook(m.next(ctx), connect.NewRequest(&api.ExportHookRequest{Hook: name, Kind: kind, Builtin: builtin}))
	if err != nil {
		return nil, err
	}
	return reply.Msg.GetContent(), nil
}

// encoded returns base64 in lines of 76 characters.
func encoded(text []byte) []byte {
	var b strings.Builder
	for line := base64.StdEncoding.EncodeToString(text); line != ""; {
		n := min(76, len(line))
		b.WriteString(line[:n] + "\n")
		line = line[n:]
	}
	return []byte(b.String())
}

// printContents writes the directives that bring a hook's files back.
func (m *manager) printContents(ctx context.Context, object *managed, name string) error {
	for _, c := range []struct {
		kind api.HookFileKind
		word string
	}{{api.HookFileKind_HOOK_FILE_KIND_SCRIPT, pythonContent}, {api.HookFileKind_HOOK_FILE_KIND_CONFIG, configContent}} {
		text, err := m.fetchHook(ctx, name, c.kind, object.word == "pbshook")
		if err != nil {
			return err
		}
		if len(text) > 0 {
			fmt.Fprintf(m.env.Stdout, "import %s %s %s %s -\n%s\n", object.word, name, c.word, base64Coding, encoded(text))
		}
	}
	return nil
}
