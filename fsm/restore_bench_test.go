package fsm_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
)

// BenchmarkRestore is what a replica that starts spends on a snapshot of 100,000 queued jobs.
func BenchmarkRestore(b *testing.B) {
	const jobs = 100_000
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
	for n := 0; n < jobs; {
		var ps []command.Proposal
		for range 32 {
			ps = append(ps, command.Proposal{
				ID: requestID(now, n), Asker: pbs.User{Name: "ann", Host: "login"}, Commands: []command.Command{typicalSubmit(n)},
			})
			n++
		}
		apply(uint64(n/32+1), ps)
	}
	var file bytes.Buffer
	if err := snapshot.Write(&file, f.View()); err != nil {
		b.Fatal(err)
	}
	f = nil
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := snapshot.Read(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
