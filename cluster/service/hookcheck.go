package service

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport"
	"rampart/transport/api"
)

// readable refuses a script that does not compile, and a configuration file that its suffix
// belies.
func (sh *serverHooks) readable(ctx context.Context, h *state.Hook, kind state.HookFileKind, r *api.ImportHookRequest) error {
	if len(r.GetContent()) > command.MaxHookFile {
		return pbs.Errorf(pbs.HookError, "hook '%s' contents not overwritten: more than %d bytes", h.Name, command.MaxHookFile)
	}
	if kind == state.HookScript {
		if h.Builtin() {
			return pbs.Errorf(pbs.HookError, "cannot import the script of a built-in hook")
		}
		return sh.compiles(ctx, h, h.Script, r.GetContent())
	}
	var err error
	switch strings.ToLower(path.Ext(path.Base(r.GetFile()))) {
	case ".json":
		if !json.Valid(r.GetContent()) {
			err = errors.New("it is no JSON")
		}
	case ".xml":
		err = wellFormed(r.GetContent())
	case ".ini":
		err = iniReadable(string(r.GetContent()))
	case ".py":
		return sh.compiles(ctx, h, h.Config, r.GetContent())
	default:
		return nil
	}
	if err != nil {
		return pbs.Errorf(pbs.HookError, "Failed to validate config file, hook '%s' config file not overwritten: %v", h.Name, err)
	}
	return nil
}

// compiles asks the interpreter of this host.
func (sh *serverHooks) compiles(ctx context.Context, h *state.Hook, before state.HookFileSum, script []byte) error {
	if sh.Hooks == nil {
		return pbs.Errorf(pbs.HookError, "Failed to compile script: this server runs no hooks")
	}
	defer transport.Working(ctx)()
	err := sh.Hooks.Compile(ctx, h.Name, script)
	_, syntax := errors.AsType[*hook.SyntaxError](err)
	switch {
	case err == nil:
		return nil
	case syntax && before.Sum == "":
		return pbs.Errorf(pbs.HookError, "Failed to compile script: %v", err)
	}
	return pbs.Errorf(pbs.HookError, "Failed to compile script, hook '%s' contents not overwritten: %v", h.Name, err)
}

func wellFormed(text []byte) error {
	d, elements := xml.NewDecoder(bytes.NewReader(text)), 0
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			if elements == 0 {
				return errors.New("it has no element")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if _, ok := t.(xml.StartElement); ok {
			elements++
		}
	}
}

// iniReadable looks for what Python's configparser cannot read: a line before the first
// section, and one that is neither a section, a comment, NAME=VALUE, nor a continuation.
func iniReadable(text string) error {
	section := false
	n := 0
	for line := range strings.Lines(text) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";"):
		case strings.HasPrefix(line, "["):
			if !strings.Contains(trimmed, "]") {
				return fmt.Errorf("line %d: the section has no end", n)
			}
			section = true
		case !section:
			return fmt.Errorf("line %d: no section", n)
		case line[0] == ' ' || line[0] == '\t':
		case !strings.ContainsAny(trimmed, "=:"):
			return fmt.Errorf("line %d: neither NAME=VALUE nor a section", n)
		}
	}
	return nil
}
