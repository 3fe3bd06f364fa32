package pbs

// The events of lines in the logs of daemons, as PBS numbers them (specification: logs section 1). They are
// bits: a line may be of several, and a mask says which are written.
const (
	LogError    uint16 = 0x0001 // internal errors
	LogSystem   uint16 = 0x0002 // start, stop, configuration, states of moms
	LogAdmin    uint16 = 0x0004 // administrative events
	LogJob      uint16 = 0x0008 // events of jobs
	LogJobUsage uint16 = 0x0010 // resource use at the end of a job
	LogSecurity uint16 = 0x0020 // refused requests
	LogSched    uint16 = 0x0040 // scheduler
	LogDebug    uint16 = 0x0080 // common debugging messages
	LogDebug2   uint16 = 0x0100 // less common
	LogResv     uint16 = 0x0200 // reservations
	LogDebug3   uint16 = 0x0400 // rarer
	LogDebug4   uint16 = 0x0800 // rarest
	LogPerf     uint16 = 0x1000 // how long things took
	LogForce    uint16 = 0x8000 // written whatever the mask says; never printed
)

// LogEvents are the events by the names that tracejob takes.
var LogEvents = map[string]uint16{
	"error": LogError, "system": LogSystem, "admin": LogAdmin, "job": LogJob, "job_usage": LogJobUsage,
	"security": LogSecurity, "sched": LogSched, "debug": LogDebug, "debug2": LogDebug2, "resv": LogResv,
	"debug3": LogDebug3, "debug4": LogDebug4, "force": LogForce,
}
