package service

import (
	"strconv"
	"strings"

	"rampart/fsm/pbs"
)

// signals are the names that qsig takes; the mom knows their numbers.
const signals = " NULL HUP INT QUIT ILL TRAP ABRT IOT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CLD" +
	" CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO POLL PWR SYS "

// maxSignal is the last of Linux's real-time signals.
const maxSignal = 64

// parseSignal returns a signal's name without SIG, or its number; none is TERM.
func parseSignal(text string) (string, error) {
	if text == "" {
		return "TERM", nil
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n <= maxSignal {
		return strconv.Itoa(n), nil
	}
	name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
	if name == "" || strings.ContainsRune(name, ' ') || !strings.Contains(signals, " "+name+" ") {
		return "", pbs.Refuse(pbs.BadSignal)
	}
	return name, nil
}
