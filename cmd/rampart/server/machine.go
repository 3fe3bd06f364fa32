package server

import (
	"io"

	"rampart/cluster/ledger"
	"rampart/fsm"
)

// machine is the state machine with the ledger behind it: what the log gives rise to
// is handed over, and what a snapshot brought in its stead is fetched from a peer (L10).
type machine struct {
	*fsm.FSM
	ledger *ledger.Ledger
}

// checkRecords is how often a tested replica reads all its records again.
const checkRecords = 16

func newMachine(l *ledger.Ledger, check bool) *machine {
	return &machine{ledger: l, FSM: fsm.New(fsm.Options{OnEvents: l.OnEvents, Check: check, CheckRecords: checkRecords})}
}

// Restore implements raft.FSM.
func (m *machine) Restore(r io.ReadCloser) error {
	if err := m.FSM.Restore(r); err != nil {
		return err
	}
	m.ledger.Expect(m.View().Cluster().LastRecord)
	return nil
}
