package dropin

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/api"
)

// TestPrintJob_File: by PBS's name of a job's file the last run of the job is printed as its mom has it on disk.
func TestPrintJob_File(t *testing.T) {
	t.Setenv("PBS_HOME", t.TempDir())
	dir := t.TempDir()
	s, err := spool.Open(spool.Options{Home: dir, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for run, name := range map[pbs.RunCount]string{9: "older", 11: "a"} {
		attrs := task.Attrs{{Name: "Job_Name", Value: name}, {Name: "queue", Value: "workq"}, {Name: "Resource_List", Resource: "ncpus", Value: "2"}}
		k := spool.TaskKey{Job: "12.srv", Run: run}
		job := task.New(k, attrs, true, "boot", "cookie")
		job.Life.State, job.Life.StartedAt, job.Handle = task.Running, 1500e9, proc.Handle{Session: 77}
		if err := s.SaveTask(k, job, true); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.Script(k), []byte("#!/bin/sh\necho "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(spool.TasksDir(dir), "12.srv.JB")
	const head = `---------------------------------------------------
jobid:	12.srv
---------------------------------------------------
state:		0x4
substate:	0x2a (42)
run:	11
stime:	1500
queue:	workq
session:	77
`
	for line, want := range map[string]string{
		"":   head + "--attributes--\nJob_Name = a\nqueue = workq\nResource_List.ncpus = 2\n\n",
		"-a": head + "\n",
		"-s": line + "\nJobscript for jobid:\t12.srv\n" + line + "\n\n#!/bin/sh\necho a\n\n",
	} {
		args := []string{"printjob"}
		if line != "" {
			args = append(args, line)
		}
		var out bytes.Buffer
		err := Run(t.Context(), World{Args: append(args, file), Stdout: &out}, "printjob")
		if err != nil || out.String() != want {
			t.Errorf("printjob %s: %v\n%s\nwant\n%s", line, err, out.String(), want)
		}
	}
	for _, args := range [][]string{{}, {"-s", "12.srv"}, {filepath.Join(spool.TasksDir(dir), "13.srv.JB")}, {"-s", filepath.Join(spool.TasksDir(dir), "13.srv.JB")}, {"/no/such/12.srv.JB"}, {"12.srv"}} {
		if err := Run(t.Context(), World{Args: append([]string{"printjob"}, args...), Stdout: &bytes.Buffer{}}, "printjob"); err == nil {
			t.Errorf("printjob %v is no error", args)
		}
	}
}

// TestPrintJob_Server: a job of the replicas looks alike.
func TestPrintJob_Server(t *testing.T) {
	var out bytes.Buffer
	o := &api.Object{Name: "12.srv", Attributes: []*api.Attribute{
		{Name: "job_state", Value: "F"}, {Name: "queue", Value: "workq"}, {Name: "substate", Value: "92"}, {Name: "Variable_List", Value: "A=\x1b[2J"}, {Name: "resources_used", Resource: "cput", Value: "00:00:01"},
	}}
	if err := jobOf(o).print(&out, true); err != nil {
		t.Fatal(err)
	}
	const line = "---------------------------------------------------\n"
	want := line + "jobid:\t12.srv\n" + line + "state:\t\t0x9\nsubstate:\t0x5c (92)\nqueue:\tworkq\n--attributes--\n" +
		"job_state = F\nqueue = workq\nsubstate = 92\nVariable_List = A=^[[2J\nresources_used.cput = 00:00:01\n\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
