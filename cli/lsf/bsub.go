package lsf

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/cli/interactive"
	"rampart/cli/script"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/transport/api"
)

const bsubUsage = `bsub [-h] [-V] [-H] [-x] [-K | -I | -Ip | -Is | -IX] [-XF] [-B] [-N] [-r | -rn] [-n min[,max]]
             [-R "res_req"] ... [-q queue_name] [-m host_name] [-P project_name]
             [-J job_name | -J "job_name[first-last:step]%slot_limit"]
             [-W [hour:]minute[/host_name | /host_model]] [-We [hour:]minute] [-c [hour:]minute]
             [-M mem_limit]
             [-b [[[year:]month:]day:]hour:minute]
             [-w 'dependency_expression' [-ti]] [-U reservation_ID]
             [-i input_file] [-o | -oo output_file] [-e | -eo error_file]
             [-cwd directory] [-env "none | all [, var=value ...]"] [-u mail_user]
             [-L login_shell] [-sp priority] [-app application_name]
             command [argument ...]
       bsub [options] < script
`

// noOptions are options of bsub that the job model has nothing for, each with what there is in its place.
var noOptions = map[string]string{
	"sla": "", "g": "", "G": "", "wa": "", "wt": "", "E": "", "Ep": "", "t": "", "C": "", "D": "", "F": "", "S": "",
	"T": "", "p": "", "v": "", "k": "", "f": "use qsub -W stagein", "Q": "", "is": "say -i", "jsdl": "", "ext": "", "extsched": "", "network": "", "Zs": "",
	"ul": "", "ptl": "", "eptl": "", "tty": "", "X": "", "a": "", "A": "", "gpu": "say -R \"rusage[ngpus=N]\"", "hl": "", "pack": "", "data": "", "stage": "",
}

func bsub() *cli.Command {
	g := cli.Grammar{Letters: "+HxKBNrn:R:q:m:P:J:W:M:w:i:o:e:u:L:E:G:g:C:D:F:S:T:p:v:U:k:f:Q:a:A:t:b:c:IX", Dashed: map[string]bool{
		"rn": false, "oo": true, "eo": true, "cwd": true, "env": true, "sp": true, "outdir": true, "Jd": true,
		"Ip": false, "Is": false, "IS": false, "ISp": false, "ISs": false, "IX": false, "sla": true, "app": true, "We": true, "wa": true, "wt": true, "Ep": true, "is": true,
		"jsdl": true, "ext": true, "extsched": true, "network": true, "Zs": false, "ul": false, "ptl": true, "eptl": true, "ti": false, "tty": false, "XF": false, "gpu": true,
		"hl": false, "pack": true, "data": true, "stage": true,
	}}
	c := command("bsub", "submit a job", bsubUsage, g, submit)
	return c
}

// A submission is what options and script say of a job.
type submission struct {
	*session
	attributes []*api.Attribute
	script     []byte
	line       string // the command line; empty: it is a script
	input      string
	queue      string
	named      bool
	wait       bool
	console    cli.Console         // of an interactive job
	terminal   bool                // -Ip, -Is, -ISp, -ISs: an interactive job has one
	piped      bool                // an interactive job has pipes instead
	graphic    bool                // -IX, -XF
	viewer     *interactive.Viewer // of its programs; nil: they have no display
	exported   *string             // -env
	require    []string
	cwd        string // -cwd
}

func submit(ctx context.Context, s *session, opts *cli.Options) error {
	sub := &submission{session: s}
	if err := sub.read(ctx, opts); err != nil {
		return notDone(err, "submitted")
	}
	reply, err := s.batch.Submit(s.only(ctx), connect.NewRequest(&api.SubmitRequest{
		Attributes: sub.attributes, Script: sub.script, Destination: sub.queue,
	}))
	if err != nil {
		return sub.refusal(ctx, err)
	}
	id := jobNumber(reply.Msg.Job)
	if err := sub.tell(ctx, reply.Msg.Job, id); err != nil {
		return err
	}
	switch {
	case sub.console != nil:
		return sub.interact(ctx, reply.Msg.Job)
	case sub.wait:
		return s.await(ctx, reply.Msg.Job)
	}
	return nil
}

// tell says that the job is submitted, and to which queue, as the environment has it: BSUB_QUIET, BSUB_STDERR.
func (s *submission) tell(ctx context.Context, job, id string) error {
	if s.hushed("BSUB_QUIET") {
		return nil
	}
	to := s.env.Stdout
	if s.hushed("BSUB_STDERR") {
		to = s.env.Stderr
	}
	text := fmt.Sprintf("Job <%s> is submitted to queue <%s>.\n", id, s.queue)
	if s.queue == "" {
		text = fmt.Sprintf("Job <%s> is submitted to default queue <%s>.\n", id, s.defaultQueue(ctx, job))
	}
	if _, err := io.WriteString(to, text); err != nil {
		return fmt.Errorf("job %s is queued: %w", job, err)
	}
	return nil
}

// defaultQueue returns where a job has gone that named no queue; of one that is gone already, where
// the server sends such jobs.
func (s *session) defaultQueue(ctx context.Context, job string) string {
	_, all, err := s.objects(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: []string{job}, Attributes: []string{"queue"}, History: true,
	})
	if err == nil && len(all) == 1 && all[0].Refusal == nil {
		return value(all[0], "queue")
	}
	return s.usualQueue(ctx)
}

// usualQueue returns where the server sends jobs that name no queue.
func (s *session) usualQueue(ctx context.Context) string {
	_, all, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"default_queue"}})
	if err == nil && len(all) == 1 {
		return value(all[0], "default_queue")
	}
	return "?"
}

// refusal says in LSF's words why the server has refused the job.
func (s *submission) refusal(ctx context.Context, err error) error {
	var r *pbs.Error
	if !errors.As(err, &r) || s.explain(err).Fatal {
		return err
	}
	text := refusalText(r)
	switch r.Code {
	case pbs.UnknownQueue:
		text = s.queue + ": No such queue"
	case pbs.QueueDisabled:
		queue := s.queue
		if queue == "" {
			queue = s.usualQueue(ctx)
		}
		text = queue + ": Queue has been closed"
	}
	return notDone(rejected(text), "submitted")
}

// refusalText returns why a job cannot be what was asked for.
func refusalText(r *pbs.Error) string {
	text := cmp.Or(r.Message, fmt.Sprintf("error %d", r.Code))
	switch r.Code {
	case pbs.QueueAccess:
		text = "User cannot use the queue"
	case pbs.ResourceLimit: // with no text of its own: a maximum of the queue, or of the server
		if text == pbs.Refuse(r.Code).Message {
			text = resreq.QueueHardLimit.String()
		}
	case pbs.BadAttributeValue:
		if begin := resreq.Syntax.String(); strings.HasPrefix(text, begin) {
			text = begin
		}
	}
	return strings.TrimSuffix(strings.TrimSpace(text), ".")
}

// read takes over what the command line says, and under it what the script says.
func (s *submission) read(ctx context.Context, opts *cli.Options) error {
	if len(opts.Operands) > 0 {
		s.line = strings.Join(opts.Operands, " ")
		if err := s.options(ctx, opts); err != nil {
			return err
		}
		return s.complete(ctx)
	}
	if s.env.Terminal() {
		return s.command.Misuse("no command is given")
	}
	text, err := cli.ReadScript(s.env.Stdin)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return rejected("Empty job")
	}
	s.script = text
	lines, err := script.Directives(text, "#BSUB")
	if err != nil {
		return rejected("bsub: #BSUB: " + err.Error())
	}
	embedded := cli.Line{}
	for _, args := range lines {
		l := s.command.Grammar.Parse(args)
		if len(l.Faults) > 0 {
			return s.command.Misuse(l.Faults...)
		}
		embedded.Options = append(embedded.Options, l.Options...)
	}
	all := cli.OptionsOf(embedded)
	if err := s.options(ctx, all.Under(opts)); err != nil {
		return err
	}
	return s.complete(ctx)
}

func (s *submission) set(name, resource, value string) {
	for _, a := range s.attributes {
		if a.Name == name && a.Resource == resource {
			a.Value = value
			return
		}
	}
	s.attributes = append(s.attributes, &api.Attribute{Name: name, Resource: resource, Value: value})
}

func (s *submission) has(name, resource string) bool {
	return slices.ContainsFunc(s.attributes, func(a *api.Attribute) bool { return a.Name == name && a.Resource == resource })
}

// complete adds what nobody has said, and what comes from the command's surroundings.
func (s *submission) complete(ctx context.Context) error {
	s.set("sandbox", "", "O_WORKDIR")
	if !s.has("Resource_List", "ncpus") {
		s.set("Resource_List", "ncpus", "1")
	}
	if !s.has("Rerunable", "") && !s.has("array_indices_submitted", "") {
		s.set("Rerunable", "", "False")
	}
	if !s.has("Error_Path", "") {
		s.set("Join_Path", "", "oe")
	}
	if len(s.require) == 0 {
		s.require = []string{anyHost}
	}
	text, err := s.required(ctx)
	if err != nil {
		return err
	}
	s.set("lsf_resreq", "", text)
	if err := s.interactive(); err != nil {
		return err
	}
	s.set("Variable_List", "", s.variables())
	if !s.named {
		name := "STDIN"
		if s.line != "" {
			name = nameOf(s.line)
		}
		s.set("Job_Name", "", name)
	}
	if err := s.redirect(); err != nil {
		return err
	}
	if s.line != "" {
		s.set("executable", "", pbs.Wrap(pbs.Executable, shell))
		s.set("argument_list", "", pbs.Wrap(pbs.Argument, "-c", s.line))
	}
	if len(s.script) > 0 && !s.has("Shell_Path_List", "") && !bytes.HasPrefix(s.script, []byte("#!")) { // as in LSF
		s.set("Shell_Path_List", "", shell)
	}
	return nil
}

// required returns the requirement of all -R. Several are one, which only whoever knows the resources of
// the site can make.
func (s *submission) required(ctx context.Context) (string, error) {
	if len(s.require) == 1 {
		return s.require[0], nil
	}
	defs, err := s.resources(ctx)
	if err != nil {
		return "", err
	}
	site := lsf.SiteOf(defs)
	all := make([]resreq.Requirement, len(s.require))
	for i, text := range s.require {
		if all[i], err = resreq.Parse(text, site); err != nil {
			return "", refusedRequirement(err)
		}
	}
	joined, err := resreq.Join(all...)
	if err != nil {
		return "", refusedRequirement(err)
	}
	return joined.String(), nil
}

func refusedRequirement(err error) error {
	if r, ok := errors.AsType[*resreq.Refusal](err); ok {
		return rejected(r.Error())
	}
	return err
}

// quotedPath puts a path in quotes for a shell.
func quotedPath(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// shells are the programs that understand a redirection.
var shells = map[string]bool{"sh": true, "bash": true, "dash": true, "ksh": true, "zsh": true, "ash": true, "mksh": true}

// redirects are the attributes of the files that an interactive job writes, each with what redirects to one.
var redirects = map[string]string{"Output_Path": " > ", "Error_Path": " 2> "}

// redirect has the job read from a file, and an interactive one write into files: of a script of a shell a line is put behind its first one.
func (s *submission) redirect() error {
	to := s.redirection()
	if to == "" {
		return nil
	}
	if s.line != "" {
		s.line = to + "\n" + s.line
		return nil
	}
	first, rest, _ := bytes.Cut(s.script, []byte("\n"))
	if !bytes.HasPrefix(first, []byte("#!")) {
		s.script = append([]byte(to+"\n"), s.script...)
		return nil
	}
	words := strings.Fields(string(first[2:]))
	if len(words) == 0 || !shells[filepath.Base(words[0])] {
		return rejected("option -i goes with a command, or with a script of a shell")
	}
	s.script = bytes.Join([][]byte{first, []byte(to), rest}, []byte("\n"))
	return nil
}

// redirection returns the line that does so, empty where nothing is redirected. Of a job that is not interactive PBS redirects the output.
func (s *submission) redirection() string {
	line := ""
	if s.input != "" {
		line += " < " + quotedPath(s.input)
	}
	if s.console != nil {
		for _, a := range s.attributes {
			if sign := redirects[a.Name]; sign != "" {
				line += sign + strings.ReplaceAll(quotedPath(a.Value), "^job_number^", `'"$LSB_JOBID"'`)
			}
		}
	}
	if line == "" {
		return ""
	}
	return "exec" + line
}
