package state

import (
	"testing"

	"rampart/fsm/pbs"
)

// Who asks for one record within a transaction has no later write copy the paths of the tree again: group commit has
// 64 submissions of one entry share the copy.
func TestTx_LookingUpCopiesNothing(t *testing.T) {
	tx := NewStore().Tx()
	task := HookTask{Job: pbs.NewJobID(0, "srv")}
	tx.PutJob(&Job{ID: task.Job, Queue: "workq", State: pbs.Queued})
	tx.PutScript(Script{Job: task.Job, Blob: &pbs.Blob{Sum: pbs.BlobSum{1}}})
	for name, c := range map[string]struct {
		look  func()
		owned *bool
	}{
		"the next number of a job": {func() { tx.NextJob() }, &tx.jobs.owned},
		"a script of that sum":     {func() { tx.NamesBlob(pbs.BlobSum{1}) }, &tx.blobs.owned},
		"an unseen job":            {func() { tx.IsNewToHooks(task.Job) }, &tx.unseen.owned},
	} {
		*c.owned = true
		if c.look(); !*c.owned {
			t.Errorf("%s: the next write copies the path anew", name)
		}
	}
}
