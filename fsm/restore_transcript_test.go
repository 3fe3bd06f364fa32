package fsm_test

import (
	"bytes"
	"fmt"
	"strconv"

	"rampart/fsm/command"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// The verbs of transcripts that tell of snapshots that are put back. A file goes by the name
// under which it was saved.

// saveState keeps a snapshot of the state.
func saveState(s *stage, name string) []string {
	var file bytes.Buffer
	if err := snapshot.Write(&file, s.store.View()); err != nil {
		s.t.Fatal(err)
	}
	s.files[name] = file.Bytes()
	return []string{"ok"}
}

// stagePart sends a file, or what the arguments make of it.
func stagePart(s *stage, name string, args map[string]string) command.Command {
	n, _ := strconv.ParseUint(args["number"], 10, 32)
	data := s.files[name]
	switch {
	case args["cut"] != "":
		data = data[:len(data)/2]
	case args["flip"] != "":
		data = bytes.Clone(data)
		data[len(data)/2] ^= 1
	}
	return &command.StagePart{Key: name, Number: uint32(n), Data: data}
}

func restoreState(_ *stage, name string, args map[string]string) command.Command {
	epoch, _ := strconv.ParseUint(args["epoch"], 10, 64)
	records, _ := strconv.ParseUint(args["records"], 10, 64)
	return &command.Restore{Key: name, Parts: 1, Epoch: epoch, Founding: args["founding"] != "", LastRecord: records}
}

func showCluster(s *stage, _ string) []string {
	c := s.store.View().Cluster()
	staged := "nothing"
	if c.Staging != nil {
		staged = fmt.Sprintf("%s, %d parts", c.Staging.Key, c.Staging.Parts)
	}
	return []string{fmt.Sprintf("id=%s epoch=%d next_job=%d last_record=%d staged: %s", c.ID, c.Epoch, c.NextJob, c.LastRecord, staged)}
}

// elsewhere goes on with another cluster, which has nothing yet.
func elsewhere(s *stage, _ string) []string {
	s.store, s.index = state.NewStore(), 0
	return []string{"ok"}
}
