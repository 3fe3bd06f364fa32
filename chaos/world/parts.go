package world

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/mom/proc"
	"rampart/transport/api"
	"rampart/transport/client"
)

const (
	// partRuns is how long a program runs that a job starts at another of its hosts: longer
	// than most jobs, which have to end it.
	partRuns = 20 * time.Second
	// spawnFor bounds the attempts to start it.
	spawnFor = 5 * time.Second
)

// nodesOf returns the hosts in a job's node file, each once.
func nodesOf(s proc.Spec) []string {
	for _, v := range s.Env {
		path, ok := strings.CutPrefix(v, "PBS_NODEFILE=")
		if !ok {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		return slices.Compact(strings.Fields(string(text)))
	}
	return nil
}

// spawn does what a job's program does with pbsdsh: it starts programs at its other hosts. It
// may be that nobody answers any more; then the job has none.
func (m *mom) spawn(job string, run uint32, hosts []string) {
	ctx, cancel := context.WithTimeout(m.w.life, spawnFor)
	defer cancel()
	moms := client.NewMoms(m.host, m.id)
	defer moms.Close()
	for _, other := range m.w.moms {
		if other == m || !slices.Contains(hosts, other.name) {
			continue
		}
		_, _ = moms.SisterOf(other.name, other.config.Address()).Spawn(ctx, connect.NewRequest(&api.SpawnRequest{
			Job: job, RunCount: run, Key: fmt.Sprintf("%s@%d", job, run), Args: []string{"sleep", fmt.Sprint(partRuns.Seconds())},
		}))
	}
}
