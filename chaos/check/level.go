package check

// Level says at which feature level a cluster has to be in the end: not above what all of
// its builds know, and not below (L4).
func Level(want uint32) Law {
	return Law{Name: "L4 what every build knows is used, and nothing else", Judge: func(e *Evidence) []string {
		var f faults
		for _, r := range e.Replicas {
			if r.Level != want {
				f.add("%s is at feature level %d, want %d", r.Name, r.Level, want)
			}
		}
		return f
	}}
}
