package trace

import (
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A machine is the replicated state of a cluster of one replica, and its time.
type machine struct {
	store *state.Store
	index uint64
	at    pbs.Time                   // of the next entry
	hear  func(events []state.Event) // what an entry gave rise to; nil: nobody listens
}

// serverName is how the cluster calls itself: the suffix of the identifiers of its jobs.
const serverName = "srv"

// newMachine returns a new cluster at a time.
func newMachine(at pbs.Time) *machine {
	m := &machine{store: state.NewStore(), at: at}
	m.do(&command.InitCluster{ID: "sim", Name: serverName, Epoch: 1})
	m.do(&command.RaiseLevel{Level: command.FeatureLevel})
	m.do(&command.PutReplica{Replica: state.Replica{Name: serverName, Host: serverName, Address: serverName + ":15001"}})
	return m
}

// entry applies proposals as one entry of the log.
func (m *machine) entry(proposals ...command.Proposal) []command.Outcome {
	m.index++
	outcomes, events := command.Run(m.store, m.index, 1, command.Entry{Time: m.at, Proposals: proposals})
	m.store.Publish()
	if m.hear != nil && len(events) > 0 {
		m.hear(events)
	}
	return outcomes
}

// do proposes commands as one proposal.
func (m *machine) do(commands ...command.Command) error {
	return m.entry(command.Proposal{Commands: commands})[0].Err()
}

func (m *machine) view() *state.View { return m.store.View() }

// hostUp brings up the host of vnodes that exist already, as its mom would register it.
func (m *machine) hostUp(host pbs.HostName) error {
	up := &command.HostUp{Host: host, Address: string(host) + ":15003", BootID: "1", SpoolID: spool, Version: pbs.Version}
	for v := range m.view().VnodesOf(host) {
		up.Vnodes = append(up.Vnodes, command.ReportedVnode{Name: v.Name, Available: v.Reported, Sharing: v.Sharing})
	}
	if len(up.Vnodes) == 0 {
		up.Vnodes = []command.ReportedVnode{{Name: pbs.VnodeName(host)}}
	}
	return m.do(up)
}

// spool is the spool of every host: none loses its disk.
const spool = "sim"

// addHosts makes hosts that are alike, each of one vnode.
func (m *machine) addHosts(h Hosts) error {
	for n := 1; n <= h.Count; n++ {
		name := hostName(n, h.Count)
		err := m.do(&command.HostUp{
			Host: pbs.HostName(name), Address: name + ":15003", BootID: "1", SpoolID: spool, Version: pbs.Version,
			Vnodes: []command.ReportedVnode{{Name: pbs.VnodeName(name), Available: h.Each.Set("host", name).Set("vnode", name)}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Hosts are hosts that are alike.
type Hosts struct {
	Count int
	Each  resource.List // what each offers
}

// set returns a change of one attribute.
func set(name, res, value string) command.AttrChange {
	return command.AttrChange{Op: command.OpSet, Entry: attr.Entry{Name: name, Resource: res, Value: value}}
}
