package admin

import (
	"fmt"
	"time"

	"rampart/transport/api"
)

// removalJSON is a replica that leaves or has left.
type removalJSON struct {
	Replica    string     `json:"replica"`
	ReplacedBy string     `json:"replaced_by,omitempty"`
	By         string     `json:"by,omitempty"`
	Decided    time.Time  `json:"decided"`
	Left       *time.Time `json:"left,omitempty"`
}

func removalsJSON(removals []*api.Removal) []removalJSON {
	var all []removalJSON
	for _, r := range removals {
		j := removalJSON{Replica: r.GetReplica(), ReplacedBy: r.GetReplacedBy(), By: r.GetAsker(), Decided: time.Unix(r.GetDecided(), 0).UTC()}
		if r.GetLeft() != 0 {
			left := time.Unix(r.GetLeft(), 0).UTC()
			j.Left = &left
		}
		all = append(all, j)
	}
	return all
}

// removalsTold is of how many replicas that have left `cluster status` tells.
const removalsTold = 3

// left says which replicas leave, or have left last.
func left(removals []*api.Removal) []string {
	var lines []string
	for i, r := range removals {
		at := time.Unix(r.GetLeft(), 0).UTC().Format(time.DateTime)
		switch {
		case r.GetLeft() == 0 && r.GetReplacedBy() == "":
			lines = append(lines, fmt.Sprintf("%s is being removed\n", r.GetReplica()))
		case r.GetLeft() == 0 || i >= removalsTold: // its advice tells of the former
		case r.GetReplacedBy() == "":
			lines = append(lines, fmt.Sprintf("%s: %s was removed by %s\n", at, r.GetReplica(), r.GetAsker()))
		default:
			lines = append(lines, fmt.Sprintf("%s: %s was silent, and %s took its place\n", at, r.GetReplica(), r.GetReplacedBy()))
		}
	}
	return lines
}
