package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/mom/files"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

func with(name, value string) func(*Task) {
	return func(t *Task) { t.Attrs = append(t.Attrs, Attr{Name: name, Value: value}) }
}

func staging(t *Task) {
	with("stagein", "a@hostb:/a")(t)
	t.Staging.State = StagingIn
}

func TestStages_Step(t *testing.T) {
	in1, out1 := with("stagein", "a@hostb:/a"), with("stageout", "b@hostb:/b")
	outDone := func(t *Task) { t.Staging.State = FilesOut }
	for _, c := range []struct {
		name    string
		task    Task
		event   Event
		state   State
		actions string
	}{
		{"files come before the start", in(Accepted, in1), Fetched{}, Accepted, "stage files in"},
		{"what earlier runs have written comes before the start", in(Accepted, func(t *Task) { t.OutputAt = "hostb" }), Fetched{}, Accepted, "stage files in"},
		{"a second word of the script", in(Accepted, staging), Fetched{}, Accepted, ""},
		{"they have come", in(Accepted, staging), StagedIn{}, Starting, "launch"},
		{"they have not", in(Accepted, staging), StagedIn{Failure: "why"}, Delivering, "forestall a shim"},
		{"they come too late", in(Delivering, in1, neverStarted), StagedIn{}, Delivering, ""},
		{"a kill on the way", in(Accepted, staging), Kill{}, Accepted, "stop the staging"},
		{"the mom stops on the way", in(Accepted, staging), Abort{}, Accepted, "stop the staging"},
		{"the fence falls on the way", in(Accepted, staging), Lapsed{1}, Accepted, "stop the staging"},
		{"stopped by a kill", in(Accepted, staging, killed(0, false)), StagedIn{Failure: "stopped"}, Delivering, "forestall a shim"},
		{"stopped too late", in(Accepted, staging, killed(0, false)), StagedIn{}, Delivering, "forestall a shim"},
		{"stopped by the mom's end", in(Accepted, staging, aborted), StagedIn{}, Delivering, "forestall a shim"},
		{"stopped by the fence", in(Accepted, staging, fenced), StagedIn{}, Delivering, "forestall a shim"},
		{"restart on the way", in(Accepted, staging), Resume{"boot", true}, Accepted, "ask whether the run still counts"},
		{"restart, killed before", in(Accepted, staging, killed(0, false)), Resume{"boot", true}, Delivering, "forestall a shim"},
		{"restart, fenced before", in(Accepted, staging, fenced), Resume{"boot", true}, Delivering, "forestall a shim"},
		{"restart without adopting", in(Accepted, staging), Resume{"boot", false}, Delivering, "forestall a shim"},
		{"reboot on the way", in(Accepted, staging), Resume{"other", true}, Delivering, "forestall a shim"},
		{"the program exits", in(Running, out1), Exited{}, Delivering, "stage files out"},
		{"a deleted program exits", in(Ending, out1, killed(0, false)), Exited{}, Delivering, "stage files out"},
		{"a requeued program exits", in(Ending, out1, killed(0, true)), Exited{}, Delivering, "discard the output"},
		{"they are where they belong", in(Delivering, out1), StagedOut{}, Delivering, "deliver the output"},
		{"they are not", in(Delivering, out1), StagedOut{Failure: "why"}, Delivering, "deliver the output"},
		{"restart during the stage-out", in(Delivering, out1), Resume{"other", true}, Delivering, "stage files out"},
		{"restart behind it", in(Delivering, out1, outDone), Resume{"boot", true}, Delivering, "deliver the output"},
		{"a kill during the stage-out", in(Delivering, out1), Kill{}, Delivering, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, actions, err := step(c.task, c.event)
			if err != nil {
				t.Fatal(err)
			}
			if next.State() != c.state || words(actions) != c.actions {
				t.Errorf("state %s, actions %q; want %s, %q", next.State(), words(actions), c.state, c.actions)
			}
		})
	}
}

func TestStages_Result(t *testing.T) {
	for _, c := range []struct {
		name  string
		task  Task
		event Event
		want  spool.Ended
	}{
		{"no files", in(Accepted, staging), StagedIn{Failure: "why"}, spool.Ended{ExitStatus: pbs.ExitRetry, NeverStarted: true, StageInFailed: true, Comment: "why"}},
		{"killed", in(Accepted, staging, killed(0, false)), StagedIn{Failure: "x"}, spool.Ended{ExitStatus: 271, NeverStarted: true}},
		{"requeued", in(Accepted, staging, killed(0, true)), StagedIn{}, spool.Ended{ExitStatus: pbs.ExitRerun, NeverStarted: true}},
		{"fenced", in(Accepted, staging, fenced), StagedIn{}, spool.Ended{ExitStatus: pbs.ExitRetry, NeverStarted: true, Comment: fencedComment}},
		{
			"files are left", in(Delivering, func(t *Task) { t.Staging = Staging{State: FilesOut, Failure: "why"} }),
			Delivered{StageOut: stageOutDone},
			spool.Ended{ExitStatus: 1, StageOut: stageOutFailed, Comment: "why"},
		},
	} {
		next, _, err := step(c.task, c.event)
		if err != nil || next.Result == nil {
			t.Fatalf("%s: %+v, %v", c.name, next, err)
		}
		got := *next.Result
		got.Used = nil
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// carrier notes transfers, does those of this host, and fails those that are named.
type carrier struct {
	all   []files.Transfer
	fails map[string]error // by the path there
	then  func(e files.Transfer)
}

func (c *carrier) Do(ctx context.Context, e files.Transfer) (files.Moved, error) {
	c.all = append(c.all, e)
	if c.then != nil {
		c.then(e)
	}
	if err := ctx.Err(); err != nil {
		return files.Moved{}, err
	}
	if err := c.fails[e.There]; err != nil {
		return files.Moved{}, err
	}
	if e.Host != "" {
		return files.Moved{Sent: []string{e.Here}}, nil
	}
	from, to := e.There, e.Here
	if e.Out {
		from, to = to, from
	}
	r := files.NewReceiver(files.Target{Path: to, Tag: "T", Many: files.IsPattern(from)})
	defer r.Close()
	sent, err := files.Send(from, r)
	if err == nil {
		err = r.Finish()
	}
	return files.Moved{Sent: sent, Wrote: r.Wrote(), Same: r.Same()}, err
}

type people struct{ account Account }

func (p people) Account(context.Context, string, string) (Account, error) { return p.account, nil }

type silence struct{}

func (silence) Job(uint16, pbs.JobID, string)  {}
func (silence) File(uint16, pbs.JobID, string) {}
func (silence) Server(uint16, string, string)  {}
func (silence) Node(uint16, pbs.JobID, string) {}

// stageSite is a host with a home in which the files are.
func stageSite(t *testing.T, there ...string) (*Site, *carrier, Task) {
	t.Helper()
	home := t.TempDir()
	for _, name := range there {
		put(t, filepath.Join(home, name), name)
	}
	c := &carrier{fails: map[string]error{}}
	s := testSite(t)
	s.Accounts, s.Lines, s.Logger, s.Mover, s.System = people{Account{Name: "ann", Home: home}}, silence{}, slog.New(slog.DiscardHandler), c, proc.NewFake(nil)
	task := in(Accepted, with("Job_Owner", "ann@login"))
	if err := s.Spool.SaveTask(task.Key, task, true); err != nil {
		t.Fatal(err)
	}
	return s, c, task
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func TestStages_FilesComeAndGo(t *testing.T) {
	s, c, task := stageSite(t, "in/data", "keep")
	home := s.Accounts.(people).account.Home
	with("stagein", "data@hosta:in/data,far@hostb:/x")(&task)
	with("stageout", "*.out@hosta:results,keep@hosta.example.org:keep")(&task)
	if ev := s.staging().in(t.Context(), task); ev.Failure != "" {
		t.Fatal(ev.Failure)
	}
	if len(c.all) != 2 || c.all[1].Host != "hostb" || c.all[1].There != "/x" || c.all[1].Here != home+"/far" || c.all[1].Remote != "ann" {
		t.Errorf("transfers %+v", c.all)
	}
	put(t, home+"/a.out", "A")
	if err := os.Mkdir(home+"/results", 0o755); err != nil {
		t.Fatal(err)
	}
	task.Life.State, task.Result = Delivering, &spool.Ended{}
	for range 2 { // as after a crash
		if ev := s.staging().out(t.Context(), task); ev.Failure != "" {
			t.Fatal(ev.Failure)
		}
	}
	task.Staging.State = FilesOut
	for range 2 {
		if ev, ok := s.output().deliver(t.Context(), task).(Delivered); !ok || ev.StageOut != stageOutDone {
			t.Fatal(ev)
		}
	}
	if exists(home+"/data") || exists(home+"/a.out") {
		t.Error("what was staged stays")
	}
	if !exists(home+"/in/data") || !exists(home+"/keep") || !exists(home+"/results/a.out") {
		t.Error("what was nobody's to remove is gone")
	}
	facts, _ := s.Spool.Pending(9)
	if len(facts) != 1 || facts[0].Exiting == nil {
		t.Errorf("facts %+v", facts)
	}
}

// What earlier runs have written is fetched before those files, both streams of it even if they are joined now, and its absence keeps nobody from running.
func TestStages_TakesOverOutput(t *testing.T) {
	s, c, task := stageSite(t, "in/data")
	task.OutputAt = "hostb"
	with("stagein", "data@hosta:in/data")(&task)
	with("Join_Path", "oe")(&task)
	c.fails["OU"] = &files.Error{Reason: "hostb: no such file"}
	if ev := s.staging().in(t.Context(), task); ev.Failure != "" {
		t.Fatal(ev.Failure)
	}
	var got []string
	for _, e := range c.all {
		got = append(got, fmt.Sprintf("%s:%s to %s, output %t", e.Host, e.There, filepath.Base(e.Here), e.Output))
	}
	if want := []string{"hostb:OU to 1.srv.OU, output true", "hostb:ER to 1.srv.ER, output true", ":" + s.Accounts.(people).account.Home + "/in/data to data, output false"}; !slices.Equal(got, want) {
		t.Errorf("transfers %q, want %q", got, want)
	}
	s, c, task = stageSite(t)
	task.OutputAt = "hostb"
	with("Keep_Files", "oed")(&task)
	if ev := s.staging().in(t.Context(), task); ev.Failure != "" || len(c.all) > 0 {
		t.Errorf("%+v, %+v: what is written into its place is there", ev, c.all)
	}
}

func TestStages_InFails(t *testing.T) {
	s, c, task := stageSite(t, "in/data")
	home := s.Accounts.(people).account.Home
	c.fails["/x"] = &files.Error{Reason: "hostb: read /x: no such file or directory"}
	with("stagein", "data@hosta:in/data,far@hostb:/x,other@hostb:/y")(&task)
	ev := s.staging().in(t.Context(), task)
	if want := "File stage in failed: Unable to copy file far from hostb:/x: hostb: read /x: no such file or directory"; ev.Failure != want {
		t.Errorf("%q, want %q", ev.Failure, want)
	}
	if exists(home + "/data") {
		t.Error("a part of the files stays")
	}
	if len(c.all) != 2 {
		t.Errorf("%d transfers, want 2", len(c.all))
	}
}

// What was brought for a run that counts for nothing goes with its output: the start was refused, or the job was
// deleted or requeued (specification: breadth 1.17).
func TestStages_NothingStaysOfARunThatIsNone(t *testing.T) {
	for name, discard := range map[string]func(*Runner, context.Context){"plain": (*Runner).discard, "behind the bar": (*Runner).bar} {
		t.Run(name, func(t *testing.T) {
			s, _, task := stageSite(t, "in/data", "mine")
			home := s.Accounts.(people).account.Home
			with("stagein", "data@hosta:in/data")(&task)
			if ev := s.staging().in(t.Context(), task); ev.Failure != "" || !exists(home+"/data") {
				t.Fatalf("staged in: %+v", ev)
			}
			put(t, s.Spool.Output(task.Key.Job, stdout), "text")
			task.Life.State, task.Result = Delivering, &spool.Ended{NeverStarted: true}
			r := NewRunner(s, task)
			r.mail = make(chan letter, 1)
			discard(r, t.Context())
			if l := <-r.mail; l.event == nil {
				t.Error("no event")
			}
			if exists(home + "/data") {
				t.Error("files of a run that is none stay")
			}
			if later := task.Key.Run > 1; exists(s.Spool.Output(task.Key.Job, stdout)) != later {
				t.Errorf("what earlier runs have written stays: %t", !later)
			}
			if !exists(home+"/in/data") || !exists(home+"/mine") {
				t.Error("what was nobody's to remove is gone")
			}
		})
	}
}

// The output of a run that was sent back to the queue is there for the next one, and stays when that never starts; a job that is deleted
// leaves none, and a run that was lost may have had others after it.
func TestDiscard_LeavesOutputForTheNextRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		run     pbs.RunCount
		requeue bool
		result  spool.Ended
		stays   bool
	}{
		{"sent back", 1, true, spool.Ended{ExitStatus: pbs.ExitRerun}, true},
		{"sent back again", 2, true, spool.Ended{ExitStatus: pbs.ExitRerun}, true},
		{"the second never started", 2, false, spool.Ended{NeverStarted: true, ExitStatus: pbs.ExitRetry}, true},
		{"the first never started", 1, false, spool.Ended{NeverStarted: true, ExitStatus: pbs.ExitRetry}, false},
		{"lost", 2, false, spool.Ended{Lost: true, ExitStatus: pbs.ExitAborted}, false},
	} {
		s, _, task := stageSite(t)
		task.Key.Run = c.run
		put(t, s.Spool.Output(task.Key.Job, stdout), "text")
		task.Life.State, task.Life.Kill.Requeue, task.Result = Delivering, c.requeue, &c.result
		s.output().discard(t.Context(), task)
		if exists(s.Spool.Output(task.Key.Job, stdout)) != c.stays {
			t.Errorf("%s: the output stays: %t", c.name, !c.stays)
		}
	}
}

// A host that does not answer is asked once, not for each of its files.
func TestStages_DeadHost(t *testing.T) {
	s, c, task := stageSite(t, "a", "b")
	home := s.Accounts.(people).account.Home
	dead := errors.Join(files.ErrUnreachable, errors.New("refused"))
	c.fails["/a"], c.fails["/b"] = dead, dead
	with("stageout", "a@hostb:/a,b@hostb:/b")(&task)
	task.Life.State, task.Result = Delivering, &spool.Ended{}
	ev := s.staging().out(t.Context(), task)
	if len(c.all) != 1 || strings.Count(ev.Failure, "Unable to copy file") != 2 {
		t.Errorf("%d transfers, %q", len(c.all), ev.Failure)
	}
	task.Staging = task.Staging.out(ev)
	with("Output_Path", "hostb:/o")(&task)
	put(t, s.Spool.Output(task.Key.Job, stdout), "text")
	s.output().deliver(t.Context(), task)
	if len(c.all) != 1 || !exists(s.Spool.Undelivered(task.Key.Job, stdout)) {
		t.Errorf("the output has waited for the host: %+v", c.all)
	}
	if !exists(home+"/a") || !exists(home+"/b") {
		t.Error("files are gone that nobody else has")
	}
}

// Whoever deletes a job stops its stage-in, and waits for its end.
func TestStages_Halted(t *testing.T) {
	s, c, task := stageSite(t, "in/data")
	with("stagein", "data@hosta:in/data,b@hosta:in/data")(&task)
	r := NewRunner(s, task)
	c.then = func(files.Transfer) { r.halt() }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.mail = make(chan letter, 1)
	r.stageIn(ctx)
	l := <-r.mail
	if ev, ok := l.event.(StagedIn); !ok || ev.Failure == "" || len(c.all) != 1 {
		t.Errorf("%+v after %d transfers", l.event, len(c.all))
	}
	r.wg.Wait()
}

func TestStages_OutputToAnotherHost(t *testing.T) {
	for _, c := range []struct {
		name, remove string
		exit         int
		err          error
		transfers    int
		undelivered  bool
		status       int
	}{
		{name: "delivered", transfers: 2, status: stageOutDone},
		{name: "refused", err: &files.Error{Reason: "no"}, transfers: 2, undelivered: true, status: stageOutFailed},
		{name: "dead", err: files.ErrUnreachable, transfers: 1, undelivered: true, status: stageOutFailed},
		{name: "removed", remove: "oe", status: stageOutDone},
		{name: "kept of a failed job", remove: "oe", exit: 1, transfers: 2, status: stageOutDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, mover, task := stageSite(t)
			mover.fails["/home/ann/o"], mover.fails["/home/ann/e"] = c.err, c.err
			for name, value := range map[string]string{
				"Output_Path": "hostb:/home/ann/o", "Error_Path": "hostb:/home/ann/e", "Remove_Files": c.remove, "Job_Name": "work",
			} {
				with(name, value)(&task)
			}
			for _, kind := range []string{stdout, stderr} {
				put(t, s.Spool.Output(task.Key.Job, kind), "text")
			}
			task.Life.State, task.Result = Delivering, &spool.Ended{ExitStatus: c.exit}
			for range 2 { // as after a crash: what is done is not done again
				if ev := s.output().deliver(t.Context(), task).(Delivered); ev.StageOut != c.status && !c.undelivered {
					t.Errorf("%+v", ev)
				}
			}
			if len(mover.all) != c.transfers {
				t.Errorf("%d transfers, want %d", len(mover.all), c.transfers)
			}
			for _, kind := range []string{stdout, stderr} {
				if exists(s.Spool.Output(task.Key.Job, kind)) || exists(s.Spool.Undelivered(task.Key.Job, kind)) != c.undelivered {
					t.Errorf("%s: in the spool %v, undelivered %v", kind, exists(s.Spool.Output(task.Key.Job, kind)), exists(s.Spool.Undelivered(task.Key.Job, kind)))
				}
			}
		})
	}
}
