package cli

import (
	"fmt"
	"strconv"
	"time"
)

// timeoutKey names the variable, and the line of pbs.conf, that says how many seconds a
// command may wait for an answer.
const timeoutKey = "PBS_TIMEOUT"

// What it may say. In less time no replica could find out that there is no leader.
const (
	shortestTimeout = 5
	longestTimeout  = 24 * 60 * 60
)

// Budget returns how long a command may wait for an answer; 0: the default.
func (t Target) Budget() (time.Duration, error) {
	if t.Timeout == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(t.Timeout)
	if err != nil || n < shortestTimeout || n > longestTimeout {
		return 0, fmt.Errorf("%s: %q is no number of seconds from %d to %d", timeoutKey, t.Timeout, shortestTimeout, longestTimeout)
	}
	return time.Duration(n) * time.Second, nil
}
