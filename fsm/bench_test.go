package fsm_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// typicalSubmit is a job as users send it: some variables, a small script.
func typicalSubmit(n int) *command.SubmitJob {
	c := &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "login"}, Script: []byte("#!/bin/sh\n#PBS -l select=1:ncpus=2\nsleep 10\n")}
	for _, e := range []attr.Entry{
		{Name: "Job_Name", Value: fmt.Sprintf("job%d", n)},
		{Name: "Resource_List", Resource: "select", Value: "1:ncpus=2:mem=1gb"},
		{Name: "Resource_List", Resource: "walltime", Value: "01:00:00"},
		{Name: "euser", Value: "ann"},
		{Name: "egroup", Value: "users"},
		{Name: "Submit_arguments", Value: "-l select=1:ncpus=2:mem=1gb -l walltime=1:00:00 job.sh"},
		{Name: "Variable_List", Value: "PBS_O_HOME=/home/ann,PBS_O_LANG=C.UTF-8,PBS_O_LOGNAME=ann,PBS_O_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin,PBS_O_MAIL=/var/mail/ann,PBS_O_SHELL=/bin/bash,PBS_O_WORKDIR=/home/ann/run,PBS_O_SYSTEM=Linux,PBS_O_QUEUE=workq,PBS_O_HOST=login"},
	} {
		c.Attributes = c.Attributes.Set(e.Name, e.Resource, e.Value)
	}
	return c
}

// BenchmarkApply_Submit is the cost of one submission in Apply, decoding included,
// 64 to an entry as group commit makes them; with the memory that each job keeps.
func BenchmarkApply_Submit(b *testing.B) {
	f := fsm.New(fsm.Options{})
	now := pbs.Time(1_800_000_000 * time.Second)
	apply := func(index uint64, ps []command.Proposal) {
		data, err := command.Encode(command.Entry{Time: now, Proposals: ps})
		if err != nil {
			b.Fatal(err)
		}
		f.Apply(&raft.Log{Index: index, Term: 1, Type: raft.LogCommand, Data: data})
	}
	apply(1, []command.Proposal{{Commands: []command.Command{&command.InitCluster{ID: "c", Name: "srv"}}}})
	before := heap()
	b.ResetTimer()
	index := uint64(1)
	for n := 0; n < b.N; {
		var ps []command.Proposal
		for range min(64, b.N-n) {
			ps = append(ps, command.Proposal{
				ID: requestID(now, n), Asker: pbs.User{Name: "ann", Host: "login"}, Commands: []command.Command{typicalSubmit(n)},
			})
			n++
		}
		index++
		apply(index, ps)
	}
	b.StopTimer()
	b.ReportMetric(float64(heap()-before)/float64(b.N), "B/job")
	runtime.KeepAlive(f)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
