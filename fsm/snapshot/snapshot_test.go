package snapshot_test

import (
	"bytes"
	"errors"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// sample returns the snapshot of a small state.
func sample(tb testing.TB) (*state.View, []byte) {
	tb.Helper()
	s := state.NewStore()
	commands := []command.Command{&command.InitCluster{ID: "c", Name: "srv", Epoch: 3, GossipKey: []byte("k")}}
	for range 50 {
		commands = append(commands, &command.SubmitJob{
			Owner: pbs.User{Name: "ann", Host: "a"}, Script: []byte("echo"), Attributes: attr.List(nil).Set("Job_Name", "", "x"),
		})
	}
	for i, c := range commands {
		command.Run(s, uint64(i+1), 1, command.Entry{Time: pbs.Time(i + 1), Proposals: []command.Proposal{{Commands: []command.Command{c}}}})
	}
	var file bytes.Buffer
	if err := snapshot.Write(&file, s.Publish()); err != nil {
		tb.Fatal(err)
	}
	return s.View(), file.Bytes()
}

func TestRead_RoundTrip(t *testing.T) {
	v, file := sample(t)
	s, h, err := snapshot.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if h.Index != v.Index() || h.Jobs != 50 || h.Server != "srv" || s.View().Digest() != v.Digest() {
		t.Errorf("header %+v, digest %x, want %x", h, s.View().Digest(), v.Digest())
	}
	var again bytes.Buffer
	if err := snapshot.Write(&again, s.View()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), file) {
		t.Error("equal states were written differently")
	}
}

// TestRead_Damage: a snapshot cut or changed anywhere is refused, never applied;
// but for bits of the compression that mean nothing.
func TestRead_Damage(t *testing.T) {
	v, file := sample(t)
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 0x40
		if s, _, err := snapshot.Read(bytes.NewReader(bad)); err == nil && s.View().Digest() != v.Digest() {
			t.Errorf("byte %d of %d was changed unnoticed", i, len(file))
		}
		if _, _, err := snapshot.Read(bytes.NewReader(file[:i])); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	_, file := sample(f)
	f.Add(file)
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _, _ = snapshot.Read(bytes.NewReader(b))
	})
}
