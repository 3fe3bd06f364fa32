package command

import (
	"slices"

	"rampart/fsm/state"
)

// rename gives the server another name. Jobs and reservations keep their identifiers, and the server
// goes by its former names, too.
func rename(tx *state.Tx, name string) {
	cl := tx.EditCluster()
	if name == "" || name == cl.Name {
		return
	}
	former := slices.Clone(cl.Former)
	if !slices.Contains(former, cl.Name) {
		former = append(former, cl.Name)
	}
	cl.Name, cl.Former = name, former
	tx.NewsForMoms()
}
