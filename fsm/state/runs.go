package state

// Runs is the job's run_count as people see it: how often it was started, or what was set and how
// often it was since.
func (j *Job) Runs() int64 { return int64(j.RunCount) + j.RunBase }
