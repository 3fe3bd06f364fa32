package pbs

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

const (
	qmgrUsage = "usage: qmgr [-a] [-c command] [-e] [-n] [-z] [server...]\n       qmgr --version\n"
	// syntaxStatus is qmgr's exit status after a directive it cannot read.
	syntaxStatus = 4
)

func qmgr() *cli.Command {
	c := &cli.Command{
		Name: "qmgr", Summary: "manage servers, queues, nodes and resources", Grammar: own("ac:enz"),
		Usage: qmgrUsage, UsageStatus: 1,
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		if err := s.activeServers(ctx, opts.Operands); err != nil {
			return err
		}
		m := &manager{
			session: s, abort: opts.Has("a"), echo: opts.Has("e"), dry: opts.Has("n"), quiet: opts.Has("z"),
			active: map[string][]objectName{},
		}
		if opts.Has("c") {
			for _, text := range opts.All("c") {
				m.run(ctx, text)
			}
			return s.end()
		}
		return m.converse(ctx)
	}
	return c
}

// activeServers makes the servers that qmgr's operands name those that directives mean which name
// none. They are names of one: there is no way to another cluster.
func (s *session) activeServers(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := s.checkServer(ctx, name); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return nil
	}
	err := s.mean(names[0])
	s.home, s.target.Server = s.batch, s.meant
	return err
}

// A manager carries out directives.
type manager struct {
	*session
	abort, echo, dry, quiet bool
	active                  map[string][]objectName
	past                    []string // directives of this conversation, and of earlier ones at a terminal
	keep                    func(line string)
	done                    bool          // quit, or aborted
	in                      *bufio.Reader // standard input; nil: nothing was read from it
	headed                  bool          // the comment above what is printed is out
	whole                   bool          // what is printed is all of the server
}

// converse reads directives from standard input, line by line so that a person can
// talk with it.
func (m *manager) converse(ctx context.Context) error {
	prompt := m.env.Terminal()
	next, end := m.reader(prompt)
	defer end()
	var text string
	var open byte // the quote of a value that goes on; people at a terminal are told of one at once
	for !m.done {
		line, err := next(promptFor(text))
		text += line
		if err == nil && (strings.HasSuffix(text, "\\\n") || open != 0 && strings.IndexByte(line, open) < 0) {
			continue
		}
		if open = 0; err == nil && !prompt {
			open = openQuote(text)
		}
		if open != 0 {
			continue
		}
		m.run(ctx, text)
		text = ""
		if err != nil {
			if prompt {
				io.WriteString(m.env.Stdout, "\n")
			}
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return m.end()
}

// reader returns what reads the lines, each with its end, and what must be called at last.
func (m *manager) reader(prompt bool) (next func(prompt string) (string, error), end func()) {
	if prompt && m.env.Editor != nil {
		if e := m.env.Editor(historyFile(m.env)); e != nil {
			m.past, m.keep = e.Past(), e.Keep
			return func(prompt string) (string, error) {
				line, err := e.Read(prompt)
				if err != nil {
					return "", err
				}
				return line + "\n", nil
			}, func() { _ = e.Close() }
		}
	}
	in := m.input()
	return func(ask string) (string, error) {
		if prompt {
			io.WriteString(m.env.Stdout, ask)
		}
		return in.ReadString('\n')
	}, func() {}
}

// historyFile returns where PBS's qmgr keeps what was typed; "" for somebody without a home.
func historyFile(env *cli.Env) string {
	home := env.Getenv("HOME")
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".pbs_qmgr_history")
}

// promptFor asks for a directive, or for the rest of one.
func promptFor(text string) string {
	if text == "" {
		return "Qmgr: "
	}
	return "Qmgr< "
}

// run carries out the directives of a text.
func (m *manager) run(ctx context.Context, text string) {
	for _, line := range splitDirectives(text) {
		if m.done {
			return
		}
		if m.echo {
			fmt.Fprintln(m.env.Stdout, line)
		}
		before := m.status
		m.status = 0
		m.past = append(m.past, line)
		if m.keep != nil {
			m.keep(line)
		}
		m.directive(ctx, line)
		if m.status != 0 && m.abort {
			m.done = true
		}
		if m.status == 0 {
			m.status = before
		}
	}
}

func (m *manager) directive(ctx context.Context, line string) {
	d, err := parseDirective(line)
	if err != nil {
		m.unreadable(err)
		return
	}
	switch d.verb {
	case "help":
		io.WriteString(m.env.Stdout, helpOn(d.topic))
	case "history":
		for i, line := range m.past {
			fmt.Fprintf(m.env.Stdout, "%5d  %s\n", i+1, line)
		}
	case "quit", "exit":
		m.done = true
	case "active":
		m.activate(d)
	default:
		if !m.dry {
			m.carryOut(ctx, d)
		}
	}
}

// activate makes objects those that are meant when none is named; without names it tells
// which they are.
func (m *manager) activate(d *directive) {
	if len(d.names) > 0 {
		m.active[d.object.word] = d.names
		return
	}
	for _, object := range managedObjects() {
		if d.object != nil && d.object.word != object.word || d.object == nil && len(m.active[object.word]) == 0 {
			continue
		}
		fmt.Fprintf(m.env.Stdout, "Active %s:\n", cmp.Or(object.render.Plural, object.word+"s"))
		for _, n := range m.active[object.word] {
			fmt.Fprintf(m.env.Stdout, "    %s@%s\n", n.name, cmp.Or(n.server, "default"))
		}
	}
}

func (m *manager) unreadable(err error) {
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		m.say("qmgr: Syntax error\n%s\n%s^\n", syntax.line, strings.Repeat(" ", syntax.at))
		m.status = syntaxStatus
		return
	}
	m.say("qmgr: %s\nTry 'help' if you are having trouble.\n", err)
	m.status = 1
}

func (m *manager) say(format string, args ...any) {
	if !m.quiet {
		fmt.Fprintf(m.env.Stderr, format, args...)
	}
}

func (m *manager) carryOut(ctx context.Context, d *directive) {
	names := d.names
	if len(names) == 0 {
		names = m.active[d.object.word]
	}
	reading := d.verb == "list" || d.verb == "print"
	if len(names) == 0 {
		if !reading && !d.object.single {
			m.say("qmgr: No active %s, nothing done.\n", d.object.word)
			m.status = 1
			return
		}
		names = []objectName{{}}
	}
	m.headed = false
	for _, n := range names {
		if m.done {
			return
		}
		if err := m.one(ctx, d, n, reading); err != nil {
			m.refused(n, err)
			if reading && pbs.CodeOf(err) == pbs.HookError {
				m.status = 1 // so it is in PBS
			}
		}
	}
}

func (m *manager) one(ctx context.Context, d *directive, n objectName, reading bool) error {
	if d.object.later || d.content != nil && d.object.table != attr.Hook {
		return noSupport()
	}
	server := n.server
	if d.object.word == "server" {
		server = cmp.Or(n.name, n.server)
	}
	if err := m.mean(server); err != nil {
		return err
	}
	switch {
	case reading:
		return m.read(ctx, d, n)
	case d.verb == "import":
		return m.importHook(ctx, d, n)
	case d.verb == "export":
		return m.exportHook(ctx, d, n)
	}
	return m.change(ctx, d, n)
}

// refused tells of an error in qmgr's two lines.
func (m *manager) refused(n objectName, err error) {
	var file *fileError
	if errors.As(err, &file) {
		m.say("qmgr: %s\n", file)
		m.status = 1
		return
	}
	f := m.explain(err)
	m.status = f.Status
	if f.Fatal {
		m.say("qmgr: %s\n", f.Text)
		m.done = !errors.Is(err, pbs.Refuse(pbs.NoServer)) // other directives are of a server that is there
		return
	}
	m.say("qmgr obj=%s svr=%s: %s\n", n.name, cmp.Or(n.server, "default"), f.Text)
	if pbs.CodeOf(err) == pbs.HookError {
		m.say("qmgr: %s returned from server\n", pbs.HookError.Text())
		return
	}
	m.say("qmgr: Error (%d) returned from server\n", pbs.CodeOf(err))
}

func (m *manager) change(ctx context.Context, d *directive, n objectName) error {
	r := &api.ManageRequest{Kind: d.object.kind, Name: n.name, Changes: d.changes}
	switch d.verb {
	case "create":
		r.Verb = api.Verb_VERB_CREATE
	case "delete":
		r.Verb = api.Verb_VERB_DELETE
	case "set":
		r.Verb = api.Verb_VERB_SET
	case "unset":
		r.Verb = api.Verb_VERB_UNSET
	}
	switch {
	case d.object.word == "server":
		r.Name = ""
	case d.object.word == "sched":
		r.Name = cmp.Or(n.name, defaultSched)
	case n.name == "":
		r.Name = "@default"
	}
	if d.object.word == "resource" && n.name == "" {
		return m.changeEach(ctx, d, r)
	}
	_, err := m.batch.Manage(m.next(ctx), connect.NewRequest(r))
	if code := pbs.CodeOf(err); d.verb == "delete" && n.name == "" && (code == pbs.BusyObject || code == pbs.ResourceBusy) {
		return m.changeEach(ctx, d, r) // all at once was refused for some; the others go all the same
	}
	return err
}

// changeEach is a change of all objects of a kind, one after the other.
func (m *manager) changeEach(ctx context.Context, d *directive, r *api.ManageRequest) error {
	all, err := m.find(ctx, d.object, "")
	if err != nil {
		return err
	}
	for _, o := range all {
		one := &api.ManageRequest{Verb: r.Verb, Kind: r.Kind, Name: o.Name, Changes: r.Changes}
		if _, err := m.batch.Manage(m.next(ctx), connect.NewRequest(one)); err != nil {
			m.refused(objectName{name: o.Name}, err)
		}
	}
	return nil
}
