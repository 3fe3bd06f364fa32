package pbs

import (
	"errors"
	"fmt"
)

// A Code says why a request was refused. It has a PBS number and a text that
// scripts know; commands exit with the number modulo 256.
type Code uint16

// The codes, by PBS's numbers (specification: cli-contract section 1).
const (
	UnknownJob           Code = 15001
	UndefinedAttribute   Code = 15002
	ReadOnlyAttribute    Code = 15003
	InvalidRequest       Code = 15004
	Unauthorized         Code = 15007
	UnknownHost          Code = 15008
	SystemError          Code = 15010
	InternalError        Code = 15011
	BadSignal            Code = 15013
	BadAttributeValue    Code = 15014
	RunningAttribute     Code = 15015
	BadState             Code = 15016
	UnknownQueue         Code = 15018
	QueueAccess          Code = 15022
	BadUser              Code = 15023
	QueueExists          Code = 15025
	BusyObject           Code = 15027
	LongQueueName        Code = 15028
	QueueDisabled        Code = 15021
	RouteRejected        Code = 15039
	RouteExpired         Code = 15040
	NotSupported         Code = 15029
	QueueIncomplete      Code = 15030
	NoDefaultQueue       Code = 15037
	UnknownResource      Code = 15035
	ResourceLimit        Code = 15036
	NotRerunnable        Code = 15038
	DuplicateEntry       Code = 15055
	BoundElsewhere       Code = 15057
	UnknownNode          Code = 15062
	NoNodeList           Code = 15064
	NodeExists           Code = 15066
	BadNodeState         Code = 15067
	NoMom                Code = 15070
	UnknownReservation   Code = 15084
	BadTimes             Code = 15086
	ResvHostDenied       Code = 15092
	ResvGroupDenied      Code = 15093
	ResvDenied           Code = 15094
	ArrayTooLarge        Code = 15107
	BadSelect            Code = 15108
	ResourceBesideSelect Code = 15109
	PlaceAlone           Code = 15111
	DuplicateResource    Code = 15116
	YearlyTooLong        Code = 15126
	MonthlyTooLong       Code = 15127
	WeeklyTooLong        Code = 15128
	DailyTooLong         Code = 15129
	HourlyTooLong        Code = 15130
	MinutelyTooLong      Code = 15131
	SecondlyTooLong      Code = 15132
	BadRule              Code = 15133
	UnboundRule          Code = 15134
	UnknownZone          Code = 15135
	HookError            Code = 15136
	HasFinished          Code = 15139
	NoHistory            Code = 15140
	MixedLimits          Code = 15141
	ConflictingPlace     Code = 15156
	TooManyJobs          Code = 15160
	TooMuchResource      Code = 15161
	NoMinWalltime        Code = 15162
	WalltimesReversed    Code = 15163
	ResvWalltimeRange    Code = 15164
	ArrayWalltimeRange   Code = 15165
	NoLimitOf            Code = 15166
	ResourceBusy         Code = 15174
	ScriptOverLimit      Code = 15175
	LongScriptLimit      Code = 15176
	BadResume            Code = 15177
	ResvNotEmpty         Code = 15178
	ResvInterferes       Code = 15179
	ResvFromResv         Code = 15181
	ResvFromArray        Code = 15182
	ResvNotSubset        Code = 15183
	SchedulerExists      Code = 15211
	LongSchedulerName    Code = 15212
	UnknownScheduler     Code = 15213
	LastingScheduler     Code = 15214
	SchedPrivExists      Code = 15215
	SchedLogExists       Code = 15216
	RoutePartition       Code = 15217
	PartitionedRoute     Code = 15218
	QueueApart           Code = 15219
	PartitionApart       Code = 15220
	VnodesApart          Code = 15221
	DefaultSched         Code = 15223
	PartitionTaken       Code = 15224
	FormulasApart        Code = 15226
	NodeBusy             Code = 15227
	DefaultPartition     Code = 15228
)

// BadJobID is not a server's refusal: the command sees it before it asks.
const BadJobID Code = 1

// The codes of Rampart's own: outside the numbers of which PBS tells, so that no script mistakes them.
const (
	NotAccountHolder Code = 15200 + iota // no account with that name on the replica's host
	ScriptTooLarge                       // over MaxScript bytes
	ExpiredRequest                       // the request id is too old, or from the future
	ReusedRequest                        // the request id was used for another request
	BadToken                             // no such token, expired, or used
	NoQuorum                             // the replicas cannot agree now
	UnknownResult                        // the request may yet take effect; ask again with its id
	NoDirectory                          // the directory of users does not answer, and the account is not known
	NoServer                             // another server is meant, or this one lets nobody of the host in: UnknownHost to the user
)

var texts = map[Code]string{
	UnknownJob:           "Unknown Job Id",
	UndefinedAttribute:   "Undefined attribute ", // the blank at the end is PBS's own
	ReadOnlyAttribute:    "Cannot set attribute, read only or insufficient permission ",
	InvalidRequest:       "Invalid request",
	Unauthorized:         "Unauthorized Request ",
	UnknownHost:          "Access from host not allowed, or unknown host",
	SystemError:          "system error",
	InternalError:        "PBS server internal error",
	BadSignal:            "Unknown/illegal signal name",
	BadAttributeValue:    "Illegal attribute or resource value",
	RunningAttribute:     "Cannot modify attribute while job running ",
	BadState:             "Request invalid for state of job",
	UnknownQueue:         "Unknown queue",
	BadUser:              "Bad UID for job execution",
	QueueAccess:          "Access to queue is denied",
	RouteRejected:        "Job rejected by all possible destinations",
	RouteExpired:         "Time in Route Queue Expired",
	TooManyJobs:          "would exceed a limit on jobs",
	TooMuchResource:      "would exceed a limit on resources",
	UnknownReservation:   "Unknown Reservation Id",
	BadTimes:             "Bad time specification(s)",
	ResvHostDenied:       "Host machine not authorized to submit reservations",
	ResvGroupDenied:      "Requestor's group not authorized to submit reservations",
	ResvDenied:           "Requestor not authorized to make reservations",
	YearlyTooLong:        "YEARLY recurrence duration cannot exceed 1 year",
	MonthlyTooLong:       "MONTHLY recurrence duration cannot exceed 1 month",
	WeeklyTooLong:        "WEEKLY recurrence duration cannot exceed 1 week",
	DailyTooLong:         "DAILY recurrence duration cannot exceed 24 hours",
	HourlyTooLong:        "HOURLY recurrence duration cannot exceed 1 hour",
	MinutelyTooLong:      "MINUTELY recurrence duration cannot exceed 1 minute",
	SecondlyTooLong:      "SECONDLY recurrence duration cannot exceed 1 second",
	BadRule:              "Undefined iCalendar syntax",
	UnboundRule:          "Undefined iCalendar syntax. A valid COUNT or UNTIL is required",
	UnknownZone:          "Unrecognized PBS_TZID environment variable",
	ConflictingPlace:     "job and reservation have conflicting specification Resource_List.place",
	NoMinWalltime:        `Can not have "max_walltime" without "min_walltime"`,
	WalltimesReversed:    `"min_walltime" can not be greater than "max_walltime"`,
	ArrayWalltimeRange:   `"min_walltime" and "max_walltime" are not valid resources for a job array`,
	NoLimitOf:            "Resource limits can not be set for the resource",
	ResvWalltimeRange:    `"min_walltime" and "max_walltime" are not valid resources for a reservation`,
	ResvNotEmpty:         "Reservation not empty",
	ResvInterferes:       "Requested time(s) will interfere with a later occurrence",
	ResvFromResv:         "Reservation may not be created from a job already within a reservation",
	ResvFromArray:        "Reservation may not be created from an array job",
	ResvNotSubset:        "New select must be made up of a subset of the original chunks",
	QueueExists:          "Queue already exists",
	BusyObject:           "Cannot delete busy object",
	LongQueueName:        "Queue name too long",
	QueueDisabled:        "Queue is not enabled",
	NotSupported:         "No support for requested service",
	QueueIncomplete:      "Cannot enable queue, incomplete definition",
	NoDefaultQueue:       "No default queue specified",
	UnknownResource:      "Unknown resource",
	NoHistory:            "PBS is not configured to maintain job history",
	MixedLimits:          "use new/old qmgr syntax, not both",
	ResourceLimit:        "Job violates queue and/or server resource limits",
	NotRerunnable:        "job is not rerunnable",
	DuplicateEntry:       "Duplicate entry in list ",
	UnknownNode:          "Unknown node ",
	BoundElsewhere:       "Cannot execute at specified host because of checkpoint or stagein files",
	NoNodeList:           "Server has no node list",
	NodeExists:           "Node name already exists",
	BadNodeState:         "Illegal value for node state",
	NoMom:                "could not contact mom",
	ArrayTooLarge:        "Array job exceeds server or queue size limit",
	BadSelect:            `Resource invalid in "select" specification: `,
	PlaceAlone:           `Cannot have "place" without "select"`,
	ResourceBesideSelect: `"-lresource=" cannot be used with "select" or "place", resource is: `,
	DuplicateResource:    "duplicated resource within a section of a select specification, resource is: ",
	HookError:            "hook error",
	HasFinished:          "Job has finished",
	ResourceBusy:         "Resource busy",
	ScriptOverLimit:      "jobscript size exceeded the jobscript_max_size",
	LongScriptLimit:      "jobscript max size exceeds 2GB",
	BadResume:            "Job can not be resumed with the requested resume signal",
	QueueApart:           "queue is not part of partition for node",
	PartitionApart:       "partition is not part of queue for node",
	SchedulerExists:      "Scheduler already exists",
	LongSchedulerName:    "Scheduler name is too long",
	UnknownScheduler:     "Unknown Scheduler",
	LastingScheduler:     "Can not delete Scheduler",
	SchedPrivExists:      "Another scheduler also has same value for its sched_priv directory",
	SchedLogExists:       "Another scheduler also has same value for its sched_log directory",
	RoutePartition:       "Cannot assign a partition to route queue",
	PartitionedRoute:     "Route queues are incompatible with the partition attribute",
	VnodesApart:          "Invalid partition in queue",
	DefaultSched:         "Operation is not permitted on default scheduler",
	PartitionTaken:       "Partition is already associated with other scheduler",
	FormulasApart:        "Server's job_sort_formula value is incompatible with sched's",
	NodeBusy:             "Node is busy",
	DefaultPartition:     "Default partition name is not allowed",
	BadJobID:             "illegally formed job identifier",
	NotAccountHolder:     "no account for the submitter",
	ScriptTooLarge:       "job script is larger than the limit of 104857600 bytes",
	ExpiredRequest:       "request id is expired or ahead of the clock",
	ReusedRequest:        "request id was already used for a different request",
	BadToken:             "enrolment token is unknown, expired or used",
	NoQuorum:             "no quorum: the replicas cannot commit now",
	UnknownResult:        "outcome unknown: the request may yet take effect",
	NoServer:             "Access from host not allowed, or unknown host",
	NoDirectory:          "the directory of users does not answer",
}

// Text returns PBS's words for the code.
func (c Code) Text() string {
	if t, ok := texts[c]; ok {
		return t
	}
	return fmt.Sprintf("error %d", uint16(c))
}

// Number returns the number that scripts know: PBS has one for a server that cannot be asked at all, and for
// a queue that is closed to a host.
func (c Code) Number() int {
	if c == NoServer {
		return int(UnknownHost)
	}
	return int(c)
}

// ExitStatus returns what a command exits with after this refusal.
func (c Code) ExitStatus() int { return c.Number() % 256 }

// An Error is a refusal: the same on every replica, final, without a trace in
// the state. Message is what the user reads.
type Error struct {
	Code    Code   `cbor:"1,keyasint"`
	Message string `cbor:"2,keyasint"`
	// Operand is which of several objects of the request it is about: 0 the first.
	Operand uint8 `cbor:"3,keyasint,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Is makes errors.Is compare refusals by code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Refuse returns a refusal with the text of the code.
func Refuse(c Code) *Error { return &Error{Code: c, Message: c.Text()} }

// Attribute returns a refusal that names the attribute it is about, in PBS's
// form: the text, a blank, the name ("Resource_List.ncpus").
func Attribute(c Code, name string) *Error {
	return &Error{Code: c, Message: c.Text() + " " + name}
}

// Errorf returns a refusal with words of its own.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// About returns the refusal that err is, said of another object of the request than the
// first, and any other error as it is.
func About(operand uint8, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	about := *e
	about.Operand = operand
	return &about
}

// CodeOf returns the code of a refusal anywhere in err's chain, SystemError for
// any other error, and 0 for nil.
func CodeOf(err error) Code {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return SystemError
}
