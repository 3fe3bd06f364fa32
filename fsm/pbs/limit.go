package pbs

// The exit statuses of jobs that their mom has ended for a limit, as PBS numbers them.
const (
	ExitNCPUSBurst = -24
	ExitNCPUSSum   = -25
	ExitVMem       = -26
	ExitMem        = -27
	ExitCPUTime    = -28
	ExitWalltime   = -29
)

var exceeded = map[int32]string{
	ExitNCPUSBurst: "ncpus (burst)", ExitNCPUSSum: "ncpus (sum)", ExitVMem: "vmem", ExitMem: "mem", ExitCPUTime: "cput", ExitWalltime: "walltime",
}

// Exceeded returns what a job was over that has ended with the exit status, as PBS calls it; empty: it
// was not ended for a limit.
func Exceeded(exit int32) string { return exceeded[exit] }
