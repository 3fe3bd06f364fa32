package cluster

import (
	"context"

	"rampart/fsm/command"
)

// keepClass is a duty of the leader: it puts the class with which the cluster was founded into
// the state. Whoever joined was told it.
func (m *membership) keepClass(ctx context.Context) error {
	c := m.machine.View().Cluster()
	if m.class == "" || c.RTTClass != "" {
		return nil
	}
	return m.proposals.decide(ctx, &command.SetRTTClass{Class: m.class})
}
