package hook

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

//go:embed python/worker.py python/pbs_ifl.py python/_family.py python/pbs/*.py
var library embed.FS

// Options of a Runtime.
type Options struct {
	Dir    string // where the library is put, below a folder of its own: only the daemon may write there
	Python string // the interpreter; empty: it is looked for
	Host   string // short name of this host
	Node   string // name of its natural vnode; empty: the host's
	Conf   map[string]string
	// ConfFile is the path of the host's configuration file.
	ConfFile string
	Logger   *slog.Logger
	// Elsewhere waits for processes in the place of a bubble; nil: there is none.
	Elsewhere *Elsewhere
}

// ErrNoPython means that the host has no CPython of version 3.9 or later.
var ErrNoPython = errors.New("no Python of version 3.9 or later was found: hooks cannot run on this host")

// A Runtime runs scripts under one warm interpreter, which it starts when the first one is
// to run and again after its death.
type Runtime struct {
	opts Options

	mu     sync.Mutex
	worker *worker
	closed bool
	python string
}

// NewRuntime returns a runtime; it starts nothing.
func NewRuntime(o Options) *Runtime { return &Runtime{opts: o} }

// Close ends the interpreter. Runs under way fail.
func (r *Runtime) Close() (err error) {
	r.opts.Elsewhere.do(func(func(func())) { err = r.close() })
	return err
}

func (r *Runtime) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.worker == nil {
		return nil
	}
	err := r.worker.close()
	r.worker = nil
	return err
}

// alive returns the interpreter, a new one if the last has ended.
func (r *Runtime) alive() (*worker, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("the hook runtime is closed")
	}
	if r.worker != nil && !r.worker.gone() {
		return r.worker, nil
	}
	if r.worker != nil {
		_ = r.worker.close()
		r.worker = nil
	}
	python, err := r.interpreter()
	if err != nil {
		return nil, err
	}
	dir, err := r.unpack()
	if err != nil {
		return nil, err
	}
	r.worker, err = startWorker(python, filepath.Join(dir, "worker.py"))
	if r.worker != nil && r.opts.Elsewhere != nil {
		r.worker.patience = forkElsewhere
	}
	return r.worker, err
}

// Python returns the interpreter of the host, or ErrNoPython.
func (r *Runtime) Python() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.interpreter()
}

func (r *Runtime) interpreter() (string, error) {
	if r.python != "" {
		return r.python, nil
	}
	found, err := FindPython(r.opts.Python)
	r.python = found
	return found, err
}

// FindPython returns a CPython of version 3.9 or later: the one that is named, or what the
// PATH and the usual places have.
func FindPython(named string) (string, error) {
	names := []string{named}
	if named == "" {
		names = []string{os.Getenv("PBS_PYTHON"), "python3", "/usr/bin/python3", "/usr/local/bin/python3", "python3.13", "python3.12", "python3.11", "python3.10", "python3.9"}
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		cmd := exec.CommandContext(ctx, path, "-I", "-c",
			"import sys; print(sys.executable or ''); sys.exit(not (sys.implementation.name == 'cpython' and sys.version_info >= (3, 9)))")
		cmd.WaitDelay = time.Second // a script in its place may leave processes behind
		self, err := cmd.Output()
		cancel()
		if own := strings.TrimSpace(string(self)); err == nil && own != "" {
			return own, nil // the name may be one of a script that looks for the interpreter at each start
		} else if err == nil {
			return path, nil
		}
	}
	return "", ErrNoPython
}

// unpack puts the library into the folder. A repeat does no harm.
func (r *Runtime) unpack() (string, error) {
	dir := filepath.Join(r.opts.Dir, "lib")
	err := fs.WalkDir(library, "python", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, strings.TrimPrefix(path, "python"))
		if e.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := library.ReadFile(path)
		if err != nil {
			return err
		}
		return replace(target, text)
	})
	if err == nil {
		var text []byte
		if text, err = json.Marshal(newSchema()); err == nil {
			err = replace(filepath.Join(dir, "schema.json"), text)
		}
	}
	if err != nil {
		return "", fmt.Errorf("unpack the library of hooks: %w", err)
	}
	return dir, nil
}

func replace(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
		return nil
	}
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// A User is an account that a hook runs under.
type User struct {
	Name   string   `json:"name"`
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups"`
	Home   string   `json:"home"`
}

// A Run is one hook at one event.
type Run struct {
	Hook      Hook
	Script    []byte
	Path      string // of its copy, as tracebacks name it
	Config    string // path of the configuration file; empty: there is none
	Event     *Event
	User      *User             // nil: the daemon's own account
	Dir       string            // working folder
	Resources map[string]string // types of custom resources, by name
	Source    Source            // nil: nothing can be asked
	Log       func(Line)
	Mark      func(hook, text string) // of a sequence: that the hook has "started", "finished"; nil: nobody hears it
	Debug     string                  // folder in which input and output are kept; empty: they are not
	// Broken says why the hook cannot run, which counts as its failure; nil: it can.
	Broken error
}

// Compile returns a *SyntaxError for a script that the interpreter cannot read.
func (r *Runtime) Compile(ctx context.Context, name string, script []byte) error {
	answer, err := r.exchange(ctx, &request{Compile: true, Script: script, Data: data{Hook: map[string]string{"name": name}}}, compileWithin, nil)
	switch {
	case err != nil:
		return err
	case answer.Failure != "":
		return errors.New(answer.Failure)
	case !answer.Accept:
		return &SyntaxError{Text: answer.Message}
	}
	return nil
}

// compileWithin bounds the compilation of a script.
const compileWithin = 20 * time.Second

// defaultAlarm is the alarm of hooks, for a copy without one.
const defaultAlarm = 30 * time.Second

func (run *Run) alarm() time.Duration {
	if alarm := run.Hook.Seconds("alarm"); alarm > 0 {
		return alarm
	}
	return defaultAlarm
}

// Do runs a hook and returns what came of it; a failure of the hook is an Answer with a
// Failure, an error that it could not be run at all.
func (r *Runtime) Do(ctx context.Context, run Run) (*Answer, error) {
	return r.do(ctx, run, func(req *request) (*Answer, error) { return r.exchange(ctx, req, run.alarm(), &run) })
}

func (r *Runtime) do(ctx context.Context, run Run, exchange func(*request) (*Answer, error)) (*Answer, error) {
	hook := map[string]string{"name": run.Hook.Name}
	for name, value := range run.Hook.Attrs {
		hook[name] = value
	}
	req := &request{Script: run.Script, User: run.User, Dir: run.Dir, Data: data{
		Event: run.Event, Hook: hook, Host: r.opts.Host, Node: r.opts.Node, Conf: r.opts.Conf, ConfFile: r.opts.ConfFile,
		Config: run.Config, Path: run.Path, Resources: run.Resources,
	}}
	began := time.Now()
	answer, err := exchange(req)
	if run.Debug != "" {
		keep(&run, req, answer, began, r.opts.Logger)
	}
	return answer, err
}
