package cluster

import (
	"cmp"

	"rampart/cluster/identity"
	"rampart/fsm/command"
)

// compose makes the parts, each with what it needs of the others. It asks nothing of them.
func (r *Replica) compose(record *identity.Record) {
	cfg, spell := &r.cfg, newSpell()
	r.composeStores(record)
	r.proposals = &proposals{
		raft: r.raft, machine: cfg.Machine, meter: r.meter, batch: newBatcher(r.raft.apply, entryClock(cfg.Clock)),
		gates: []func(command.Proposal) error{r.drift.refuse, r.disk.roomTo},
	}
	r.reads = newReads(r.meter, reads{
		raft: r.raft, machine: cfg.Machine, peers: cfg.Peers, spell: spell, silence: r.raft.silence, pace: r.pace, clock: cfg.Clock,
	})
	r.starts = &starts{
		self: cfg.Self, identity: record, raft: r.raft, machine: cfg.Machine, peers: cfg.Peers, pace: r.pace,
		age: r.reads.age, logger: cfg.Logger,
	}
	r.report = &report{
		self: cfg.Self, class: r.pace.class, machine: cfg.Machine, store: r.store, raft: r.raft, age: r.reads.age,
		scripts: cfg.Scripts, others: cfg.Alarms, silence: r.raft.silence,
		drift: r.drift, starts: r.starts, disk: r.disk, snapshots: r.snapshots,
	}
	r.census = &census{
		address: cfg.Self.Address, raft: r.raft, machine: cfg.Machine, peers: cfg.Peers, pace: r.pace,
		own: r.report.status, removed: r.starts.removed,
	}
	r.composeMembers(record)
	r.composeLead(spell)
}

// composeStores makes what has to do with the disk.
func (r *Replica) composeStores(record *identity.Record) {
	cfg := &r.cfg
	r.machine = observe(cfg.Machine, cfg.Ledger, cmp.Or(cfg.SnapshotAfter, snapshotProposals), r.meter)
	r.snapshots = &snapshots{
		store: r.store, machine: r.machine, trailing: cmp.Or(cfg.TrailingLogs, trailingLogs), logger: cfg.Logger,
		requests: make(chan saveRequest), stopped: r.stopped,
	}
	r.disk = &diskWatch{name: cfg.Self.Name, store: r.store, machine: r.machine, logger: cfg.Logger}
	r.drift = &drift{machine: cfg.Machine, store: r.store, logger: cfg.Logger}
	r.rescue = &rescue{
		self: cfg.Self, store: r.store, identity: record, raft: r.raft, machine: cfg.Machine, peers: cfg.Peers,
		pace: r.pace, clock: cfg.Clock, again: r.restart, logger: cfg.Logger,
	}
}

// composeMembers makes what has to do with the members.
func (r *Replica) composeMembers(record *identity.Record) {
	cfg := &r.cfg
	r.handover = &handover{self: cfg.Self.Name, raft: r.raft, census: r.census, logger: cfg.Logger}
	r.removals = &removals{
		raft: r.raft, machine: cfg.Machine, proposals: r.proposals, census: r.census, handover: r.handover, logger: cfg.Logger,
	}
	r.members = &membership{
		level: cfg.Self.FeatureLevel, class: cfg.Class, raft: r.raft, machine: cfg.Machine, identity: record, pace: r.pace,
		proposals: r.proposals, census: r.census, handover: r.handover, removals: r.removals, disk: r.disk, logger: cfg.Logger,
	}
}

// composeLead makes what this replica does while it leads.
func (r *Replica) composeLead(spell *spell) {
	cfg, alone := &r.cfg, r.proposals.alone
	r.lead = &leadership{
		self: cfg.Self, raft: r.raft, spell: spell, proposals: r.proposals, logger: cfg.Logger,
		clocks: &voterClocks{peers: cfg.Peers, pace: r.pace, clock: cfg.Clock},
		founding: &founding{
			init: cfg.Init, beginning: cfg.Beginning, level: cfg.Self.FeatureLevel, machine: cfg.Machine, propose: alone, logger: cfg.Logger,
		},
		wishes: &wishes{restart: cfg.Hot, rename: cfg.Rename, raft: r.raft, machine: cfg.Machine, logger: cfg.Logger},
		rescue: r.rescue, drift: r.drift, disk: r.disk, census: r.census, handover: r.handover, members: r.members,
		wakes: &wakes{machine: cfg.Machine, clock: cfg.Clock, now: r.proposals.batch.now, propose: alone, logger: cfg.Logger},
		work:  &work{do: cfg.Work, machine: cfg.Machine, logger: cfg.Logger},
	}
}
