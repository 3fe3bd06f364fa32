package command

import "rampart/fsm/state"

// stirs reports whether commands that were applied have changed something for which a scheduler looks at the jobs that wait. What
// follows by itself from its own decisions is nothing such, nor is what moms tell of jobs that run on.
func stirs(tx *state.Tx, all []Command) bool {
	for _, c := range all {
		switch c.(type) {
		case *StartJob, *JobStarted, *JobExiting, *SetWaits, *UsageSample, *CheckpointMade, *ShortenFence, *CompareDigests, *StagePart,
			*HooksTold, *HookTasksDone, *MailsDone:
		case *TimeTick, *OrderConfirmed:
			for range tx.JobsChanged(tx.Index(), 0, 0) {
				return true
			}
		default:
			return true
		}
	}
	return false
}
