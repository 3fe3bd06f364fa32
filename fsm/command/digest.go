package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// CompareDigests marks a moment at which all replicas note the digest of their
// state, and tells what a majority of the voters had noted at an earlier one: a
// replica that noted something else has drifted, and stops (L4).
type CompareDigests struct {
	Index  uint64            `cbor:"1,keyasint,omitempty"` // of an earlier CompareDigests; 0: nothing is compared
	Digest uint64            `cbor:"2,keyasint,omitempty"` // of a majority's state after that entry
	Differ []pbs.ReplicaName `cbor:"3,keyasint,omitempty"` // voters that had another one
}

// maxDifferences is how many replicas that differed the state remembers.
const maxDifferences = 20

// Apply notes who differed. What it does to a replica is that replica's affair, not
// the state's.
func (c *CompareDigests) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	if len(c.Differ) == 0 {
		return nil
	}
	cl := tx.EditCluster()
	all := make([]state.Difference, 0, len(c.Differ)+len(cl.Differences))
	for _, name := range c.Differ {
		all = append(all, state.Difference{Replica: name, Index: c.Index, At: m.At})
	}
	all = append(all, cl.Differences...)
	cl.Differences = all[:min(len(all), maxDifferences)]
	return nil
}

// A Mark is the digest of a replica's state after the CompareDigests at Index.
type Mark struct {
	Index  uint64
	Digest uint64
}

// Comparison returns the CompareDigests of an entry, nil if it has none.
func (e Entry) Comparison() *CompareDigests {
	for _, p := range e.Proposals {
		for _, c := range p.Commands {
			if cmp, ok := c.(*CompareDigests); ok {
				return cmp
			}
		}
	}
	return nil
}
