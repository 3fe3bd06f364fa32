package service

import (
	"context"
	"maps"
	"slices"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster/load"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

// loaded takes what a renewal says of the load of a host, and says when the mom is to tell more. What is refused
// is in the server log.
func (s *Report) loaded(v *state.View, term uint64, host pbs.HostName, told *api.Load) api.LoadWish {
	values := make([]load.Value, 0, len(told.GetIndices()))
	for _, x := range told.GetIndices() {
		values = append(values, load.Value{Name: x.GetName(), Value: x.GetValue()})
	}
	refused, wish := s.Loads.Renewed(term, host, told != nil, values, func(name string) bool {
		def, ok := v.Resource(name)
		return ok && def.Type.Numeric()
	})
	for _, text := range refused {
		if err := s.Log.Write(s.clock(), pbs.LogError, "Node", string(host), "load index refused: "+text); err != nil {
			s.Logger.Error("write the server log", "error", err)
			break
		}
	}
	return api.LoadWish(wish)
}

// firstRenewals is for how long a look at load waits for hosts that a new leader has not heard yet.
const firstRenewals = 7 * time.Second

// Load tells what moms have said of their hosts. A new leader waits for those that are up.
func (b *Batch) Load(ctx context.Context, _ *connect.Request[api.LoadRequest]) (*connect.Response[api.LoadReply], error) {
	v, err := b.present(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := b.reader(ctx, v); err != nil {
		return nil, err
	}
	b.Loads.Look()
	wait, cancel := context.WithTimeout(ctx, firstRenewals)
	defer cancel()
	for {
		changed := b.Loads.Changed()
		msg, whole := hostLoads(v, b.Loads)
		if whole || !b.Loads.Fresh() {
			return connect.NewResponse(msg), nil
		}
		if !pause(wait, changed) { // not at each of the thousands that renew in a second
			return connect.NewResponse(msg), ctx.Err()
		}
	}
}

// hostLoads returns what is known of the hosts, in their order; whole: nothing is missing of one that is up.
func hostLoads(v *state.View, table *load.Table) (msg *api.LoadReply, whole bool) {
	msg, whole = new(api.LoadReply), true
	seen := map[pbs.HostName]bool{}
	for vn := range v.Vnodes() {
		if seen[vn.Host] {
			continue
		}
		seen[vn.Host] = true
		report, ok := table.Of(vn.Host)
		if !ok {
			h, known := v.Host(vn.Host)
			whole = whole && !(known && h.Up)
			continue
		}
		of := &api.HostLoad{Host: shownHost(vn)}
		for _, name := range slices.Sorted(maps.Keys(report)) {
			of.Indices = append(of.Indices, &api.LoadIndex{Name: name, Value: report[name].Shown(name)})
		}
		msg.Hosts = append(msg.Hosts, of)
	}
	return msg, whole
}
