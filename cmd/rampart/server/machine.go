package server

import (
	"io"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rampart/cluster/ledger"
	"rampart/fsm"
	"rampart/fsm/command"
)

// machine is the state machine with the ledger behind it: what the log gives rise to
// is handed over, and what a snapshot brought in its stead is fetched from a peer (L10).
type machine struct {
	*fsm.FSM
	ledger  *ledger.Ledger
	witness Witness
}

// checkRecords is how often a tested replica reads all its records again.
const checkRecords = 16

func newMachine(l *ledger.Ledger, reg prometheus.Registerer, o Outside) *machine {
	return &machine{
		ledger: l, witness: o.Witness,
		FSM: fsm.New(fsm.Options{OnEvents: l.OnEvents, OnEntry: countCommands(reg), Check: o.Check, CheckRecords: checkRecords, FeatureLevel: o.Level}),
	}
}

// countCommands counts what is applied by kind.
func countCommands(reg prometheus.Registerer) func(command.Entry) {
	vec := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "rampart_apply_commands_total", Help: "Commands applied to the state, refused ones included, by kind.",
	}, []string{"kind"})
	applied := make(map[string]prometheus.Counter)
	for _, name := range command.Names() {
		applied[name] = vec.WithLabelValues(name)
	}
	return func(e command.Entry) {
		for i := range e.Proposals {
			for _, c := range e.Proposals[i].Commands {
				applied[command.NameOf(c)].Inc()
			}
		}
	}
}

// Apply implements raft.FSM.
func (m *machine) Apply(l *raft.Log) any { return m.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch implements raft.BatchingFSM.
func (m *machine) ApplyBatch(logs []*raft.Log) []any {
	if m.witness == nil {
		return m.FSM.ApplyBatch(logs)
	}
	answers := make([]any, len(logs))
	for i, l := range logs {
		answers[i] = m.FSM.Apply(l)
		if outcomes, ok := answers[i].([]command.Outcome); ok {
			e, _ := command.Decode(l.Data) // it was read just now
			m.witness.Applied(l.Index, e, outcomes)
		}
	}
	return answers
}

// Restore implements raft.FSM.
func (m *machine) Restore(r io.ReadCloser) error {
	if err := m.FSM.Restore(r); err != nil {
		return err
	}
	m.ledger.Expect(m.View().Cluster().LastRecord)
	if m.witness != nil {
		m.witness.Restored(m.View())
	}
	return nil
}
