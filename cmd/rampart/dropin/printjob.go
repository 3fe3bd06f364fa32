package dropin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli/render"
	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
	"rampart/transport/client"
)

// jobFile is how the name of a job's file ends in mom_priv/jobs of a PBS. Here a mom keeps a folder for each run of a job, and
// the name stands for the last of them.
const jobFile = ".JB"

// A storedJob is what is stored of a job, as printjob shows it.
type storedJob struct {
	id       pbs.JobID
	state    int // as a PBS numbers it
	substate pbs.Substate
	facts    [][2]string // more lines of the head
	attrs    [][2]string
}

// printJobMain prints jobs from what is stored of them: of an id as the replicas have it, of a file as its mom has it on disk,
// whether that runs or not: printjob.
func printJobMain(ctx context.Context, c *call) error {
	if len(c.operands) == 0 {
		return fmt.Errorf("%w\nusage: %s", ErrUsage, programs()[c.name].usage)
	}
	var failed []error
	for _, operand := range c.operands {
		if err := c.printJob(ctx, operand); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (c *call) printJob(ctx context.Context, operand string) error {
	ofFile := strings.ContainsRune(operand, filepath.Separator) || strings.HasSuffix(operand, jobFile)
	if c.has("s") {
		return c.printScript(ctx, operand, ofFile)
	}
	show := c.jobOfServer
	if ofFile {
		show = jobOfFile
	}
	j, err := show(ctx, operand)
	if err != nil {
		return err
	}
	return j.print(c.world.Stdout, !c.has("a"))
}

// stateNumbers are the numbers that a PBS gives to states, by their letters.
var stateNumbers = map[string]int{"T": 0, "Q": 1, "H": 2, "W": 3, "R": 4, "S": 4, "U": 4, "E": 5, "X": 6, "B": 7, "M": 8, "F": 9}

// lastRun reads what a mom has on disk of the last run of a job.
func lastRun(path string) (spool.Record, error) {
	dir, name := filepath.Split(path)
	id := pbs.JobID(strings.TrimSuffix(name, jobFile))
	all, err := spool.ReadTasks(filepath.Clean(dir))
	if err != nil {
		return spool.Record{}, fmt.Errorf("unable to open file %s: %w", path, err)
	}
	all = slices.DeleteFunc(all, func(r spool.Record) bool { return r.Key.Job != id })
	if len(all) == 0 {
		return spool.Record{}, fmt.Errorf("unable to open file %s: there is no run of %s on this host", path, id)
	}
	return slices.MaxFunc(all, func(a, b spool.Record) int { return int(a.Key.Run) - int(b.Key.Run) }), nil
}

// jobOfFile shows that run.
func jobOfFile(_ context.Context, path string) (*storedJob, error) {
	last, err := lastRun(path)
	if err != nil {
		return nil, err
	}
	t, err := task.Read(last)
	if err != nil {
		return nil, err
	}
	j := &storedJob{id: t.Key.Job, state: stateNumbers["R"]}
	switch t.State() {
	case task.Running, task.Ending:
		j.substate = pbs.SubRunning
		if s := t.Suspension.State; s == task.Suspended || s == task.Resuming {
			j.substate = pbs.SubSuspended
		}
	case task.Gathering, task.Delivering:
		j.state, j.substate = stateNumbers["E"], pbs.SubStageOut
	case task.Ended:
		j.state, j.substate = stateNumbers["E"], pbs.SubExiting
	default:
		j.substate = pbs.SubStarting
	}
	fact := func(name string, value any) { j.facts = append(j.facts, [2]string{name, fmt.Sprint(value)}) }
	fact("run", t.Key.Run)
	if at := t.Life.StartedAt; at != 0 {
		fact("stime", at/1e9)
	}
	fact("queue", t.Attrs.Get("queue"))
	if t.Handle.Session != 0 {
		fact("session", t.Handle.Session)
	}
	if t.Result != nil {
		fact("exitstat", t.Result.ExitStatus)
	}
	for i, h := range t.Hosts {
		fact(fmt.Sprintf("host %d", i), h.Name)
	}
	for _, a := range t.Attrs {
		j.add(a.Name, a.Resource, a.Value)
	}
	return j, nil
}

func (j *storedJob) add(name, resource, value string) {
	if resource != "" {
		name += "." + resource
	}
	j.attrs = append(j.attrs, [2]string{name, value})
}

// asker asks the daemon of this host.
func (c *call) asker(id string) (*client.Client, error) {
	socket, _ := c.daemon()
	if socket == "" {
		return nil, fmt.Errorf("%s: this host has neither a replica nor a mom", id)
	}
	return client.New(client.Options{Replicas: []string{"unix:" + socket}, Budget: askWithin}), nil
}

// jobOfServer asks the daemon of this host for a job, a finished one too.
func (c *call) jobOfServer(ctx context.Context, id string) (*storedJob, error) {
	asker, err := c.asker(id)
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	stream, err := asker.Batch().List(ctx, connect.NewRequest(&api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: []string{id}, History: true}))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var j *storedJob
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			if r := o.GetRefusal(); r != nil {
				return nil, fmt.Errorf("%s", strings.TrimSpace(r.GetMessage()))
			}
			if j == nil {
				j = jobOf(o)
			}
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	if j == nil {
		return nil, fmt.Errorf("%s %s", pbs.UnknownJob.Text(), id)
	}
	return j, nil
}

// jobOf takes a job from what a list has of it.
func jobOf(o *api.Object) *storedJob {
	j := &storedJob{id: pbs.JobID(o.GetName())}
	head := map[string]string{"stime": "", "queue": "", "run_count": "", "session_id": ""}
	for _, a := range o.GetAttributes() {
		switch a.GetName() {
		case "job_state":
			j.state = stateNumbers[a.GetValue()]
		case "substate":
			_, _ = fmt.Sscan(a.GetValue(), &j.substate)
		}
		if _, ok := head[a.GetName()]; ok {
			head[a.GetName()] = a.GetValue()
		}
		j.add(a.GetName(), a.GetResource(), a.GetValue())
	}
	for _, f := range [][2]string{{"run", "run_count"}, {"stime", "stime"}, {"queue", "queue"}, {"session", "session_id"}} {
		if value := head[f[1]]; value != "" {
			j.facts = append(j.facts, [2]string{f[0], value})
		}
	}
	return j
}

// line is what PBS draws above and below the identifier of a job.
var line = strings.Repeat("-", 51)

// print writes the job as PBS's printjob does: a head, and the attributes.
func (j *storedJob) print(out io.Writer, attributes bool) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s\njobid:\t%s\n%s\nstate:\t\t0x%x\nsubstate:\t0x%x (%d)\n", line, j.id, line, j.state, j.substate, j.substate)
	for _, f := range j.facts {
		fmt.Fprintf(w, "%s:\t%s\n", f[0], f[1])
	}
	if attributes {
		fmt.Fprintln(w, "--attributes--")
		for _, a := range j.attrs {
			fmt.Fprintf(w, "%s = %s\n", a[0], render.Printable(a[1]))
		}
	}
	fmt.Fprintln(w)
	return w.Flush()
}
