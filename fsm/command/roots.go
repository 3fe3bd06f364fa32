package command

import (
	"bytes"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// TurnRoots takes one step of replacing the CA. There are four: all learn to trust the new
// one, and replicas get its key, which is never in the log; it signs the leaves of moms and
// login hosts; it signs those of replicas, too; the old one is dropped. Between two steps the
// leader waits for those who must have followed.
type TurnRoots struct {
	From  uint64   `cbor:"1,keyasint"` // how many steps were taken before
	Roots [][]byte `cbor:"2,keyasint"` // certificates (DER) as they are to be, the old one first
}

// RootSteps is how many steps there are: after so many, or none, there is one CA.
const RootSteps = 4

// Apply takes the step, if nobody took one before. As long as nothing was signed by the new
// CA, it can be given up instead.
func (c *TurnRoots) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	cl := tx.Cluster()
	if c.From != cl.RootTurns {
		return pbs.Errorf(pbs.InvalidRequest, "turn the CA: it was turned meanwhile")
	}
	turns, text := rootStep(cl, c.Roots)
	if text == "" {
		return pbs.Errorf(pbs.InvalidRequest, "turn the CA: this is no step from the present ones")
	}
	cl = tx.EditCluster()
	cl.Roots, cl.RootTurns = c.Roots, cl.RootTurns+turns
	emitTrust(tx, m, "", text)
	return nil
}

// rootStep tells how many steps lead from the present CAs to the given ones, and names them.
func rootStep(cl *state.Cluster, roots [][]byte) (turns uint64, text string) {
	old := cl.Roots
	same := slices.EqualFunc(old, roots, bytes.Equal)
	one := len(old) == 2 && len(roots) == 1
	switch step := cl.RootTurns % RootSteps; {
	case step == 0 && len(roots) == 2 && (len(old) == 0 || bytes.Equal(old[0], roots[0])) &&
		len(roots[0]) > 0 && len(roots[1]) > 0 && !bytes.Equal(roots[0], roots[1]):
		return 1, "a new CA was added"
	case step == 1 && same:
		return 1, "the new CA signs for moms and login hosts"
	case step == 1 && one && bytes.Equal(roots[0], old[0]):
		return RootSteps - 1, "the new CA was given up"
	case step == 2 && same:
		return 1, "the new CA signs for all"
	case step == 3 && one && bytes.Equal(roots[0], old[1]):
		return 1, "the old CA was dropped"
	}
	return 0, ""
}
