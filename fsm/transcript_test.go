package fsm_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rampart/fsm"
	"rampart/fsm/acct"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the transcripts")

// TestTranscripts plays the stories in testdata/transcripts: blocks of commands,
// a line of dashes, and what they answer and leave. Rewrite them with -update only
// if you understand the change.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(text) {
				t.Errorf("transcript differs; got:\n%s", got)
			}
		})
	}
}

// play runs the blocks of a transcript and returns it with what they answered.
func play(t *testing.T, text string) string {
	t.Helper()
	s := newStage(t)
	var out []string
	for _, block := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		commands, _, told := strings.Cut(block, "\n----")
		if strings.HasPrefix(block, "#") && !told {
			out = append(out, block) // the story
			continue
		}
		out = append(out, commands+"\n----"+s.perform(commands))
	}
	return strings.Join(out, "\n\n") + "\n"
}

// stage is a state machine with a clock that moves on a second with each entry.
type stage struct {
	t     *testing.T
	store *state.Store
	index uint64
	now   pbs.Time
	facts map[pbs.HostName]uint64
	disks map[pbs.HostName]string // the spools of moms with new ones
	files map[string][]byte       // snapshots that were saved
}

func newStage(t *testing.T) *stage {
	return &stage{t: t, store: state.NewStore(), now: pbs.Time(1826791200 * time.Second), facts: map[pbs.HostName]uint64{}, disks: map[pbs.HostName]string{}, files: map[string][]byte{}}
}

func (s *stage) perform(commands string) string {
	var b strings.Builder
	for _, line := range strings.Split(commands, "\n") {
		for _, l := range s.line(line) {
			b.WriteString("\n" + l)
		}
	}
	return b.String()
}

// line performs one line: a verb, an optional operand, and name=value pairs.
func (s *stage) line(line string) []string {
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasPrefix(line, "#") {
		return nil
	}
	args := map[string]string{}
	var operand string
	for _, w := range words[1:] {
		if name, value, ok := strings.Cut(w, "="); ok {
			args[name] = value
		} else {
			operand = w
		}
	}
	if show, ok := shows[words[0]]; ok {
		return show(s, operand)
	}
	build, ok := builders[words[0]]
	if !ok {
		s.t.Fatalf("unknown verb %q", words[0])
	}
	return s.propose(build(s, operand, args))
}

func (s *stage) propose(c command.Command) []string {
	s.index++
	s.now += pbs.Time(time.Second)
	data, err := command.Encode(command.Entry{Time: s.now, Proposals: []command.Proposal{{
		Asker: pbs.User{Name: "ann", Host: "hosta"}, Commands: []command.Command{c},
	}}})
	if err != nil {
		s.t.Fatal(err)
	}
	entry, err := command.Decode(data)
	if err != nil {
		s.t.Fatal(err)
	}
	entry.LendReader(fsm.ReadSnapshot)
	outcomes, events := command.Run(s.store, s.index, 1, entry)
	if err := s.store.Publish().Check(); err != nil {
		s.t.Errorf("after %T: %v", c, err)
	}
	return s.told(outcomes[0], events)
}

func (s *stage) told(o command.Outcome, events []state.Event) []string {
	var lines []string
	switch {
	case o.Refusal != nil:
		lines = append(lines, fmt.Sprintf("refused %d: %s", o.Refusal.Code, strings.TrimSpace(o.Refusal.Message)))
	case o.Result.Job != "":
		lines = append(lines, "ok "+string(o.Result.Job))
	default:
		lines = append(lines, "ok")
	}
	for _, e := range events {
		if r, ok := acct.Of(e, time.UTC); ok {
			lines = append(lines, fmt.Sprintf("  record %d %s", r.Number, strings.TrimSpace(r.Line)))
		}
	}
	return lines
}

var builders = map[string]func(s *stage, operand string, args map[string]string) command.Command{
	"init": func(_ *stage, _ string, args map[string]string) command.Command {
		return &command.InitCluster{ID: "c1", Name: "srv", Epoch: 7, GossipKey: gossipKey(args["gossip"])}
	},
	"stage": stagePart, "restore": restoreState,
	"queue": manageQueue, "resource": createResource, "unset": unsetServer, "submitas": submitAs, "schedule": schedule, "move": moveJob, "tick": tick,
	"level": raiseLevel, "replica": putReplica, "token": createToken, "enrol": enrol, "present": present,
	"revoke": revoke, "revoketoken": revokeToken, "turngossip": turnGossip, "turnroots": turnRoots,
	"register": func(s *stage, name string, args map[string]string) command.Command {
		host := pbs.HostName(name)
		if disk, ok := take(args, "disk"); ok {
			s.disks[host], s.facts[host] = disk, 0
		}
		c := &command.HostUp{Host: host, Address: name + ":15002", BootID: "b1", SpoolID: s.spool(host), PCPUs: 4}
		c.Trouble, _ = take(args, "trouble")
		_, c.Busy = take(args, "busy")
		tasks, _ := take(args, "tasks")
		for task := range strings.SplitSeq(tasks, ",") {
			if id, n, ok := strings.Cut(task, "@"); ok {
				c.Tasks = append(c.Tasks, command.ReportedTask{Job: jobID(id), RunCount: run(map[string]string{"run": n})})
			}
		}
		c.Vnodes = []command.ReportedVnode{{Name: pbs.VnodeName(name), Available: items(args)}}
		return c
	},
	"trouble": func(_ *stage, host string, args map[string]string) command.Command {
		return &command.HostTrouble{Host: pbs.HostName(host), Text: args["text"], Busy: args["busy"] != ""}
	},
	"forget": func(_ *stage, host string, _ map[string]string) command.Command {
		return &command.ForgetHost{Host: pbs.HostName(host)}
	},
	"down": func(_ *stage, host string, _ map[string]string) command.Command {
		return &command.HostDown{Host: pbs.HostName(host), Reason: "it does not answer"}
	},
	"submit": func(_ *stage, _ string, args map[string]string) command.Command {
		c := &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "hosta"}, Script: []byte("#!/bin/sh\n")}
		c.Queue = pbs.QueueName(args["queue"])
		for _, name := range sortedKeys(args) {
			switch _, known := attr.Lookup(attr.Job, name); {
			case name == "queue":
			case known:
				c.Attributes = c.Attributes.Set(name, "", args[name])
			default:
				c.Attributes = c.Attributes.Set("Resource_List", name, args[name])
			}
		}
		return c
	},
	"start": func(_ *stage, id string, args map[string]string) command.Command {
		comment := "Job run"
		if strings.Contains(id, "[") {
			comment = "Job run at Sun Nov 21 at 10:00 on " + args["on"]
		}
		return &command.StartJob{Job: jobID(id), ExecVnode: args["on"], Select: args["select"], Comment: comment}
	},
	"started": func(s *stage, id string, args map[string]string) command.Command {
		return &command.JobStarted{Source: s.source(args), Job: jobID(id), RunCount: run(args), Session: 4711}
	},
	"ended": func(s *stage, id string, args map[string]string) command.Command {
		exit, _ := strconv.Atoi(args["exit"])
		return &command.JobEnded{
			Source: s.source(args), Job: jobID(id), RunCount: run(args), ExitStatus: int32(exit),
			NeverStarted: args["never"] != "", Lost: args["lost"] != "", StageInFailed: args["stagein"] != "",
			Used: resource.List{{Name: "cput", Value: "00:00:01"}, {Name: "walltime", Value: "00:00:05"}},
		}
	},
	"exiting": func(s *stage, id string, args map[string]string) command.Command {
		return &command.JobExiting{Source: s.source(args), Job: jobID(id), RunCount: run(args)}
	},
	"delete": func(_ *stage, id string, args map[string]string) command.Command {
		return &command.DeleteJob{Job: jobID(id), Force: args["force"] != ""}
	},
	"rerun": func(_ *stage, id string, args map[string]string) command.Command {
		return &command.RerunJob{Job: jobID(id), Force: args["force"] != ""}
	},
	"hold": func(_ *stage, id string, _ map[string]string) command.Command {
		return &command.HoldJob{Job: jobID(id), Holds: pbs.HoldUser}
	},
	"release": func(_ *stage, id string, _ map[string]string) command.Command {
		return &command.ReleaseJob{Job: jobID(id), Holds: pbs.HoldUser}
	},
	"signal": func(_ *stage, id string, args map[string]string) command.Command {
		return &command.SignalJob{Job: jobID(id), Signal: args["with"]}
	},
	"alter": func(_ *stage, id string, args map[string]string) command.Command {
		c := &command.AlterJob{Job: jobID(id)}
		for _, name := range sortedKeys(args) {
			e := attr.Entry{Name: "Resource_List", Resource: name, Value: args[name]}
			if _, ok := attr.Lookup(attr.Job, name); ok {
				e = attr.Entry{Name: name, Value: args[name]}
			}
			c.Changes = append(c.Changes, command.AttrChange{Entry: e})
		}
		return c
	},
	"confirm": func(_ *stage, host string, args map[string]string) command.Command {
		n, _ := strconv.Atoi(args["order"])
		c := &command.OrderConfirmed{Host: pbs.HostName(host), Order: pbs.OrderID(n)}
		if args["refused"] != "" {
			c.Refusal = pbs.Errorf(pbs.SystemError, "%s", args["refused"])
		}
		return c
	},
	"server": func(_ *stage, _ string, args map[string]string) command.Command {
		c := &command.ManageServer{Verb: command.VerbSet}
		for _, name := range sortedKeys(args) {
			attrName, res, _ := strings.Cut(name, ".")
			c.Changes = append(c.Changes, command.AttrChange{Entry: attr.Entry{Name: attrName, Resource: res, Value: args[name]}})
		}
		return c
	},
	"node": func(_ *stage, name string, args map[string]string) command.Command {
		c := &command.ManageVnode{Verb: command.VerbSet, Vnode: pbs.VnodeName(name)}
		for _, key := range sortedKeys(args) {
			attrName, res, _ := strings.Cut(key, ".")
			c.Changes = append(c.Changes, command.AttrChange{Entry: attr.Entry{Name: attrName, Resource: res, Value: args[key]}})
		}
		return c
	},
}

func (s *stage) spool(host pbs.HostName) string { return "spool-" + string(host) + s.disks[host] }

// take takes an argument out.
func take(args map[string]string, name string) (value string, ok bool) {
	value, ok = args[name]
	delete(args, name)
	return value, ok
}

func (s *stage) source(args map[string]string) command.Source {
	host := pbs.HostName(args["host"])
	if args["again"] == "" {
		s.facts[host]++
	}
	return command.Source{Host: host, Spool: s.spool(host), Seq: s.facts[host]}
}

func run(args map[string]string) pbs.RunCount {
	n, err := strconv.Atoi(args["run"])
	if err != nil {
		return 1
	}
	return pbs.RunCount(n)
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}

func jobID(n string) pbs.JobID { return pbs.JobID(n + ".srv") }

func items(args map[string]string) resource.List {
	var l resource.List
	for name, value := range args {
		l = l.Set(name, value)
	}
	return l
}

func sortedKeys(m map[string]string) []string {
	var l resource.List
	for k := range m {
		l = l.Set(k, "")
	}
	keys := make([]string, len(l))
	for i, it := range l {
		keys[i] = it.Name
	}
	return keys
}

// shows are the verbs that print a part of the state.
var shows = map[string]func(s *stage, operand string) []string{
	"trust": showTrust, "save": saveState, "cluster": showCluster, "elsewhere": elsewhere,
	"array": func(s *stage, id string) []string {
		v := s.store.View()
		j, ok := v.Job(jobID(id))
		if !ok {
			return []string{"gone"}
		}
		var lines []string
		for _, name := range []string{"job_state", "array_state_count", "array_indices_remaining", "comment"} {
			lines = append(lines, strings.TrimSpace(name+" = "+v.JobAttribute(j, name, "")))
		}
		return lines
	},
	"attribute": func(s *stage, operand string) []string {
		id, name, _ := strings.Cut(operand, "/")
		v := s.store.View()
		j, ok := v.Job(jobID(id))
		if !ok {
			return []string{"gone"}
		}
		return []string{orNone(v.JobAttribute(j, name, ""))}
	},
	"jobs": func(s *stage, _ string) []string {
		var lines []string
		for j := range s.store.View().Jobs() {
			l := fmt.Sprintf("%s %s%d queue=%s run_count=%d", j.ID, j.State, j.Substate, j.Queue, j.RunCount)
			for _, f := range []struct{ name, value string }{
				{"exec_host", j.LastRun().ExecHost.String()}, {"ms", mother(j)}, {"holds", strings.Trim(j.Holds.String(), "n")}, {"comment", j.CommentText()},
			} {
				if f.value != "" {
					l += fmt.Sprintf(" %s=%q", f.name, f.value)
				}
			}
			if len(j.Unconfirmed) > 0 {
				l += fmt.Sprintf(" unconfirmed=%v", j.Unconfirmed)
			}
			lines = append(lines, l)
		}
		return lines
	},
	"resources": func(s *stage, id string) []string {
		j, _ := s.store.View().Job(jobID(id))
		return []string{fmt.Sprint(j.Resources), j.SchedSelect}
	},
	"nodes": func(s *stage, _ string) []string {
		var lines []string
		for v := range s.store.View().Vnodes() {
			lines = append(lines, fmt.Sprintf("%s %s jobs=[%s] assigned=%v", v.Name, v.State(), v.JobsText(), v.Assigned))
		}
		return lines
	},
	"orders": func(s *stage, host string) []string {
		var lines []string
		for o := range s.store.View().Orders(pbs.HostName(host)) {
			kind := [...]string{state.OrderRun: "run", state.OrderSignal: "signal", state.OrderKill: "kill", state.OrderForget: "forget", state.OrderAlter: "alter"}[o.Kind]
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %s run=%d %s", o.ID, kind, o.Job, o.RunCount, o.Signal)))
		}
		return lines
	},
	"counts": func(s *stage, _ string) []string {
		c := s.store.View().AllCounts()
		return []string{strings.TrimSpace(c.String())}
	},
}

// mother is the mother superior of a job whose run is on.
func mother(j *state.Job) string {
	if !j.Live() {
		return ""
	}
	return string(j.Run.MS)
}
