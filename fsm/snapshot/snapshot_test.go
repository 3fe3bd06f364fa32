package snapshot_test

import (
	"bytes"
	"errors"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
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
	return applied(tb, s, commands)
}

// applied returns the snapshot of what the commands make of a state.
func applied(tb testing.TB, s *state.Store, commands []command.Command) (*state.View, []byte) {
	tb.Helper()
	for i, c := range commands {
		p := command.Proposal{Commands: []command.Command{c}}
		if _, ok := c.(*command.DeleteJob); ok {
			p.ID = "00000000-0000-7000-8000-000000000000"
		}
		out, _ := command.Run(s, uint64(i+1), 1, command.Entry{Time: pbs.Time(i + 1), Proposals: []command.Proposal{p}})
		if err := out[0].Err(); err != nil {
			tb.Fatalf("%T: %v", c, err)
		}
	}
	var file bytes.Buffer
	if err := snapshot.Write(&file, s.Publish()); err != nil {
		tb.Fatal(err)
	}
	return s.View(), file.Bytes()
}

// No table may be left out: here each has a record.
func TestRead_EverySection(t *testing.T) {
	ann := pbs.User{Name: "ann", Host: "a"}
	v, file := applied(t, state.NewStore(), []command.Command{
		&command.InitCluster{ID: "c", Name: "srv", Epoch: 3},
		&command.StagePart{Key: "k", Data: []byte("piece")},
		&command.PutReplica{Replica: state.Replica{Name: "s1", Host: "head1"}},
		&command.CreateToken{Token: state.Token{Hash: "h", Role: "mom", Expires: 1000, Reusable: true}},
		&command.Enrol{TokenHash: "h", Identity: state.Identity{KeyHash: "k", Role: "mom", Host: "a"}},
		&command.ManageResource{Verb: command.VerbCreate, Name: "colour", Changes: []command.AttrChange{
			{Entry: attr.Entry{Name: "type", Value: "string"}},
		}},
		&command.HostUp{Host: "a", SpoolID: "s", Vnodes: []command.ReportedVnode{
			{Name: "a", Available: resource.List{{Name: "ncpus", Value: "1"}}},
		}},
		&command.ManageHook{Verb: command.VerbCreate, Name: "queued", Changes: []command.AttrChange{
			{Entry: attr.Entry{Name: "event", Value: "postqueuejob"}}, {Entry: attr.Entry{Name: "enabled", Value: "true"}},
		}},
		&command.ImportHook{Name: "queued", Kind: state.HookScript, Body: []byte("import pbs")},
		&command.SubmitJob{Owner: ann, Script: []byte("echo"), Attributes: attr.List{}.Set("Mail_Points", "", "b")},
		&command.SubmitJob{Owner: ann, Script: []byte("echo"), Account: &state.Account{Name: "ann", UID: 7, Groups: []string{"g"}, GIDs: []uint32{7}, Told: 1}},
		&command.StartJob{Job: "0.srv", ExecVnode: "(a:ncpus=1)"},
		&command.JobStarted{Source: command.Source{Host: "a", Spool: "s", Seq: 1}, Job: "0.srv", RunCount: 1, Session: 9},
		&command.ManageSched{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "fair_share", Value: "True"}}}},
		&command.UsageSample{Host: "a", Jobs: []command.JobUsage{{Job: "0.srv", RunCount: 1, Used: resource.List{{Name: "cput", Value: "9"}}}}},
		&command.DeleteJob{Job: "1.srv"},
		&command.Reserve{Owner: ann, Starts: []pbs.Time{pbs.Time(1 << 60)}, Length: pbs.Time(1e12)},
		&command.Reconfigure{Config: lsf.Config{SleepTime: 10}},
	})
	s, _, err := snapshot.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if s.View().Digest() != v.Digest() {
		t.Error("the digests differ")
	}
	if err := s.View().Check(); err != nil {
		t.Errorf("what was built of it: %v", err)
	}
	again := s.View().Sections()
	for i, section := range v.Sections() {
		if section.Count == 0 {
			t.Errorf("section %d has no record: this test does not judge it", section.Tag)
		}
		if again[i].Count != section.Count {
			t.Errorf("section %d has %d records, had %d", section.Tag, again[i].Count, section.Count)
		}
	}
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
