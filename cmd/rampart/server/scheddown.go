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
	gone := map[string]string{} // the processes that are known to have ended
	tick := time.NewTicker(schedLooks)
	defer tick.Stop()
	for {
		view := s.machine.View().Server()
		for i := range view.Scheds {
			own := &view.Scheds[i]
			lock := filepath.Join(service.SchedFolder(view, string(s.config.Home), own.Name, "sched_priv"), "sched.lock")
			ended := endedOf(lock)
			known, met := gone[own.Name]
			if met && ended != "" && ended != known && own.Started {
				if err := s.sayDown(ctx, own.Name); err != nil {
					s.logger.Warn("say that a scheduler is down", "scheduler", own.Name, "error", err)
					continue // it is said at the next look
				}
			}
			gone[own.Name] = ended
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// endedOf returns the pid in a lock file of a scheduler whose process has ended without saying so; empty: there is none.
func endedOf(lock string) string {
	text, err := os.ReadFile(lock)
	pid := string(bytes.TrimSpace(text))
	if err != nil || pid == "" {
		return ""
	}
	line, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	if err == nil && strings.Contains(string(line), "pbs_sched") {
		return ""
	}
	return lock + " " + pid
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
