package service

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// badGroup is PBS's number for a group that the user is not in.
const badGroup pbs.Code = 15024

// Submit queues a job: qsub.
func (b *Batch) Submit(ctx context.Context, r *connect.Request[api.SubmitRequest]) (*connect.Response[api.SubmitReply], error) {
	if r.Msg.GetTakesDefaults() {
		v, err := b.present(ctx)
		if err != nil {
			return nil, err
		}
		if now := v.Server().Get("default_qsub_arguments"); now != r.Msg.GetDefaultArguments() {
			return connect.NewResponse(&api.SubmitReply{Others: true, DefaultArguments: now}), nil
		}
	}
	result, err := b.change(ctx, r, func(p person) ([]command.Command, error) {
		job, err := b.submission(ctx, p, r.Msg)
		if err == nil {
			err = b.hookedIn(ctx, p, job)
		}
		if err == nil {
			b.outputs(job)
		}
		if err == nil {
			err = b.detach(ctx, job)
		}
		return []command.Command{job}, err
	})
	if err == nil {
		b.postQueued(ctx, result.Job)
	}
	return reply(&api.SubmitReply{Job: string(result.Job)}, err)
}

// hookedIn lets the hooks of queuejob look at a job, and gives it the group that they want.
func (b *Batch) hookedIn(ctx context.Context, p person, job *command.SubmitJob) error {
	before, _ := job.Attributes.Get("group_list", "")
	if err := b.queueJob(ctx, p, job); err != nil {
		return err
	}
	if groups, _ := job.Attributes.Get("group_list", ""); groups == before {
		return nil
	}
	account, err := b.account(ctx, p.user)
	if err != nil {
		return err
	}
	group, err := groupOf(p.view, account, job.Attributes, p.user.Host)
	if err != nil {
		return err
	}
	job.Attributes = job.Attributes.Set("egroup", "", group)
	return nil
}

// outputs sends the output of a job, if no host is named for it, to the host that pbs.conf of the replica names, by the
// name that the job has now that hooks have seen it.
func (b *Batch) outputs(job *command.SubmitJob) {
	vars, _ := job.Attributes.Get("Variable_List", "")
	dir, known := attr.Variable(vars, "PBS_O_WORKDIR")
	if on, _ := job.Attributes.Get("interactive", ""); b.OutputHost == "" || !known || on == "True" {
		return
	}
	_, array := job.Attributes.Get("array_indices_submitted", "")
	for _, f := range []struct{ name, ext string }{{"Output_Path", ".o"}, {"Error_Path", ".e"}} {
		if _, said := job.Attributes.Get(f.name, ""); said {
			continue
		}
		path := b.OutputHost + ":" + strings.TrimSuffix(dir, "/") + "/" + state.JobName + f.ext + state.JobNumber
		if array {
			path += "." + state.ArrayIndex
		}
		job.Attributes = job.Attributes.Set(f.name, "", path)
	}
}

// postQueuedFor bounds the wait for hooks of postqueuejob: the job is queued, whatever they do.
const postQueuedFor = 10 * time.Second

// postQueued waits until the hooks of postqueuejob have seen a job, so that who submitted it finds
// it as they have made it.
func (b *Batch) postQueued(ctx context.Context, id pbs.JobID) {
	defer transport.Working(ctx)()
	ctx, cancel := context.WithTimeout(ctx, postQueuedFor)
	defer cancel()
	for {
		changed := b.Replica.Changed()
		v, err := b.Replica.Read(ctx, cluster.Stale)
		if err != nil || !v.HasHooksAt("postqueuejob") || !v.IsNewToHooks(id) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// submission returns the command that queues the job. All that a replica would
// have to ask the world for, the account above all, is asked here.
func (b *Batch) submission(ctx context.Context, p person, r *api.SubmitRequest) (*command.SubmitJob, error) {
	if !p.view.Server().TakesScript(int64(len(r.GetScript()))) { // Apply would say so, too, but with all of it in the log
		return nil, pbs.Refuse(pbs.ScriptOverLimit)
	}
	queue, err := queueOf(p.view, r.GetDestination())
	if err != nil {
		return nil, err
	}
	asked, err := fromNodes(r.GetAttributes(), p.view)
	if err != nil {
		return nil, err
	}
	list, err := parseJob(p, asked)
	if err != nil {
		return nil, err
	}
	if list, err = withApplication(p.view, queue, list); err != nil {
		return nil, err
	}
	if list, err = required(p.view, queue, list, false, p.user.Host); err != nil {
		return nil, err
	}
	if list, err = counted(p.view, list); err != nil {
		return nil, err
	}
	account, err := b.account(ctx, p.user)
	if err != nil {
		return nil, err
	}
	if root := account.UID == 0 || p.user.Name == "root"; root && !listed(p.view.Server().List("acl_roots"), p.user, false) {
		return nil, pbs.Refuse(pbs.BadUser)
	}
	group, err := groupOf(p.view, account, list, p.user.Host)
	if err != nil {
		return nil, err
	}
	list = list.Set("euser", "", account.Name).Set("egroup", "", group).Set("Submit_Host", "", string(p.user.Host))
	return &command.SubmitJob{
		Owner: p.user, Queue: queue, Attributes: withOrigin(p, list, queue, account.Home), Script: r.GetScript(),
		Account: toRecord(p.view, account),
	}, nil
}

// detach puts a large script beside the log: a majority has it when the job is proposed, last of
// all, so that little time lies between.
func (b *Batch) detach(ctx context.Context, job *command.SubmitJob) error {
	if len(job.Script) < pbs.LargeScript {
		return nil
	}
	at, voters := b.now(), b.Replica.Voters()
	stored, err := b.Blobs.Put(ctx, job.Script)
	if err != nil {
		return err
	}
	job.Script, job.Blob, job.At, job.Voters = nil, &stored, at, voters
	return nil
}

// parseJob reads the attributes of a new job and permits each of them.
func parseJob(p person, list []*api.Attribute) (attr.List, error) {
	var out attr.List
	byLSF := slices.ContainsFunc(list, func(a *api.Attribute) bool { return a.GetName() == requirement && a.GetValue() != "" })
	for _, a := range list {
		ch, err := parseChange(p.estimates(a, byLSF), attr.Job, a)
		if err != nil {
			return nil, err
		}
		if ch.Op != command.OpSet {
			return nil, pbs.Refuse(pbs.InvalidRequest)
		}
		if ch.Entry.Value != "" {
			out = out.Set(ch.Entry.Name, ch.Entry.Resource, ch.Entry.Value)
		}
	}
	if _, posted := out.Get(lsf.JobMessages, ""); posted { // they tell who has posted them, and when
		return nil, pbs.Attribute(pbs.InvalidRequest, lsf.JobMessages)
	}
	if text, ok := out.Get("array_indices_submitted", ""); ok && !byLSF { // of PBS it is one range of several
		if set, err := pbs.ParseIndices(text); err != nil || len(set) > 1 || set.Count() < 2 {
			return nil, pbs.Attribute(pbs.BadAttributeValue, "array_indices_submitted")
		}
	}
	if users, ok := out.Get("User_List", ""); ok && runsAs(p.view, users, p.user.Name) != p.user.Name {
		return nil, pbs.Refuse(pbs.BadUser)
	}
	if holds, ok := out.Get("Hold_Types", ""); ok {
		h, err := pbs.ParseHolds(holds)
		if err != nil {
			return nil, err
		}
		if h&^pbs.HoldUser != 0 && p.perm < attr.Operator {
			return nil, pbs.Refuse(pbs.Unauthorized)
		}
	}
	return out, nil
}

// runsAs returns as whom a list of users wants the job to run: as the one of it that is named for a host of the server, else as the first that
// is named for any host, else as the owner. Those of other servers' hosts are for these.
func runsAs(v *state.View, list, owner string) string {
	other := ""
	for item := range strings.SplitSeq(list, ",") {
		name, host, hosted := strings.Cut(strings.TrimSpace(item), "@")
		switch {
		case hosted && isAlias(v, host):
			return name
		case !hosted && other == "":
			other = name
		}
	}
	return cmp.Or(other, owner)
}

// groupOf returns the group under which the job runs: that of group_list which names a host of the server, as in PBS, else the host of the
// submission, else none, else the account's own.
func groupOf(v *state.View, a transport.Account, list attr.List, host pbs.HostName) (string, error) {
	wanted, ok := list.Get("group_list", "")
	if !ok {
		return a.Group, nil
	}
	var server, here, anywhere string
	for item := range strings.SplitSeq(wanted, ",") {
		name, at, hosted := strings.Cut(strings.TrimSpace(item), "@")
		switch {
		case !hosted:
			anywhere = cmp.Or(anywhere, name)
		case isAlias(v, at):
			server = cmp.Or(server, name)
		case at == string(host):
			here = cmp.Or(here, name)
		}
	}
	group := cmp.Or(server, here, anywhere)
	if group == "" {
		return a.Group, nil
	}
	if group != a.Group && !slices.Contains(a.Groups, group) {
		return "", pbs.Errorf(badGroup, "Bad GID for job execution")
	}
	return group, nil
}

// regroup adds to changes of a job the group under which it runs by its new group_list.
func (b *Batch) regroup(ctx context.Context, v *state.View, j *state.Job, changes []command.AttrChange) ([]command.AttrChange, error) {
	i := slices.IndexFunc(changes, func(ch command.AttrChange) bool { return ch.Entry.Name == "group_list" })
	if i < 0 || j.Live() { // of one that runs it is refused
		return changes, nil
	}
	account, err := b.account(ctx, j.Owner)
	if err != nil {
		return nil, err
	}
	var list attr.List
	if ch := changes[i]; ch.Op == command.OpSet && ch.Entry.Value != "" {
		list = list.Set("group_list", "", ch.Entry.Value)
	}
	group, err := groupOf(v, account, list, j.Owner.Host)
	if err != nil {
		return nil, err
	}
	return append(changes, command.AttrChange{Op: command.OpSet, Entry: attr.Entry{Name: "egroup", Value: group}}), nil
}

// withOrigin adds to Variable_List where the job was submitted.
func withOrigin(p person, list attr.List, queue pbs.QueueName, home string) attr.List {
	vars, _ := list.Get("Variable_List", "")
	if queue == "" {
		queue = p.view.Server().DefaultQueue()
	}
	for _, v := range []struct{ name, value string }{
		{"PBS_O_HOME", home}, {"PBS_O_QUEUE", string(queue)}, {"PBS_O_HOST", string(p.user.Host)},
	} {
		if _, ok := attr.Variable(vars, v.name); ok || v.value == "" {
			continue
		}
		if vars != "" {
			vars += ","
		}
		vars += v.name + "=" + attr.EscapeVariable(v.value)
	}
	if vars == "" {
		return list
	}
	return list.Set("Variable_List", "", vars)
}
