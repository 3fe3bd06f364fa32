package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/cli/admin"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/build"
	"rampart/transport/client"
)

// job submits a script as ann from the login host.
func (s *site) job(script string, res ...string) pbs.JobID {
	s.t.Helper()
	req := &api.SubmitRequest{Script: []byte(script + "\n")}
	for _, r := range res {
		name, value, _ := strings.Cut(r, "=")
		req.Attributes = append(req.Attributes, &api.Attribute{Name: name, Value: value})
	}
	reply, err := s.client("login", "ann").Batch().Submit(s.t.Context(), connect.NewRequest(req))
	if err != nil {
		s.t.Fatal(err)
	}
	return pbs.JobID(reply.Msg.GetJob())
}

func (s *site) jobState(id pbs.JobID) string {
	j, ok := s.view().Job(id)
	if !ok {
		return "gone"
	}
	return j.State.Letter()
}

// runs waits until the job's program was started.
func (s *site) runs(id pbs.JobID) *state.Job {
	s.t.Helper()
	s.until("run of "+string(id), time.Minute, func() bool {
		j, ok := s.view().Job(id)
		return ok && j.State == pbs.Running && j.LastRun().Session != 0
	})
	j, _ := s.view().Job(id)
	return j
}

// files are the snapshot files of a test, which the commands see as files of the host.
type files map[string]*bytes.Buffer

type closer struct{ io.ReadWriter }

func (closer) Close() error { return nil }

// env is what the administration commands know as somebody on the host of a daemon.
func (s *site) env(name, user string, f files) (*admin.Env, *strings.Builder) {
	out := new(strings.Builder)
	c := s.client(name, user)
	return &admin.Env{
		Stdout:    out,
		Cluster:   func(string) (apiconnect.ClusterClient, error) { return c.Cluster(), nil },
		Snapshots: func(string) (apiconnect.SnapshotsClient, error) { return c.Snapshots(), nil },
		Create: func(path string) (io.WriteCloser, error) {
			f[path] = new(bytes.Buffer)
			return closer{f[path]}, nil
		},
		Open: func(path string) (io.ReadCloser, error) {
			if f[path] == nil {
				return nil, fmt.Errorf("open %s: no such file", path)
			}
			return io.NopCloser(bytes.NewReader(f[path].Bytes())), nil
		},
		WithRequestID: func(ctx context.Context) context.Context { return client.WithRequestID(ctx, client.NewRequestID()) },
	}, out
}

// ready waits for the level at which a state can be put back.
func (s *site) ready() {
	s.t.Helper()
	s.until("the feature level", time.Minute, func() bool {
		return s.leader() != nil
	})
}

// TestRestore_Online: jobs are what they were when the snapshot was taken, runs that it knows
// live on, others are ended by their moms before their jobs start again (L2), and the
// replicas agree. What would be done is told before, and changes nothing.
func TestRestore_Online(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	onSite(t, func(t *testing.T, s *site) {
		s.ready()
		f := files{}
		env, out := s.env(s.followers()[0], "root", f)
		stays, waits := s.job("sleep 300"), s.job("sleep 30", "Hold_Types=u")
		run := s.runs(stays)
		if err := admin.Save(t.Context(), env, "", "then"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.client("login", "ann").Batch().Release(t.Context(), connect.NewRequest(&api.ReleaseRequest{Job: string(waits), Holds: "u"})); err != nil {
			t.Fatal(err)
		}
		late := s.job("sleep 300")
		s.runs(waits)
		s.runs(late)

		before := s.view().Cluster().Epoch
		if err := admin.Restore(t.Context(), env, "", "then", true); err != nil {
			t.Fatal(err)
		}
		if told := out.String(); !strings.Contains(told, "would be put back: snapshot of ") || !strings.Contains(told, "2 jobs; 1 that it does not have would be gone") {
			t.Errorf("told:\n%s", told)
		}
		if s.view().Cluster().Epoch != before || s.view().Cluster().Staging != nil || s.jobState(late) != "R" {
			t.Fatal("a look has changed something")
		}
		out.Reset()
		if err := admin.Restore(t.Context(), env, "", "then", false); err != nil {
			t.Fatal(err)
		}
		if told := out.String(); !strings.Contains(told, "put back: snapshot of ") || !strings.Contains(told, "1 that it does not have are gone") {
			t.Errorf("told:\n%s", told)
		}
		if got := s.jobState(waits) + s.jobState(late); got != "Hgone" || s.view().Cluster().Epoch == before {
			t.Errorf("the jobs are %s, the epoch %d after %d", got, s.view().Cluster().Epoch, before)
		}
		if j := s.runs(stays); j.RunCount != run.RunCount || j.LastRun().Session != run.LastRun().Session {
			t.Errorf("run %d, session %d: it was %d, %d", j.RunCount, j.LastRun().Session, run.RunCount, run.LastRun().Session)
		}
		s.until("the ends of what must not run", time.Minute, func() bool {
			j, _ := s.view().Job(waits)
			n := 0
			for h := range s.view().Hosts() {
				for range s.view().Orders(h.Name) {
					n++
				}
			}
			return len(j.Unconfirmed) == 0 && n == 0
		})
		if next := s.job("sleep 1"); next.Seq() < uint64(command.EpochSkip) {
			t.Errorf("the next job is %s", next)
		}
		s.until("the end of the job that stayed", 10*time.Minute, func() bool { return s.jobState(stays) == "gone" })
		for _, d := range s.daemons {
			if d.machine != nil && d.machine.Err() != nil {
				t.Errorf("%s: %v", d.name, d.machine.Err())
			}
		}
	})
}

// TestRestore_Refused: a file that is bad, or of another cluster, and somebody who may not.
func TestRestore_Refused(t *testing.T) {
	onSite(t, func(t *testing.T, s *site) {
		s.ready()
		f := files{}
		env, _ := s.env("s1", "root", f)
		s.job("sleep 1", "Hold_Types=u")
		if err := admin.Save(t.Context(), env, "", "good"); err != nil {
			t.Fatal(err)
		}
		flipped := bytes.Clone(f["good"].Bytes())
		flipped[len(flipped)/2] ^= 1
		f["flipped"], f["cut"] = bytes.NewBuffer(flipped), bytes.NewBuffer(f["good"].Bytes()[:f["good"].Len()/2])
		f["empty"], f["text"] = new(bytes.Buffer), bytes.NewBufferString("no snapshot")
		before := s.view().Cluster()
		for file, want := range map[string]string{
			"flipped": "corrupt", "cut": "corrupt", "text": "does not begin with", "empty": "empty", "none": "no such file",
		} {
			if err := admin.Restore(t.Context(), env, "", file, false); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", file, err)
			}
		}
		ann, _ := s.env("login", "ann", f)
		if err := admin.Restore(t.Context(), ann, "", "good", false); pbs.CodeOf(err) != pbs.Unauthorized {
			t.Errorf("by ann: %v", err)
		}
		if now := s.view().Cluster(); now.Epoch != before.Epoch || now.NextJob != before.NextJob || now.Staging != nil {
			t.Errorf("changed to %+v", now)
		}
	})
}

// TestRestore_LeadersDie: whichever moment a leader dies at, the command is answered by the
// next one, and the state is put back once (L6, L8).
func TestRestore_LeadersDie(t *testing.T) {
	for _, at := range []time.Duration{0, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond} {
		t.Run(at.String(), func(t *testing.T) {
			onSite(t, func(t *testing.T, s *site) {
				s.ready()
				f := files{}
				env, _ := s.env("login", "root", f)
				root, _ := s.env("s1", "root", f)
				held := s.job("sleep 1", "Hold_Types=u")
				if err := admin.Save(t.Context(), root, "", "then"); err != nil {
					t.Fatal(err)
				}
				late := s.job("sleep 1", "Hold_Types=u")
				by := s.followers()[0]
				env, _ = s.env(by, "root", f)
				lead := s.leader().name
				done := make(chan error, 1)
				go func() { done <- admin.Restore(t.Context(), env, "", "then", false) }()
				<-time.After(at)
				s.kill(lead)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				s.until("a leader", time.Minute, func() bool { return s.leader() != nil })
				c := s.view().Cluster()
				if s.jobState(held) != "H" || s.jobState(late) != "gone" || c.NextJob != 2+command.EpochSkip {
					t.Errorf("%s, %s, next job %d", s.jobState(held), s.jobState(late), c.NextJob)
				}
				s.start(lead)
				s.until("the replica that died", time.Minute, func() bool {
					v := s.daemons[lead].machine.View()
					return v.Index() >= s.view().Index() && v.Cluster().Epoch == s.view().Cluster().Epoch
				})
			})
		})
	}
}
