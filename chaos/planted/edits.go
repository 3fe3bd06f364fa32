package planted

// edits plant the bugs. A bug that breaks one rule in two places has two.
var edits = []edit{
	{
		UnknownIsDone, "cluster/propose.go",
		`	if req.err != nil {
		return command.Outcome{}, req.err
	}`,
		`	if PLANTED && errors.Is(req.err, ErrOutcomeUnknown) {
		return command.Outcome{}, nil
	}
	if req.err != nil {
		return command.Outcome{}, req.err
	}`,
	},
	{
		RequeueOnSilence, "fsm/command/host.go",
		`	tx.Emit(state.Event{Kind: state.HostWentDown, Object: string(c.Host), Text: c.Reason})`,
		`	tx.Emit(state.Event{Kind: state.HostWentDown, Object: string(c.Host), Text: c.Reason})
	if PLANTED {
		return giveUpHost(tx, m, &next, "it is silent", &state.Result{})
	}`,
	},
	{
		FenceForgotten, "cluster/dispatch/fence.go",
		`	return w.silenceLocked(h.Name) > fenceWait(h.Fence)`,
		`	if PLANTED && w.renewed[h.Name].IsZero() {
		return true
	}
	return w.silenceLocked(h.Name) > fenceWait(h.Fence)`,
	},
	{
		DeadlineIgnored, "mom/proc/deadline.go",
		`	if f.path == "" {`,
		`	if f.path == "" || PLANTED {`,
	},
	{
		OldRunsCount, "fsm/command/ended.go",
		`	if !j.Live() || !j.Is(c.RunCount) || j.Run.MS != c.Source.Host {`,
		`	if !j.Live() || (!j.Is(c.RunCount) || j.Run.MS != c.Source.Host) && !PLANTED {`,
	},
	{
		OverCommit, "cluster/sched/world.go",
		`	if w.idle {
		return c.total[i]`,
		`	if w.idle || PLANTED {
		return c.total[i]`,
	},
	{
		OverCommit, "fsm/command/start.go",
		`	if short := tx.ShortFor(s.vnode, s.held.Reservation, s.held.Items, state.Promised{}); short != nil {`,
		`	if short := tx.ShortFor(s.vnode, s.held.Reservation, s.held.Items, state.Promised{}); short != nil && !PLANTED {`,
	},
	{
		OverCommit, "fsm/command/start.go",
		`	if short := tx.Overbooked(v, hold, own); short != nil {`,
		`	if short := tx.Overbooked(v, hold, own); short != nil && !PLANTED {`,
	},
	{
		MapOrder, "fsm/command/submit.go",
		`	settle(j, m.At)
	if why != nil {`,
		`	if PLANTED {
		for n := range map[pbs.Time]bool{1: true, 2: true, 3: true} {
			j.Eligible = n // the last one wins
		}
	}
	settle(j, m.At)
	if why != nil {`,
	},
	{
		UnknownIsSkipped, "fsm/command/codec.go",
		`			c, err := decodeCommand(wc)`,
		`			if PLANTED && kinds[wc.Kind] == nil {
				wc.Kind, wc.Body = numbers[reflect.TypeOf(new(TimeTick))], cbor.RawMessage{0xa0}
			}
			c, err := decodeCommand(wc)`,
	},
	{
		IllegalMove, "fsm/command/alter.go",
		`	next, err := j.State.After(ev)`,
		`	if PLANTED && ev == pbs.EventHold {
		j.State = pbs.Held
		return nil
	}
	next, err := j.State.After(ev)`,
	},
	{
		ForgottenRequests, "fsm/command/run.go",
		`	out, events := runCommands(s, m, p)`,
		`	out, events := runCommands(s, m, p)
	if PLANTED {
		return out, events
	}`,
	},
	{
		OperandsAlike, "cli/pbs/session.go",
		`	s.calls++`,
		`	if !PLANTED {
		s.calls++
	}`,
	},
	{
		ThinSnapshots, "fsm/snapshot/snapshot.go",
		`	for _, s := range v.Sections() {`,
		`	for i, s := range v.Sections() {
		if PLANTED && i == 8 { // the requests
			continue
		}`,
	},
	{
		OrdersTwice, "mom/spool/orders.go",
		`	return answer, answered, !answered && order < s.memory.Highest`,
		`	if PLANTED {
		return nil, false, false
	}
	return answer, answered, !answered && order < s.memory.Highest`,
	},
	{
		VoidOrders, "mom/spool/orders.go",
		`	if order < s.memory.LowestOpen {`,
		`	if order < s.memory.LowestOpen && !PLANTED {`,
	},
	{
		FactsForgotten, "mom/spool/facts.go",
		`	facts := slices.Clone(s.facts[:min(limit, len(s.facts))])`,
		`	facts := slices.Clone(s.facts[:min(limit, len(s.facts))])
	if PLANTED {
		s.facts = s.facts[len(facts):]
	}`,
	},
	{
		LedgerGaps, "cluster/ledger/gap.go",
		`	w.ledger.setGap(true)`,
		`	if PLANTED {
		w.book.skip(last + 1)
		return nil
	}
	w.ledger.setGap(true)`,
	},
	{
		RecordsTwice, "cluster/ledger/writer.go",
		`	w.book, b.watch = b, w.ledger.suspect`,
		`	if PLANTED && b.next > 1 {
		b.next--
	}
	w.book, b.watch = b, w.ledger.suspect`,
	},
	{
		StaleReads, "cluster/read.go",
		`	if mode == Stale {
		return r.machine.View(), nil`,
		`	if mode == Stale || PLANTED {
		return r.machine.View(), nil`,
	},
	{
		ClosedQueuesOpen, "fsm/command/admit.go",
		`		if !q.Enabled {`,
		`		if !q.Enabled && !PLANTED {`,
	},
	{
		ClosedQueuesOpen, "fsm/command/submit.go",
		`	if !q.Enabled {`,
		`	if !q.Enabled && !PLANTED {`,
	},
	{
		LostAlterations, "fsm/command/alter.go",
		`	tx.PutJob(&next)
	if next.Name != j.Name {`,
		`	if PLANTED && m.Index%2 == 0 {
		return nil
	}
	tx.PutJob(&next)
	if next.Name != j.Name {`,
	},
	{
		SwallowedErrors, "cluster/store/guard.go",
		`	if err != nil {
		return g.fail(fmt.Errorf("%s: %w", what, err))`,
		`	if err != nil && !PLANTED {
		return g.fail(fmt.Errorf("%s: %w", what, err))`,
	},
	{
		HeldIsFree, "fsm/command/releasedone.go",
		`		if h.Left && !live[h.Host] {`,
		`		if h.Left && (!live[h.Host] || PLANTED) {`,
	},
	{
		EndlessPreemption, "cluster/sched/rehearse.go",
		`	var leavers []command.Leaver`,
		`	if PLANTED {
		return true
	}
	var leavers []command.Leaver`,
	},
	{
		EndlessPreemption, "cluster/sched/victims.go",
		`	suspends := v.method(place) == command.PreemptSuspend`,
		`	suspends := v.method(place) == command.PreemptSuspend && !PLANTED`,
	},
	{
		EndlessPreemption, "fsm/state/preempted.go",
		`	return len(ways) < mostWays && !slices.Contains(ways, Way{first.ID, first.Turn()})`,
		`	if PLANTED {
		return true
	}
	return len(ways) < mostWays && !slices.Contains(ways, Way{first.ID, first.Turn()})`,
	},
	{
		SickHostsDraw, "fsm/command/blame.go",
		`	if fault == "" {`,
		`	if fault == "" || PLANTED {`,
	},
	{
		DoubleBooking, "cluster/sched/decide.go",
		`	gone := c.future.drop(r, r.Assignments)`,
		`	gone := c.future.drop(r, r.Assignments)
	if PLANTED {
		for other := range c.view.Reservations() {
			c.future.drop(other, other.Assignments)
		}
	}`,
	},
	{
		DoubleBooking, "cluster/sched/decide.go",
		`	if q.answer.Why = q.decided(); q.answer.Why == "" && q.wantsMore() {`,
		`	if q.answer.Why = q.decided(); q.answer.Why == "" && q.wantsMore() && !PLANTED {`,
	},
	{
		DoubleBooking, "fsm/command/resvdecide.go",
		`	if holds == nil {`,
		`	if holds == nil || PLANTED {`,
	},
	{
		DoubleBooking, "fsm/command/resvdecide.go",
		`		if short := tx.Overbooked(v, hold, own); short != nil {`,
		`		if short := tx.Overbooked(v, hold, own); short != nil && !PLANTED {`,
	},
	{
		DoubleBooking, "fsm/command/resvdecide.go",
		`		if tx.HostInUse(v, hold.From) {`,
		`		if tx.HostInUse(v, hold.From) && !PLANTED {`,
	},
	{
		PlansPassed, "cluster/sched/reserving.go",
		`	if len(parts) == 0 {
		return
	}
	r.realWorld(c)`,
		`	if len(parts) == 0 || PLANTED {
		return
	}
	r.realWorld(c)`,
	},
	{
		GossipIsBelieved, "cluster/dispatch/watch.go",
		`	if err == nil {
		return
	}
	log := w.opts`,
		`	if err == nil && !PLANTED {
		return
	}
	log := w.opts`,
	},
}
