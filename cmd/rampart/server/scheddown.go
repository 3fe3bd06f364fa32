package server

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster/service"
	"rampart/transport/api"
	"rampart/transport/client"
)

// schedLooks is how often it is looked whether the processes of schedulers live.
const schedLooks = time.Second

// watchScheds has a scheduler be down whose process, pbs_sched -I NAME on this host, has ended without saying so: it was killed. What
// happened while this replica did not run counts for nothing, for the end of a host is no order to plan no more.
func (s *Server) watchScheds(ctx context.Context) error {
	lived := map[string]bool{}
	tick := time.NewTicker(schedLooks)
	defer tick.Stop()
	for {
		view := s.machine.View().Server()
		for i := range view.Scheds {
			own := &view.Scheds[i]
			lives := standsFor(filepath.Join(service.SchedFolder(view, string(s.config.Home), own.Name, "sched_priv"), "sched.lock"))
			if lived[own.Name] && !lives && own.Started {
				if err := s.sayDown(ctx, own.Name); err != nil {
					s.logger.Warn("say that a scheduler is down", "scheduler", own.Name, "error", err)
					continue // it is said at the next look
				}
			}
			lived[own.Name] = lives
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// standsFor tells whether the process lives whose pid is in a lock file of a scheduler.
func standsFor(lock string) bool {
	pid, err := os.ReadFile(lock)
	if err != nil || len(bytes.TrimSpace(pid)) == 0 {
		return false
	}
	line, err := os.ReadFile(filepath.Join("/proc", string(bytes.TrimSpace(pid)), "cmdline"))
	return err == nil && strings.Contains(string(line), "pbs_sched")
}

// sayDown sets the state of a scheduler, as whoever may manage this host.
func (s *Server) sayDown(ctx context.Context, name string) error {
	asker := client.New(client.Options{Replicas: []string{"unix:" + s.config.Home.Gateway(s.config.Host)}, Budget: 5 * time.Second})
	defer asker.Close()
	_, err := asker.Batch().Manage(client.WithRequestID(ctx, client.NewRequestID()), connect.NewRequest(&api.ManageRequest{
		Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_SCHED, Name: name, Changes: []*api.Attribute{{Name: "state", Value: "down"}},
	}))
	return err
}
