package hook

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Hook is what a host knows of a hook. It is part of a file format: see Manifest.
type Hook struct {
	Name   string            `json:"name"`
	Seq    uint64            `json:"seq"` // order of creation
	Attrs  map[string]string `json:"attrs"`
	Script string            `json:"script,omitempty"` // SHA-256 of the content, hexadecimal; empty: there is none
	Config string            `json:"config,omitempty"`
}

// Events returns the names of the events at which the hook runs.
func (h *Hook) Events() []string {
	if text := h.Attrs["event"]; text != "" && text != `""` {
		return strings.Split(text, ",")
	}
	return nil
}

// Runs reports whether the hook runs at the event.
func (h *Hook) Runs(event string) bool {
	return h.Attrs["enabled"] == "true" && h.Script != "" && slices.Contains(h.Events(), event)
}

// Seconds returns an attribute that is a number of seconds.
func (h *Hook) Seconds(name string) time.Duration {
	n, _ := strconv.ParseInt(h.Attrs[name], 10, 64)
	return time.Duration(n) * time.Second
}

// Order returns the hook's place among those of an event.
func (h *Hook) Order() int64 {
	n, _ := strconv.ParseInt(h.Attrs["order"], 10, 64)
	return n
}

// Fails reports whether a failure of the hook has the consequence.
func (h *Hook) Fails(action string) bool {
	return slices.Contains(strings.Split(h.Attrs["fail_action"], ","), action)
}

// Builtin reports whether the work of the hook is done by the host itself.
func (h *Hook) Builtin() bool { return h.Attrs["type"] == "pbs" }
