package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

// A Replaying says what is run by hand, and where it is told of.
type Replaying struct {
	Saved  string    // the event that was kept: FILE.in, with FILE.data beside it, or that
	Script string    // a file; empty: the hook's own
	Out    io.Writer // gets what the script prints and answers
	Log    io.Writer // gets what it logs
	Lines  bool      // the answer is told in PBS's lines, as .out has them, and not as JSON
}

// Replay runs a hook by hand on an event that was kept. Nothing that it asks of the
// cluster is answered, and nothing that it wants takes effect.
func Replay(ctx context.Context, o Replaying) error {
	saved, script, out := o.Saved, o.Script, o.Out
	if base, in := strings.CutSuffix(saved, ".in"); in {
		saved = base + ".data"
	}
	text, err := os.ReadFile(saved)
	if err != nil {
		return err
	}
	req, err := parseKept(text)
	if err != nil {
		return fmt.Errorf("%s is no event that was kept: %w", saved, err)
	}
	if script != "" {
		if req.Script, err = os.ReadFile(script); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "pbs_python")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := NewRuntime(Options{Dir: dir, Host: req.Data.Host, Node: req.Data.Node, Conf: req.Data.Conf, ConfFile: req.Data.ConfFile, Logger: slog.New(slog.DiscardHandler)})
	defer r.Close()
	user := req.User
	if os.Geteuid() != 0 {
		user = nil
	}
	answer, err := r.Do(ctx, Run{
		Hook:   Hook{Name: req.Data.Hook["name"], Attrs: req.Data.Hook},
		Script: req.Script, Config: req.Data.Config, Event: req.Data.Event, User: user, Dir: req.Dir, Resources: req.Data.Resources,
		Log: func(l Line) { fmt.Fprintln(o.Log, l.Text) },
	})
	if err != nil {
		return err
	}
	io.WriteString(out, answer.Output)
	if o.Lines {
		_, err = out.Write(answerLines(req.Data.Event, answer))
		return err
	}
	told, err := json.MarshalIndent(answer, "", " ")
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", told)
	}
	return err
}

func parseKept(text []byte) (*request, error) {
	req := &request{}
	switch err := json.Unmarshal(text, req); {
	case err != nil:
		return nil, err
	case req.Data.Hook["name"] == "":
		return nil, errors.New("it names no hook")
	case req.Data.Event == nil || req.Data.Event.Event == "":
		return nil, errors.New("it names no event")
	}
	return req, nil
}
