package mom

import (
	"context"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// Reliable-startup 9.6: a sister that does not know the new assignment of a tolerant job yet starts no program
// for one that does.
func TestSpawn_BeforeTheUpdate(t *testing.T) {
	const line = ";0008;pbs_mom;Job;" + released + ";job reliably started but missing updated nodes list. Try spawn() again later."
	for _, tolerate := range []string{"all", "none"} {
		together(t, func(t *testing.T, p *party) {
			spawn := func(key string, assignment uint64) error {
				_, err := caller{p, hostOf(0)}.SisterOf(hostOf(1), "").Spawn(context.Background(), connect.NewRequest(&api.SpawnRequest{
					Job: released, RunCount: 1, Key: key, Node: 1, Args: []string{"/bin/sleep", "1000"}, Assignment: assignment,
				}))
				return transport.FromWire(err)
			}
			err, refused := spawn("early", 2), 0
			if tolerate == "all" {
				refused = 1
				if pbs.CodeOf(err) != pbs.BadState || !strings.Contains(err.Error(), "new assignment has not come yet") {
					t.Errorf("before the update: %v", err)
				}
			} else if err != nil {
				t.Errorf("of a job that tolerates no failure: %v", err)
			}
			p.logs("hostb", line, refused)
			p.programs("hostb", 2-refused)
			p.release("hosta", "hostb")
			if err := spawn("late", p.last); err != nil {
				t.Errorf("after it: %v", err)
			}
			p.logs("hostb", line, refused)
		}, &api.Attribute{Name: "tolerate_node_failures", Value: tolerate})
	}
}
