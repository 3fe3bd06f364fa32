// Package proc starts, finds, signals and measures the processes of jobs. It owns
// the shim, a small process that keeps a job's session while the mom may come and
// go, and the files through which the two speak. It knows nothing of job states,
// limits or reports: those are mom/task's.
//
// A job's processes are everything below its shim, which is a subreaper, so that a
// daemon that detaches itself stays in reach, and everything in the job's session or
// with its cookie in the environment, should the shim have been killed. A process is
// known by pid, start time and boot id, never by its pid alone.
//
// The files, in the folder of a task:
//
//	spec.json     what to run (written by the mom)
//	shim.json     who the shim is; made exclusively, so that there is only ever one.
//	              The job's session follows once it is there
//	exit.json     how it ended; synced, for it must outlive the host's crash
//
// System is what the mom uses. Linux is the real one, Fake runs scripted processes
// inside a synctest bubble. Both may be used by several goroutines; they start none
// that outlives a call. The part that the shim needs imports the standard library
// and x/sys only, because it is linked into the lean binary.
package proc
