package service

import (
	"fmt"
	"net/http"
	"time"

	"rampart/cluster/member"
)

// readyAge is how long a replica may not have heard of its leader and still call
// itself ready.
const readyAge = 15 * time.Second

// Healthz answers as long as the process serves.
func (s Services) Healthz() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, "ok")
	})
}

// Readyz answers with success while the replica can serve: a leader is known, it
// was heard of lately, and the state has been applied.
func (s Services) Readyz() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if why := s.unready(); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok")
	})
}

// stops returns the first alarm that keeps the replica from serving.
func stops(alarms []member.Alarm) string {
	for _, a := range alarms {
		if !a.Serves {
			return a.Text
		}
	}
	return ""
}

func (s Services) unready() string {
	replica := s.Cluster.Replica
	status := replica.Status()
	_, _, known := replica.Leader()
	switch {
	case stops(status.Alarms) != "":
		return stops(status.Alarms)
	case !known:
		return "no leader is known"
	case replica.Age() > readyAge:
		return fmt.Sprintf("no word of the leader for %s", replica.Age().Round(time.Second))
	case status.Applied == 0:
		return "the state has not been loaded"
	}
	return ""
}
