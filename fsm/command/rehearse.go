package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Rehearse tells what a Restore would do to a state, which it leaves alone. It says in full
// why a file is refused, which the log may not, for texts of errors differ from build to build.
// Its cost grows with both states.
func Rehearse(v *state.View, c *Restore, read SnapshotReader) (after, file *state.View, res state.Result, err error) {
	s := v.Cluster().Staging
	if s == nil || s.Key != c.Key || s.Parts != c.Parts {
		return nil, nil, res, pbs.Errorf(pbs.InvalidRequest, "the snapshot is not there any more: somebody has begun to send another one, or it took too long")
	}
	from, err := read(v.StagedFile())
	if err != nil {
		return nil, nil, res, pbs.Errorf(pbs.InvalidRequest, "%v", err)
	}
	tried := *c
	tried.read = read
	scratch := v.Copy()
	entry := Entry{Time: v.Now(), Proposals: []Proposal{{Commands: []Command{&tried}}}}
	out, _ := Run(scratch, v.Index()+1, v.Term(), entry)
	if out[0].Refusal != nil {
		return nil, nil, res, out[0].Refusal
	}
	return scratch.Publish(), from.View(), out[0].Result, nil
}
