package task

// A mother is a task of a mother superior, or of a host that has the run for itself, as its steps see it: those of
// a sister do not fit it.
type mother struct{ Task }

// A sister is a task of a host that takes part in a run of others.
type sister struct{ Task }
