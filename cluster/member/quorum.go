package member

import (
	"fmt"
	"strings"

	"github.com/hashicorp/raft"

	"rampart/fsm/pbs"
)

// WithoutQuorum says what to do when so many voters are silent that the others are no
// quorum; empty: it is not so.
func WithoutQuorum(all []Status) string {
	var silent []string
	voters := 0
	for _, s := range all {
		if !s.Voter {
			continue
		}
		voters++
		if s.Role == Unreachable {
			silent = append(silent, string(s.Self.Name))
		}
	}
	if len(silent) == 0 || voters-len(silent) >= voters/2+1 {
		return ""
	}
	return fmt.Sprintf("start %s. Only if they are lost for good: rampart cluster recover --look (docs/operations.md, \"When a majority is lost\")",
		strings.Join(silent, " and "))
}

// MayRemove refuses to remove a replica when those voters that are left, and answer, would be no
// quorum of themselves.
func MayRemove(all []Answer, without pbs.ReplicaName) error {
	others, answer := 0, 0
	var silent []pbs.ReplicaName
	for _, m := range all {
		if m.Server.Suffrage != raft.Voter || NameOf(m.Server.ID) == without {
			continue
		}
		others++
		if m.Err == nil && m.Status.Term > 0 && !m.Status.Stalled() {
			answer++
		} else {
			silent = append(silent, NameOf(m.Server.ID))
		}
	}
	switch {
	case others == 0:
		return pbs.Errorf(pbs.InvalidRequest, "remove %s: it is the last voter", without)
	case answer < others/2+1:
		return pbs.Errorf(pbs.InvalidRequest, "remove %s: of the %d voters that would be left only %d answer, which is no quorum; "+
			"start %v first, or let another replica join", without, others, answer, silent)
	}
	return nil
}
