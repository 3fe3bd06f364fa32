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
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/client"
)

// schedLooks is how often it is looked whether the processes of schedulers live.
const schedLooks = time.Second

// watchScheds has a scheduler be down whose process, pbs_sched -I NAME on this host, has ended without saying so: it was killed. What
// happened while this replica did not run counts for nothing, for the end of a host is no order to plan no more.
func (s *Server) watchScheds(ctx context.Context) error {
	known, kept := schedEnds{}, lastFault("")
	tick := time.NewTicker(schedLooks)
	defer tick.Stop()
	for {
		now := s.machine.View().Server()
		known.look(now, string(s.config.Home), func(name string) error {
			err := s.sayDown(ctx, name)
			if err != nil {
				s.logger.Warn("say that a scheduler is down", "scheduler", name, "error", err)
			}
			return err
		})
		if err := s.schedLogs.keep(now); kept.news(err) {
			s.logger.Warn("close the logs of schedulers", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// A lastFault is the error of the latest attempt at something that is tried again and again; empty: it succeeded.
type lastFault string

// news records the result of an attempt and reports whether it is an error that the attempt before did not have.
func (l *lastFault) news(err error) bool {
	before := *l
	if *l = ""; err != nil {
		*l = lastFault(err.Error())
	}
	return *l != "" && *l != before
}

// A schedEnd identifies a scheduler process that has ended, by its lock file and the process id in it.
type schedEnd struct{ lock, pid string }

// schedEnds are the ends that are known, by scheduler.
type schedEnds map[string]schedEnd

// look says that schedulers are down whose processes have ended since the last look. What a lock file says that was not looked at before,
// of a scheduler or in a folder that it was moved to, counts for nothing: the process follows later. Where it cannot be said, the next
// look says it.
func (e schedEnds) look(now *state.Server, home string, down func(name string) error) {
	for i := range now.Scheds {
		own := &now.Scheds[i]
		lock := filepath.Join(service.SchedFolder(now, home, own.Name, "sched_priv"), "sched.lock")
		end, known := schedEnd{lock, endedOf(lock)}, e[own.Name]
		if known.lock == lock && end.pid != "" && end != known && own.Started && down(own.Name) != nil {
			continue
		}
		e[own.Name] = end
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
	program, _, _ := strings.Cut(string(line), "\x00")
	if err == nil && filepath.Base(program) == "pbs_sched" { // another one may have its number by now, such as an editor of its files
		return ""
	}
	return pid
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
