package world

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/chaos/fault"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// limit of what must happen when nothing is broken.
const startLimit = time.Minute

// Start brings everything up, and returns when jobs can run.
func (w *World) Start(ctx context.Context) error {
	n := starting{w}
	if w.config.Ambush != "" {
		w.traps.early = w.traps.lay(fault.Step{Kind: fault.Ambush, Value: w.config.Ambush})
	}
	for i, r := range w.servers {
		r.start(w.life)
		if i == 0 {
			if err := w.await(ctx, startLimit, n.noLeader); err != nil {
				return fmt.Errorf("found the cluster: %w", err)
			}
		}
	}
	if err := w.await(ctx, startLimit, func() string { return n.lacking(ctx) }); err != nil {
		return fmt.Errorf("make the replicas voters: %w", err)
	}
	if err := n.prepare(ctx); err != nil {
		return err
	}
	for _, m := range w.moms {
		m.start(w.life)
		if !w.config.Plain { // else in the order of their vnodes
			continue
		}
		if err := w.await(ctx, startLimit, func() string { return n.missing(m) }); err != nil {
			return fmt.Errorf("bring %s up: %w", m.name, err)
		}
	}
	if err := w.await(ctx, startLimit, func() string { return n.missing(w.moms...) }); err != nil {
		return fmt.Errorf("bring the moms up: %w", err)
	}
	n.sortMoms()
	return nil
}

// starting is what a world needs until jobs can run.
type starting struct{ *World }

// prepare sets what loads and laws need.
func (n starting) prepare(ctx context.Context) error {
	if n.config.Plain {
		return nil
	}
	if err := n.keepHistory(ctx); err != nil {
		return fmt.Errorf("keep the history of jobs: %w", err)
	}
	if err := n.makeQueue(ctx); err != nil {
		return fmt.Errorf("make a second queue: %w", err)
	}
	return nil
}

// deadFor is how long a leader is away that died while the world started.
const deadFor = time.Second

// revive starts a leader again that has died while the world started.
func (w *World) revive() {
	if w.traps.early == nil {
		return
	}
	select {
	case hit := <-w.traps.early.struck:
		w.traps.bury(hit, w.traps.early.command)
		<-time.After(deadFor)
		hit.r.start(w.life)
	default:
	}
}

// leader returns the replica that the newest term names, nil if it is down or none is.
func (w *World) leader() *replica {
	var best *replica
	var term uint64
	for _, r := range w.servers {
		if r.done == nil {
			continue
		}
		c := r.machine.View().Cluster()
		if c.Term > term && c.Term > 0 {
			term, best = c.Term, w.named(string(c.Leader))
		}
	}
	if best == nil || best.done == nil {
		return nil
	}
	return best
}

func (w *World) named(name string) *replica {
	for _, r := range w.servers {
		if r.name == name {
			return r
		}
	}
	return nil
}

func (n starting) noLeader() string {
	if n.leader() == nil {
		return "there is no leader"
	}
	return ""
}

// lacking tells which replicas do not vote.
func (n starting) lacking(ctx context.Context) string {
	reply, err := n.admin.Status(ctx, connect.NewRequest(&api.StatusRequest{}))
	if err != nil {
		return err.Error()
	}
	var roles []string
	voters := 0
	for _, r := range reply.Msg.GetReplicas() {
		roles = append(roles, r.GetName()+" is "+r.GetRole())
		if r.GetRole() == "leader" || r.GetRole() == "follower" {
			voters++
		}
	}
	if voters == len(n.servers) {
		return ""
	}
	return strings.Join(roles, ", ")
}

// keepHistory makes finished jobs stay, so that lists and the end show all of them,
// and lets each client delete what another has submitted.
func (n starting) keepHistory(ctx context.Context) error {
	changes := []*api.Attribute{
		{Name: "job_history_enable", Value: "True"},
		{Name: "flatuid", Value: "True"},
		{Name: "reserve_retry_time", Value: "10"}, // a reservation that has lost its vnodes finds others within the time that a run has to come to rest
	}
	if n.config.Size.Fence > 0 {
		changes = append(changes, &api.Attribute{Name: fenceAttribute, Value: fault.Seconds(n.config.Size.Fence)})
	}
	if names := n.config.Size.Restrict; names != "" {
		changes = append(changes, &api.Attribute{Name: "restrict_res_to_release_on_suspend", Value: names})
	}
	if n.config.Size.Prune {
		changes = append(changes, &api.Attribute{Name: "prune_at_job_start", Value: "True"}, &api.Attribute{Name: "operators", Value: asker + "@*"})
	}
	_, err := n.manager.Manage(ctx, connect.NewRequest(&api.ManageRequest{
		Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_SERVER, Changes: changes,
	}))
	return err
}

const fenceAttribute = "node_fail_requeue"

// SecondQueue is a queue beside the default one, for jobs that may have to wait.
const SecondQueue = "later"

func (n starting) makeQueue(ctx context.Context) error {
	_, err := n.manager.Manage(ctx, connect.NewRequest(&api.ManageRequest{
		Verb: api.Verb_VERB_CREATE, Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Name: SecondQueue,
		Changes: []*api.Attribute{
			{Name: "queue_type", Value: "Execution"}, {Name: "enabled", Value: "True"}, {Name: "started", Value: "True"},
		},
	}))
	if err != nil {
		return err
	}
	var more []*api.Attribute
	switch size := n.config.Size; {
	case size.Busy:
		return n.makeBusy(ctx)
	case size.Plans:
		return n.configure(ctx)
	case size.Express:
		more = []*api.Attribute{{Name: "Priority", Value: "200"}}
	case size.Keeps:
		more = []*api.Attribute{{Name: "Priority", Value: "100"}, {Name: "resource_reserve", Value: strconv.Itoa(keepTurns)}, {Name: "backfill", Value: "False"}}
	default:
		return nil
	}
	_, err = n.manager.Manage(ctx, connect.NewRequest(&api.ManageRequest{
		Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Name: SecondQueue, Changes: more,
	}))
	return err
}

// sortMoms puts first the mom that gets jobs first: it is the one to be hit.
func (n starting) sortMoms() {
	v := n.leader().machine.View()
	seq := func(m *mom) uint64 {
		vn, _ := v.Vnode(pbs.VnodeName(m.name))
		return vn.Seq
	}
	slices.SortFunc(n.moms, func(a, b *mom) int { return cmp.Compare(seq(a), seq(b)) })
}

// missing tells how many of some execution hosts are not up; empty: none is missing.
func (n starting) missing(moms ...*mom) string {
	r := n.leader()
	if r == nil {
		return "there is no leader"
	}
	v, up := r.machine.View(), 0
	for _, m := range moms {
		if isUp(v, pbs.HostName(m.name)) {
			up++
		}
	}
	if up < len(moms) {
		return fmt.Sprintf("%d of %d hosts are up", up, len(moms))
	}
	return ""
}

// isUp reports whether the vnodes of a host are known, and none is down.
func isUp(v *state.View, host pbs.HostName) bool {
	n := 0
	for vn := range v.VnodesOf(host) {
		if vn.Flags&(state.VnodeDown|state.VnodeUnknown) != 0 {
			return false
		}
		n++
	}
	return n > 0
}
