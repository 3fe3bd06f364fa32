package cluster_test

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// kept is the file of a state whose server is srv.
func kept(t *testing.T) []byte {
	t.Helper()
	store := state.NewStore()
	out, _ := command.Run(store, 1, 1, command.Entry{Time: 1, Proposals: []command.Proposal{
		{Commands: []command.Command{&command.InitCluster{ID: "c0", Name: "srv", Epoch: 3}}},
	}})
	if out[0].Err() != nil {
		t.Fatal(out[0].Err())
	}
	var file bytes.Buffer
	if err := snapshot.Write(&file, store.Publish()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestFound_BeginsOnce: who has founded a cluster with a snapshot leads again after a later
// epoch has begun, and does not begin anew.
func TestFound_BeginsOnce(t *testing.T) {
	bubble(t, 0, func(t *testing.T, w *world) {
		file, opened := kept(t), 0
		s1 := w.add("s1")
		s1.configure = func(c *cluster.Config) {
			c.Beginning = &cluster.Beginning{Epoch: 8, Open: func() (io.ReadCloser, error) {
				if opened++; opened > 1 {
					return nil, os.ErrNotExist // it is removed when the cluster is founded
				}
				return io.NopCloser(bytes.NewReader(file)), nil
			}}
		}
		s1.open(true)
		s1.run()
		w.until("the founder leads", 5*time.Second, func() bool { return w.leader() == s1 })
		w.newcomer("s2")
		w.until("two voters", 20*time.Second, func() bool { return w.voters() == 2 })
		if epoch := s1.machine.View().Cluster().Epoch; epoch != 8 {
			t.Fatalf("the epoch is %d", epoch)
		}
		mustWrite(t, s1, "x")
		p := command.Proposal{Commands: []command.Command{&command.NewEpoch{Epoch: 9}}}
		if out, err := s1.replica.Propose(t.Context(), p); err != nil || out.Err() != nil {
			t.Fatal(err, out.Err())
		}
		for _, to := range []string{"s2", "s1"} {
			l := w.leader()
			if err := l.replica.Transfer(t.Context(), w.members[map[string]int{"s1": 0, "s2": 1}[to]].name); err != nil {
				t.Fatal(err)
			}
			w.until(to+" leads", 10*time.Second, func() bool { l := w.leader(); return l != nil && string(l.name) == to })
		}
		mustSee(t, s1, "x")
		if epoch := s1.machine.View().Cluster().Epoch; epoch != 9 || opened != 1 {
			t.Errorf("the epoch is %d, the file was opened %d times", epoch, opened)
		}
	})
}
