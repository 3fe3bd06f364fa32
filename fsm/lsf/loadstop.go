package lsf

import "strings"

// A job that is suspended by load says so in its comment, from which the commands of LSF read it (specification: reservation section 9.7).
const (
	loadCommentBegin = "Suspended by the load of "
	loadCommentThen  = ", which is beyond loadStop: "
	loadCommentCond  = ", where STOP_COND of its queue holds"
)

// StopCondition stands in the place of indices where none is beyond loadStop, but STOP_COND of the job's queue holds.
const StopCondition = "STOP_COND"

// ByCondition reports whether indices say that STOP_COND has suspended a job.
func ByCondition(indices []string) bool { return len(indices) == 1 && indices[0] == StopCondition }

// LoadComment returns the comment of a job that is suspended since indices of a host are beyond loadStop, or STOP_COND of its queue holds there.
func LoadComment(host string, indices []string) string {
	if ByCondition(indices) {
		return loadCommentBegin + host + loadCommentCond
	}
	return loadCommentBegin + host + loadCommentThen + strings.Join(indices, ", ")
}

// ReadLoadComment returns what LoadComment was made of; false: the comment says something else.
func ReadLoadComment(comment string) (host string, indices []string, ok bool) {
	rest, ok := strings.CutPrefix(comment, loadCommentBegin)
	if !ok {
		return "", nil, false
	}
	if host, ok = strings.CutSuffix(rest, loadCommentCond); ok && host != "" {
		return host, []string{StopCondition}, true
	}
	host, words, ok := strings.Cut(rest, loadCommentThen)
	if !ok || host == "" || words == "" {
		return "", nil, false
	}
	return host, strings.Split(words, ", "), true
}

// Why jobs are suspended that are not so by load.
const (
	ReasonSuspended = "The job was suspended by the user;"
	ReasonResumed   = "Waiting for re-scheduling after being resumed by user;"
	ReasonRoom      = "The job waits for what it gave back while it was suspended;"
	reasonCondition = "STOP_COND is true with current host load;"
)

// stopWords are what LSF calls load indices where it says why a job is suspended.
var stopWords = map[string]string{
	"r15s": "15-second CPU queue length", "r1m": "1-minute CPU queue length", "r15m": "15-minute CPU queue length", "ut": "CPU utilization",
	"pg": "Paging rate", "io": "Disk I/O rate", "ls": "Number of login sessions", "it": "Idle time",
	"tmp": "Available /tmp space", "swp": "Available swap space", "mem": "Available memory",
}

// ReasonStopped returns why a job is suspended that is so by load.
func ReasonStopped(indices []string) string {
	if ByCondition(indices) {
		return reasonCondition
	}
	text := "The host load exceeded the following threshold(s):"
	for _, index := range indices {
		word, known := stopWords[index]
		if !known {
			word = "External load index"
		}
		text += " " + word + ": " + index + ";"
	}
	return text
}
