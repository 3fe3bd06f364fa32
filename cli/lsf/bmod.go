package lsf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/transport/api"
)

const bmodUsage = `bmod [-h] [-V] [-n min[,max] | -nn] [-R "res_req" ... | -Rn] [-m host_name | -mn]
            [-x | -xn] [-W [hour:]minute[/host_name | /host_model] | -Wn] [-c [hour:]minute | -cn]
            [-We [hour:]minute | -Wen] [-app application_name | -appn]
            [-M mem_limit | -Mn] [-b [[[year:]month:]day:]hour:minute | -bn]
            [-J job_name | -J %slot_limit | -Jn]
            [-P project_name | -Pn] [-sp priority | -spn]
            [-w 'dependency_expression' | -wn] [-o | -oo output_file | -on]
            [-e | -eo error_file | -en] [-r | -rn] [-B | -Bn] [-N | -Nn]
            [-u mail_user | -un] [-L login_shell | -Ln]
            job_ID | "job_ID[index]" ...
       bmod -q queue_name job_ID | "job_ID[index]" ...
`

// takenBack are the attributes that an option with an n behind it gives back to what they are without it.
var takenBack = map[string]struct{ name, resource, value string }{
	"Wn": {"Resource_List", "walltime", ""}, "Wen": {"Resource_List", "soft_walltime", ""}, "appn": {"lsf_app", "", ""}, "cn": {"Resource_List", "cput", ""}, "bn": {"Execution_Time", "", ""}, "Mn": {"Resource_List", "pmem", ""}, "Jn": {"Job_Name", "", "STDIN"},
	"Pn": {"project", "", ""}, "spn": {"Priority", "", ""}, "wn": {"depend", "", ""}, "on": {"Output_Path", "", ""}, "en": {"Error_Path", "", ""},
	"un": {"Mail_Users", "", ""}, "Ln": {"Shell_Path_List", "", ""},
}

func bmod() *cli.Command {
	g := cli.Grammar{Letters: "xBNrn:R:q:m:P:J:W:M:w:o:e:u:L:b:E:t:c:C:D:F:S:T:p:v:U:k:f:Q:a:i:g:G:Z:", Dashed: map[string]bool{
		"oo": true, "eo": true, "sp": true, "rn": false, "nn": false, "Rn": false, "mn": false, "xn": false, "Bn": false, "Nn": false,
		"app": true, "sla": true, "We": true, "cwd": true, "env": true, "is": true, "hl": false, "ul": false,
	}}
	for option := range takenBack {
		g.Dashed[option] = false
	}
	return command("bmod", "change what a job was submitted with", bmodUsage, g, modify)
}

// modify changes the jobs of the operands, each by itself.
func modify(ctx context.Context, s *session, opts *cli.Options) error {
	for _, option := range []string{"E", "t", "C", "D", "F", "S", "T", "p", "v", "U", "k", "f", "Q", "a", "i", "g", "G", "Z", "sla", "cwd", "env", "is", "hl", "ul"} {
		if opts.Has(option) {
			return refusedOption(option, "")
		}
	}
	if len(opts.Operands) == 0 {
		return s.command.Misuse("Job ID must be specified")
	}
	for _, operand := range opts.Operands {
		if err := s.modifyOne(ctx, opts, operand); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) modifyOne(ctx context.Context, opts *cli.Options, operand string) error {
	jobs, err := s.jobsOf(ctx, operand, nil)
	if err != nil || len(jobs) == 0 {
		return err
	}
	j := jobs[0]
	changes, err := s.modification(ctx, opts, j)
	if err != nil {
		return notDone(err, "modified")
	}
	if len(changes) == 0 && !opts.Has("q") {
		return s.command.Misuse("nothing is to be changed")
	}
	switch {
	case len(changes) > 0 && opts.Has("q"): // of two requests the second could be refused
		return told("option -q goes alone: change the rest of the job by itself. Job not modified.")
	case len(changes) > 0:
		_, err = s.batch.Alter(s.next(ctx), connect.NewRequest(&api.AlterRequest{Job: j.Name, Changes: changes, Lsf: true}))
	default:
		_, err = s.batch.Move(s.next(ctx), connect.NewRequest(&api.MoveRequest{Job: j.Name, Destination: opts.Last("q")}))
	}
	if err == nil {
		_, err = fmt.Fprintf(s.env.Stdout, "Parameters of job <%s> are being changed\n", operand)
		return err
	}
	r, ok := errors.AsType[*pbs.Error](err)
	if !ok || s.explain(err).Fatal {
		return err
	}
	switch r.Code {
	case pbs.UnknownJob, pbs.HasFinished, pbs.Unauthorized, pbs.BadState:
		s.complain(fmt.Sprintf("Job <%s>: %s", operand, refusalWords(r)))
	case pbs.RunningAttribute:
		s.complain(fmt.Sprintf("Job <%s>: Job has already started. Job not modified.", operand))
	case pbs.UnknownQueue:
		s.complain(opts.Last("q") + ": No such queue. Job not modified.")
	default:
		s.complain(refusalText(r) + ". Job not modified.")
	}
	return nil
}

// modification returns what the options change of a job.
func (s *session) modification(ctx context.Context, opts *cli.Options, j job) ([]*api.Attribute, error) {
	sub := &submission{session: s}
	if j.isArray() { // for %I in the path of a file
		sub.set("array_indices_submitted", "", "")
	}
	for _, read := range []func(context.Context, *cli.Options) error{sub.amounts, sub.belonging, sub.renaming, sub.files, sub.conditions, sub.switches} {
		if err := read(ctx, opts); err != nil {
			return nil, err
		}
	}
	sub.drop("array_indices_submitted", "")
	if sub.has("Error_Path", "") && j.get("Join_Path") == "oe" {
		sub.set("Join_Path", "", "n")
	}
	if opts.Has("We") && (amount(j.Object, "Resource_List", "walltime") != "" || opts.Has("W")) && !opts.Has("Wn") {
		return nil, rejected("option -We: the job has a run limit, which says how long it runs")
	}
	if slices.ContainsFunc([]string{"R", "Rn", "n", "nn", "m", "mn", "x", "xn"}, opts.Has) {
		if err := sub.reshape(ctx, opts, j); err != nil {
			return nil, err
		}
	}
	sub.mailed(opts, j)
	for option, a := range takenBack {
		if !opts.Has(option) {
			continue
		}
		op := api.Op_OP_UNSET
		if a.value != "" {
			op = api.Op_OP_SET
		}
		sub.attributes = append(sub.attributes, &api.Attribute{Name: a.name, Resource: a.resource, Value: a.value, Op: op})
	}
	return sub.attributes, nil
}

// drop takes back what was set.
func (s *submission) drop(name, resource string) {
	s.attributes = slices.DeleteFunc(s.attributes, func(a *api.Attribute) bool { return a.Name == name && a.Resource == resource })
}

// renaming reads what the job is called, and how many jobs of an array may run at a time. The indices of an array stay.
func (s *submission) renaming(_ context.Context, opts *cli.Options) error {
	text := opts.Last("J")
	switch limit, only := strings.CutPrefix(text, "%"); {
	case only:
		return s.atATime(text, limit)
	case strings.Contains(text, "["):
		return rejected("option -J: the indices of an array cannot be changed: say the name alone, or %limit")
	case text == "":
		return nil
	}
	return s.called(text)
}

// reshape has the server make the chunks of the job anew, of its requirement, slots, host and sharing as they are to be.
func (s *submission) reshape(ctx context.Context, opts *cli.Options, j job) error {
	if j.get("lsf_resreq") == "" && !opts.Has("R") && !opts.Has("Rn") { // it came by qsub, and says nothing in LSF's words
		if !slices.ContainsFunc([]string{"n", "nn", "m"}, opts.Has) {
			return s.asQalter(opts, j)
		}
		sel := amount(j.Object, "Resource_List", "select")
		for _, name := range []string{"mpiprocs", "ompthreads"} {
			if strings.Contains(sel, ":"+name+"=") {
				return rejected("the job has " + name + " in its select, for which -R has no word: change it with qalter")
			}
		}
	}
	text := cmp.Or(j.get("lsf_resreq"), j.requested(), anyHost)
	switch {
	case opts.Has("R"):
		joined, err := s.required(ctx)
		if err != nil {
			return err
		}
		text = joined
	case opts.Has("Rn"):
		text = anyHost
	}
	s.set("lsf_resreq", "", text)
	if opts.Has("nn") {
		s.set("Resource_List", "ncpus", "1")
	}
	if hosts := specifiedHosts(j); len(hosts) > 0 && !opts.Has("m") && !opts.Has("mn") {
		s.set("Resource_List", "host", strings.Join(hosts, ","))
	}
	if opts.Has("xn") {
		s.set("Resource_List", "place", "free")
	}
	return nil
}

// asQalter changes the sharing of a job that came by qsub, and takes back the hosts that its chunks name. Its chunks stay what they are.
func (s *submission) asQalter(opts *cli.Options, j job) error {
	s.drop("Resource_List", "place")
	if opts.Has("x") || opts.Has("xn") {
		place, err := spec.ParsePlace(cmp.Or(amount(j.Object, "Resource_List", "place"), "free"))
		if err != nil {
			return err
		}
		if place.Sharing = ""; opts.Has("x") {
			place.Sharing = spec.ExclusiveHost
		}
		s.set("Resource_List", "place", place.String())
	}
	if opts.Has("mn") {
		sel, err := spec.ParseSelect(amount(j.Object, "Resource_List", "select"))
		if err != nil {
			return err
		}
		for i := range sel.Chunks {
			sel.Chunks[i].Items = slices.DeleteFunc(sel.Chunks[i].Items, func(it resource.Item) bool { return it.Name == "host" })
		}
		s.set("Resource_List", "select", sel.String())
	}
	return nil
}

// mailed reads when mail is sent. What is not said stays.
func (s *submission) mailed(opts *cli.Options, j job) {
	s.drop("Mail_Points", "")
	before := strings.Trim(j.get("Mail_Points"), "n")
	points := before
	for option, letter := range map[string]string{"B": "b", "N": "e"} {
		if opts.Has(option) || opts.Has(option+"n") {
			points = strings.ReplaceAll(points, letter, "")
		}
		if opts.Has(option) {
			points += letter
		}
	}
	if points != before {
		s.set("Mail_Points", "", cmp.Or(points, "n"))
	}
}
