package pbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/cli/interactive"
	"rampart/cli/script"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

const qsubUsage = `usage: qsub [-a date_time] [-A account_string] [-c interval]
	[-C directive_prefix] [-e path] [-f ] [-h ] [-I [-X]] [-j oe|eo] [-J X-Y[:Z]]
	[-k keep] [-l resource_list] [-m mail_options] [-M user_list]
	[-N jobname] [-o path] [-p priority] [-P project] [-q queue] [-r y|n]
	[-R o|e|oe] [-S path] [-u user_list] [-W otherattributes=value...]
	[-v variable_list] [-V ] [-z] [script | -- command [arg1 ...]]
       qsub --version
`

func qsub() *cli.Command {
	c := &cli.Command{
		Name: "qsub", Summary: "submit a job", Grammar: own(submitLetters), Usage: qsubUsage, UsageStatus: 2,
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		return submit(ctx, env, c, opts)
	}
	return c
}

func submit(ctx context.Context, env *cli.Env, c *cli.Command, opts *cli.Options) error {
	text := new(source)
	job, err := describe(env, c, opts, text, "")
	if err != nil {
		return noTerminal(env, c, err)
	}
	s, err := open(env, c, opts)
	if err != nil {
		return err
	}
	if err := s.mean(job.server); err != nil {
		s.fail(err, nil)
		return s.end()
	}
	reply, err := s.batch.Submit(s.only(ctx), connect.NewRequest(job.message))
	for tries := 0; err == nil && reply.Msg.Others && tries < mostDefaults; tries++ {
		if job, err = describe(env, c, opts, text, reply.Msg.DefaultArguments); err != nil {
			return noTerminal(env, c, err)
		}
		reply, err = s.batch.Submit(s.only(ctx), connect.NewRequest(job.message))
	}
	if err != nil {
		s.fail(err, nil)
		return s.end()
	}
	if reply.Msg.Others {
		return errors.New("default_qsub_arguments of the server does not stay the same: try again")
	}
	if job.console != nil {
		return s.interact(ctx, job.console, job.viewer, reply.Msg.Job)
	}
	if !job.silent {
		if _, err := fmt.Fprintln(env.Stdout, reply.Msg.Job); err != nil {
			return fmt.Errorf("job %s is queued: %w", reply.Msg.Job, err)
		}
	}
	if job.block {
		return s.block(ctx, reply.Msg.Job)
	}
	return nil
}

// mostDefaults is how often the server's default arguments may change under a submission.
const mostDefaults = 5

// A source is the text of a script once it was read: standard input can be read once.
type source struct {
	text []byte
	read bool
}

// noTerminal tells of a missing terminal in PBS's form; other errors are told as always.
func noTerminal(env *cli.Env, c *cli.Command, err error) error {
	if errors.Is(err, errNoTerminal) {
		fmt.Fprintf(env.Stderr, "%s:\t%v\n", c.Name, err)
		return cli.Status(1)
	}
	return err
}

// errNoTerminal has PBS's words, which do not follow "qsub: " on a blank.
var errNoTerminal = errors.New("standard input and output must be a terminal for\n\tinteractive job submission")

type described struct {
	message *api.SubmitRequest
	server  string // that the destination names
	silent  bool
	block   bool                // wait for its end
	console cli.Console         // of an interactive job
	viewer  *interactive.Viewer // of its programs; nil: they have no display
}

// describe turns a command line and its script into what the server is asked for; the
// server's default arguments count least.
func describe(env *cli.Env, c *cli.Command, opts *cli.Options, src *source, defaults string) (described, error) {
	if !isSubmission(opts) {
		return described{}, c.Misuse()
	}
	var console cli.Console
	var viewer *interactive.Viewer
	if opts.Has("I") {
		var err error
		if console, err = consoleOf(env); err != nil {
			return described{}, err
		}
	}
	line := &request{env: env}
	line.read(opts)
	line.checkName()
	if err := line.verdict(c); err != nil {
		return described{}, err
	}
	r := &request{env: env}
	if err := r.defaults(c, defaults); err != nil {
		return described{}, err
	}
	text, err := r.script(c, line, opts, src)
	if err != nil {
		return described{}, err
	}
	r.read(opts)
	if file := scriptFile(opts); !r.hasName && file != "" {
		r.rename(filepath.Base(file))
	}
	r.checkName()
	if err := r.verdict(c); err != nil {
		return described{}, err
	}
	if err := r.checkArray(c); err != nil {
		return described{}, err
	}
	if r.interactive() {
		if console == nil { // a directive asks for it
			if console, err = consoleOf(env); err != nil {
				return described{}, err
			}
		}
		if viewer, err = r.completeInteractive(); err != nil {
			return described{}, err
		}
		text = nil // its directives count, its body is not run
	} else if r.graphic {
		return described{}, errors.New("X11 forwarding possible only for interactive jobs")
	}
	if err := r.complete(opts); err != nil {
		return described{}, err
	}
	queue, server, _ := strings.Cut(r.destination, "@")
	return described{
		message: &api.SubmitRequest{Attributes: r.changes, Script: text, Destination: queue, DefaultArguments: defaults, TakesDefaults: true},
		server:  server,
		silent:  r.silent,
		block:   r.value("block") == "True",
		console: console,
		viewer:  viewer,
	}, nil
}

// isSubmission reports whether the operands are a script, a program behind "--", or nothing.
func isSubmission(opts *cli.Options) bool {
	if opts.Dashed {
		return opts.Before == 0 && len(opts.Operands) > 0
	}
	return len(opts.Operands) <= 1
}

// scriptFile returns the file that the script is in; empty: standard input, which "-" means, too, or there is a program.
func scriptFile(opts *cli.Options) string {
	if opts.Dashed || len(opts.Operands) == 0 || opts.Operands[0] == "-" {
		return ""
	}
	return opts.Operands[0]
}

// defaults reads the server's default_qsub_arguments.
func (r *request) defaults(c *cli.Command, text string) error {
	args, err := script.Split(text)
	if err != nil {
		return fmt.Errorf("default_qsub_arguments of the server: %w", err)
	}
	l := c.Grammar.Parse(args)
	r.faults = append(r.faults, l.Faults...)
	r.read(cli.OptionsOf(l))
	return nil
}

func (r *request) verdict(c *cli.Command) error {
	switch {
	case len(r.faults) > 0:
		return c.Misuse(r.faults...)
	case r.unsupported:
		return noSupport()
	}
	return nil
}

// script reads the job script, its directives into r; line is what the command
// line says. With "--" there is none.
func (r *request) script(c *cli.Command, line *request, opts *cli.Options, src *source) ([]byte, error) {
	if opts.Dashed {
		return nil, nil
	}
	if scriptFile(opts) == "" && line.interactive() {
		return nil, nil
	}
	text, err := r.text(scriptFile(opts), src)
	if err != nil {
		return nil, err
	}
	prefix := script.DefaultPrefix
	if p, ok := r.env.Lookup("PBS_DPREFIX"); ok {
		prefix = p
	}
	if line.prefixed {
		prefix = line.prefix
	}
	all, err := script.Directives(text, prefix)
	if err != nil {
		return nil, err
	}
	for _, args := range all {
		r.directive(c, args)
	}
	return text, nil
}

func (r *request) directive(c *cli.Command, args []string) {
	l := c.Grammar.Parse(args)
	r.faults = append(r.faults, l.Faults...)
	if len(l.Operands) > 0 {
		r.faults = append(r.faults, "directive error: "+strings.Join(args, " ")+" ")
		return
	}
	r.read(cli.OptionsOf(l))
}

// text reads the script from the named file or standard input.
func (r *request) text(file string, src *source) (text []byte, err error) {
	if src.read && file == "" {
		return src.text, nil
	}
	defer func() { src.text, src.read = text, err == nil }()
	if file == "" {
		if r.env.Terminal() {
			io.WriteString(r.env.Stderr, "Job script will be read from standard input. Submit with CTRL+D.\n")
		}
		return cli.ReadScript(r.env.Stdin)
	}
	f, err := r.env.Open(file)
	if err != nil {
		return nil, fmt.Errorf("script file:: %s", sentence(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("script not a file")
	}
	return cli.ReadScript(f)
}

// sentence returns the system's words for an error, as C prints them.
func sentence(err error) string {
	text := err.Error()
	var n syscall.Errno
	if errors.As(err, &n) {
		text = n.Error()
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// rename gives the job its name; whether it may bear it, the last name decides.
func (r *request) rename(name string) {
	r.set("Job_Name", "", name)
	r.hasName = true
}

// checkName judges the name that the job would get: of several -N, and the script's file, only
// one counts.
func (r *request) checkName() {
	def, _ := attr.Lookup(attr.Job, "Job_Name")
	if _, ok := parse(def, r.value("Job_Name")); r.hasName && !ok {
		r.illegal("N")
	}
}

// checkArray refuses what an array of jobs cannot be, in PBS's words.
func (r *request) checkArray(c *cli.Command) error {
	switch mails := r.value("Mail_Points"); {
	case r.value("array_indices_submitted") == "" && strings.Contains(mails, "j"):
		return errors.New("mail option 'j' can not be used without array job")
	case r.value("array_indices_submitted") == "":
		return nil
	case mails == "j":
		return c.Misuse("illegal -m value")
	case r.most == mostOfRange|mostOfW:
		return errors.New("multiple max_run_subjobs values found")
	case r.value("interactive") != "":
		return errors.New("interactive and array job submission is not supported")
	case r.value("Rerunable") == "False":
		return errors.New("cannot submit non-rerunable Array Job")
	}
	return nil
}

// complete adds what comes from the command's surroundings.
func (r *request) complete(opts *cli.Options) error {
	if !r.hasName {
		r.rename("STDIN")
	}
	r.outputs()
	list, err := r.variableList()
	if err != nil {
		return err
	}
	r.set("Variable_List", "", list)
	if args := shown(opts.Raw); args != "" {
		r.set("Submit_arguments", "", args)
	}
	if opts.Dashed {
		r.set("executable", "", pbs.Wrap(pbs.Executable, opts.Operands[0]))
		if args := pbs.Wrap(pbs.Argument, opts.Operands[1:]...); args != "" {
			r.set("argument_list", "", args)
		}
	}
	return nil
}

// shown joins arguments so that a shell, or script.Split, takes them apart again.
func shown(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$`&|;<>()*?#~!") {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
