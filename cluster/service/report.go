package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/cluster/blob"
	"rampart/cluster/load"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

// Report implements the Report service: what moms tell the servers.
type Report struct {
	base
	Blobs     BlobKeeper
	Leases    func() Leases
	Loads     *load.Table
	deadlines *deadlines // that moms hold
}

// mom returns the host whose mom asks; it speaks for itself only.
func mom(ctx context.Context, host string) (pbs.HostName, error) {
	caller, ok := transport.CallerFrom(ctx)
	if !ok || caller.Role != transport.RoleMom || string(caller.Host) != host {
		return "", fmt.Errorf("report of %s by %s: %w", host, caller.Host, pbs.Refuse(pbs.Unauthorized))
	}
	return caller.Host, nil
}

// Register tells who the mom is and what it offers.
func (s *Report) Register(ctx context.Context, r *connect.Request[api.RegisterRequest]) (*connect.Response[api.RegisterReply], error) {
	host, err := mom(ctx, r.Msg.GetHost())
	if err != nil {
		return nil, err
	}
	v, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	up := &command.HostUp{
		Host: host, Address: r.Msg.GetAddress(), GossipAddress: r.Msg.GetGossipAddress(), BootID: r.Msg.GetBootId(),
		SpoolID: r.Msg.GetSpoolId(), Version: r.Msg.GetVersion(), PCPUs: r.Msg.GetPcpus(), Trouble: trouble(r.Msg.GetTrouble()),
		Epoch: r.Msg.GetEpoch(), Told: r.Msg.GetToldSeq(), For: r.Msg.GetForEpoch(), Busy: r.Msg.GetBusy(), JudgesLoad: r.Msg.GetJudgesLoad(),
	}
	if named := pbs.VnodeName(r.Msg.GetNodeName()); named.Valid() {
		up.NodeName = named
	}
	for _, t := range r.Msg.GetTasks() {
		run := command.ReportedTask{Job: pbs.JobID(t.GetJob()), RunCount: pbs.RunCount(t.GetRunCount())}
		switch {
		case !t.GetEnded():
			up.Tasks = append(up.Tasks, run)
		case !t.GetTold():
			up.Ending = append(up.Ending, run)
		}
	}
	for _, vn := range r.Msg.GetVnodes() {
		reported, err := parseVnode(v, vn)
		if err != nil {
			return nil, fmt.Errorf("register %s: %w", host, err)
		}
		up.Vnodes = append(up.Vnodes, reported)
	}
	result, err := s.commit(ctx, pbs.User{}, up)
	if err != nil {
		return nil, err
	}
	s.renewed(host)
	if v, err = s.present(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&api.RegisterReply{
		Epoch: result.Epoch, AckedSeq: result.Acked,
		FenceSeconds: v.Server().Fence(), Term: v.Cluster().Term, LowestOpen: uint64(lowestOpen(v, host)),
	}), nil
}

// parseVnode reads what a mom offers. A resource that the cluster does not know
// is left out: it comes with the registration after it was made.
func parseVnode(v *state.View, r *api.VnodeReport) (command.ReportedVnode, error) {
	out := command.ReportedVnode{Name: pbs.VnodeName(r.GetName())}
	if !out.Name.Valid() {
		return out, pbs.Errorf(pbs.InvalidRequest, "a vnode cannot have the name %q", out.Name)
	}
	for _, a := range r.GetAttributes() {
		switch a.GetName() {
		case "sharing":
			out.Sharing = a.GetValue()
		case "resources_available":
			def, ok := v.Resource(a.GetResource())
			if !ok {
				continue
			}
			if _, shares := state.Target(a.GetValue()); shares && def.AtVnodes() {
				out.Available = out.Available.Set(def.Name, a.GetValue())
				continue
			}
			q, err := def.Parse(a.GetValue())
			if err != nil {
				return out, pbs.Attribute(pbs.BadAttributeValue, "resources_available."+a.GetResource())
			}
			out.Available = out.Available.Set(def.Name, q.String())
		case "resources_measured": // of the mom's configuration, or of a command: neither is to keep the host from us
			if def, ok := v.Resource(a.GetResource()); ok {
				if _, said := out.Available.Get(def.Name); said {
					continue
				}
				if q, err := def.Parse(a.GetValue()); err == nil {
					out.Available = out.Available.Set(def.Name, q.String())
				}
			}
		default:
			if err := reportAttribute(v, &out, a); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// reportAttribute reads an attribute that a definition file gives to a vnode: any that
// qmgr could set, and that no replica is too old for.
func reportAttribute(v *state.View, out *command.ReportedVnode, a *api.Attribute) error {
	def, ok := attr.Lookup(attr.Vnode, a.GetName())
	if !ok || def.Write == attr.ServerOnly || def.OnCreate || definedElsewhere[def.Name] {
		return nil
	}
	value, err := def.ParseResource(a.GetResource(), a.GetValue(), v)
	if err != nil {
		return err
	}
	out.Attrs = out.Attrs.Set(def.Name, a.GetResource(), value)
	return nil
}

// definedElsewhere are attributes that are no matter of definition files.
var definedElsewhere = map[string]bool{"state": true, "comment": true, "resv_enable": true, "resources_available": true}

// Facts takes what happened to jobs, as one proposal: all of the facts or none.
// What was taken before changes nothing (L9).
func (s *Report) Facts(ctx context.Context, r *connect.Request[api.FactsRequest]) (*connect.Response[api.FactsReply], error) {
	host, err := mom(ctx, r.Msg.GetHost())
	if err != nil {
		return nil, err
	}
	acked, err := s.acked(ctx, host, r.Msg.GetSpoolId())
	if err != nil {
		return nil, err
	}
	for _, chunk := range chunks(r.Msg.GetFacts(), command.MaxCommands) {
		commands := make([]command.Command, len(chunk))
		for i, f := range chunk {
			if commands[i], err = fact(host, r.Msg.GetSpoolId(), f); err != nil {
				return nil, err
			}
			if w, ok := commands[i].(*command.HookWishes); ok && f.GetHooks().GetOwn() {
				if err := s.boundOwners(ctx, w); err != nil {
					return nil, err
				}
			}
		}
		result, err := s.commit(ctx, pbs.User{}, commands...)
		if err != nil {
			return nil, err
		}
		acked = result.Acked
	}
	return connect.NewResponse(&api.FactsReply{AckedSeq: acked}), nil
}

// acked returns the highest contiguous fact of a spool that was taken so far.
func (s *Report) acked(ctx context.Context, host pbs.HostName, spool string) (uint64, error) {
	v, err := s.present(ctx)
	if err != nil {
		return 0, err
	}
	if h, ok := v.Host(host); ok && h.SpoolID == spool {
		return h.Acked, nil
	}
	return 0, nil
}

func chunks[T any](all []T, size int) [][]T {
	var out [][]T
	for len(all) > size {
		out, all = append(out, all[:size]), all[size:]
	}
	if len(all) > 0 {
		out = append(out, all)
	}
	return out
}

func fact(host pbs.HostName, spool string, f *api.Fact) (command.Command, error) {
	source := command.Source{Host: host, Spool: spool, Seq: f.GetSeq()}
	job, run := pbs.JobID(f.GetJob()), pbs.RunCount(f.GetRunCount())
	switch what := f.GetWhat().(type) {
	case *api.Fact_Started:
		return &command.JobStarted{
			Source: source, Job: job, RunCount: run, Session: what.Started.GetSession(), JobDir: what.Started.GetJobdir(),
		}, nil
	case *api.Fact_Hooks:
		w := hookWishes(source, what.Hooks)
		w.Run = &command.ReportedTask{Job: job, RunCount: run}
		return w, nil
	case *api.Fact_Exiting:
		return &command.JobExiting{Source: source, Job: job, RunCount: run, Hooks: what.Exiting.GetHooks()}, nil
	case *api.Fact_NotCheckpointed:
		return &command.CheckpointFailed{Source: source, Job: job, RunCount: run, Reason: what.NotCheckpointed.GetReason()}, nil
	case *api.Fact_CheckpointMade:
		return &command.CheckpointMade{Source: source, Job: job, RunCount: run}, nil
	case *api.Fact_Ended:
		e := what.Ended
		return &command.JobEnded{
			Source: source, Job: job, RunCount: run, ExitStatus: e.GetExitStatus(), Used: resource.Told(api.Usage(e.GetUsed())),
			Comment: e.GetComment(), NeverStarted: e.GetNeverStarted(), Lost: e.GetLost(), StageoutStatus: e.GetStageoutStatus(),
			StageInFailed: e.GetStageinFailed(), Present: resource.Told(api.Usage(e.GetPresent())), Checkpointed: e.GetCheckpointed(),
			Keepers: keepers(e.GetKeepers()), Fault: pbs.HostName(e.GetFault()),
		}, nil
	default:
		return nil, pbs.Errorf(pbs.InvalidRequest, "fact %d of %s is of no known kind", f.GetSeq(), host)
	}
}

// Samples takes the latest usage of a mom's jobs; it is not committed when nothing
// has changed.
func (s *Report) Samples(ctx context.Context, r *connect.Request[api.SamplesRequest]) (*connect.Response[api.SamplesReply], error) {
	host, err := mom(ctx, r.Msg.GetHost())
	if err != nil {
		return nil, err
	}
	v, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	sample := &command.UsageSample{Host: host}
	for _, j := range r.Msg.GetJobs() {
		known, ok := v.Job(pbs.JobID(j.GetJob()))
		if !ok || !known.Is(pbs.RunCount(j.GetRunCount())) || known.Run.MS != host {
			continue
		}
		sample.Jobs = append(sample.Jobs, command.JobUsage{
			Job: known.ID, RunCount: known.RunCount, Used: resource.Told(api.Usage(j.GetUsed())), Present: resource.Told(api.Usage(j.GetPresent())),
		})
	}
	if len(sample.Jobs) == 0 {
		return connect.NewResponse(&api.SamplesReply{}), nil
	}
	_, err = s.commit(ctx, pbs.User{}, sample)
	return reply(&api.SamplesReply{}, err)
}

// scriptChunk is how much of a script one message carries.
const scriptChunk = 256 << 10

// Script returns a job's script, to the mother superior of its present run. Whoever only wants
// to hear that the run counts may be a sister whose part is not over.
func (s *Report) Script(ctx context.Context, r *connect.Request[api.ScriptRequest], stream *connect.ServerStream[api.ScriptReply]) error {
	caller, _ := transport.CallerFrom(ctx)
	v, err := s.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return err
	}
	j, ok := v.Job(pbs.JobID(r.Msg.GetJob()))
	if !ok {
		return pbs.Refuse(pbs.UnknownJob)
	}
	allowed := j.LastRun().MS == caller.Host || r.Msg.GetConfirm() && j.LastRun().Sister(caller.Host)
	if !allowed || !j.Is(pbs.RunCount(r.Msg.GetRunCount())) {
		return fmt.Errorf("script of run %d of %s for %s: %w", r.Msg.GetRunCount(), j.ID, caller.Host, pbs.Refuse(pbs.Unauthorized))
	}
	if r.Msg.GetConfirm() {
		user, _ := j.Attrs.Get("euser", "")
		group, _ := j.Attrs.Get("egroup", "")
		return stream.Send(&api.ScriptReply{Owner: &api.RunOwner{Mother: string(j.LastRun().MS), User: user, Group: group, Account: recorded(v, user)}})
	}
	return sendScript(ctx, s.Blobs, v, j.ID, func(piece []byte) error { return stream.Send(&api.ScriptReply{Data: piece}) })
}

// sendScript sends the script of a job, which may be beside the state, and at another replica.
func sendScript(ctx context.Context, blobs BlobKeeper, v *state.View, id pbs.JobID, send func(piece []byte) error) error {
	script, ok := v.Script(id)
	if !ok {
		return nil
	}
	if script.Blob == nil {
		return inPieces(bytes.NewReader(script.Body), scriptChunk, send)
	}
	body, err := blobs.Open(ctx, *script.Blob)
	if err != nil && !errors.Is(err, blob.ErrLost) { // another replica may give it, or this one in a while
		return connect.NewError(connect.CodeUnavailable, fmt.Errorf("script of %s: %w", id, err))
	}
	if err != nil {
		return fmt.Errorf("script of %s: %w", id, err)
	}
	defer body.Close()
	return inPieces(body, scriptChunk, send)
}

func keepers(names []string) (hosts []pbs.HostName) {
	for _, name := range names {
		hosts = append(hosts, pbs.HostName(name))
	}
	return hosts
}
