package raftlog

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

func TestLog_TellsTheSameFailureOfAPeerOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log := New(slog.New(slog.NewTextHandler(&out, nil)))
		named := log.Named("other")
		for range 10 {
			log.Error("failed to heartbeat to", "peer", raft.ServerAddress("s1:1"), "error", "refused")
			named.Error("failed to heartbeat to", "peer", raft.ServerAddress("s1:1"), "error", "refused")
			log.Error("failed to heartbeat to", "peer", raft.ServerAddress("s2:1"))
			log.Error("failed to appendEntries to", "peer", raft.Server{Address: "s1:1"})
			log.Info("pipelining replication", "peer", "s1:1")
			log.Error("failed to commit logs", "error", "disk")
			log.Error("odd", "peer")
			log.Error("odd", []string{"not comparable"}, "peer", "s1:1")
			<-time.After(6 * time.Second)
		}
		log.Error("failed to heartbeat to", "peer", raft.ServerAddress("s1:1"))
		for line, want := range map[string]int{
			`heartbeat to" part=raft peer=s1:1`: 2, `heartbeat to" part=raft peer=s2:1`: 1, "appendEntries to": 1,
			"pipelining": 10, "commit logs": 10,
		} {
			if got := strings.Count(out.String(), line); got != want {
				t.Errorf("%s: %d times, want %d", line, got, want)
			}
		}
	})
}
