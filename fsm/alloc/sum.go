package alloc

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// ByVnode sums up what chunks have of each vnode, in the order in which the vnodes are met.
func ByVnode(chunks spec.ExecVnode, t resource.Table) ([]spec.ExecPart, error) {
	var all []spec.ExecPart
	at := make(map[pbs.VnodeName]int, len(chunks))
	for _, c := range chunks {
		for _, p := range c.Parts {
			i, met := at[p.Vnode]
			if !met {
				i = len(all)
				at[p.Vnode] = i
				all = append(all, spec.ExecPart{Vnode: p.Vnode})
			}
			sum, err := resource.Add(all[i].Items, p.Items, t)
			if err != nil {
				return nil, err
			}
			all[i].Items = sum
		}
	}
	return all, nil
}
