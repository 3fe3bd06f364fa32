package pbs

// The exit statuses of jobs that did not end by themselves, as PBS numbers them. They are the mom's words to
// the servers.
const (
	ExitOwnFault     = -1  // it could not be started, and it will not be better next time
	ExitNoOutput     = -2  // nor was there anything of it to deliver
	ExitRetry        = -3  // it could not be started now
	ExitAborted      = -4  // it was lost with its host, or ended by the mom's start or stop
	ExitBadRestart   = -7  // it could not be restarted from its checkpoint
	ExitRerun        = -11 // it was sent back to the queue
	ExitCheckpointed = -12
	ExitHookRerun    = -16 // a hook refused the start and wants it repeated; the log alone says so
	ExitHookDelete   = -17 // a hook refused the start and wants none; the log alone says so
	ExitNCPUSBurst   = -24 // from here on it was over a limit
	ExitNCPUSSum     = -25
	ExitVMem         = -26
	ExitMem          = -27
	ExitCPUTime      = -28
	ExitWalltime     = -29
	ExitJoin         = -30 // a sister did not join
)

// The exit statuses of programs that a signal has ended: ExitSignal and the number of the signal.
const (
	ExitSignal     = 256
	ExitKilled     = ExitSignal + 9  // SIGKILL: of a part that ended with its run, too
	ExitTerminated = ExitSignal + 15 // SIGTERM: of a job that was ended before it had begun, too
)

var exceeded = map[int32]string{
	ExitNCPUSBurst: "ncpus (burst)", ExitNCPUSSum: "ncpus (sum)", ExitVMem: "vmem", ExitMem: "mem", ExitCPUTime: "cput", ExitWalltime: "walltime",
}

// Exceeded returns what a job was over that has ended with the exit status, as PBS calls it; empty: it
// was not ended for a limit.
func Exceeded(exit int32) string { return exceeded[exit] }
