package admin

import (
	"slices"

	"rampart/transport/api"
)

// zones returns the cell and the head of the column that tells in which zone a replica is; there is
// none when no replica is in any.
func zones(replicas []*api.ReplicaStatus) (cell func(*api.ReplicaStatus) string, head string) {
	if !slices.ContainsFunc(replicas, func(r *api.ReplicaStatus) bool { return r.GetZone() != "" }) {
		return func(*api.ReplicaStatus) string { return "" }, ""
	}
	return func(r *api.ReplicaStatus) string {
		if r.GetZone() == "" {
			return "-\t"
		}
		return r.GetZone() + "\t"
	}, "ZONE\t"
}
