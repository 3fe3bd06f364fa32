package sched

// notes are the nodes of a world that have changed since somebody has looked at all of them.
type notes struct {
	nodes []int32
	lost  bool // any of them may have changed
}

// note has a node looked at anew. Nobody may ask for what is noted: when it is as much as there is, it becomes all.
func (n *notes) note(node int32, most int) {
	switch {
	case n.lost:
	case len(n.nodes) >= most:
		n.forget()
		n.lost = true
	default:
		n.nodes = append(n.nodes, node)
	}
}

// forget notes that all has been looked at.
func (n *notes) forget() { n.nodes, n.lost = n.nodes[:0], false }
