package spec

import (
	"strconv"
	"strings"

	"rampart/fsm/pbs"
)

// An ExecHost tells on which hosts a job runs, one entry for each chunk.
type ExecHost []HostSlot

// A HostSlot is one chunk on a host: the number of the slot at the mom, and the
// cpus.
type HostSlot struct {
	Host string
	Slot int
	CPUs int
}

// ParseExecHost reads "hosta/0*2+hostb/0"; without a star it is one cpu.
func ParseExecHost(text string) (ExecHost, error) {
	if len(text) > maxText {
		return nil, malformedExecHost()
	}
	return readExecHost(text)
}

func readExecHost(text string) (ExecHost, error) {
	e := make(ExecHost, 0, min(strings.Count(text, "+")+1, maxChunks))
	for part := range strings.SplitSeq(text, "+") {
		host, slot, ok := strings.Cut(part, "/")
		if !ok || !validWord(host) || len(e) >= maxChunks {
			return nil, malformedExecHost()
		}
		slot, cpus, starred := strings.Cut(slot, "*")
		h := HostSlot{Host: host, CPUs: 1}
		if h.Slot, ok = parseNumber(slot); !ok {
			return nil, malformedExecHost()
		}
		if starred {
			if h.CPUs, ok = parseNumber(cpus); !ok {
				return nil, malformedExecHost()
			}
		}
		e = append(e, h)
	}
	return e, nil
}

func parseNumber(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 31)
	return int(n), err == nil
}

func malformedExecHost() error { return pbs.Attribute(pbs.BadAttributeValue, "exec_host") }

// String prints the exec_host.
func (e ExecHost) String() string {
	var b strings.Builder
	size := 0
	for _, h := range e {
		size += len(h.Host) + len("+/00*000")
	}
	b.Grow(size)
	for i, h := range e {
		if i > 0 {
			b.WriteByte('+')
		}
		b.WriteString(h.Host)
		b.WriteByte('/')
		b.WriteString(strconv.Itoa(h.Slot))
		if h.CPUs != 1 {
			b.WriteByte('*')
			b.WriteString(strconv.Itoa(h.CPUs))
		}
	}
	return b.String()
}

// MarshalText prints the exec_host, which is how files have it.
func (e ExecHost) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what MarshalText has printed.
func (e *ExecHost) UnmarshalText(text []byte) (err error) {
	if *e = nil; len(text) > 0 {
		*e, err = readExecHost(string(text))
	}
	return err
}
