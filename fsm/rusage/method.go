package rusage

import (
	"fmt"

	"rampart/fsm/resreq"
)

// A Method says what an amount is asked for. The zero value is PER_JOB.
type Method uint8

// The methods.
const (
	PerJob Method = iota
	PerHost
	PerSlot
)

var methodNames = [...]string{PerJob: "PER_JOB", PerHost: "PER_HOST", PerSlot: "PER_SLOT"}

// String returns the name that bresources shows.
func (m Method) String() string {
	if int(m) >= len(methodNames) {
		return "?"
	}
	return methodNames[m]
}

// ParseMethod reads the name of a method.
func ParseMethod(name string) (Method, bool) {
	if name == "PER_TASK" {
		return PerSlot, true
	}
	for m, n := range methodNames {
		if n == name {
			return Method(m), true
		}
	}
	return 0, false
}

// Amount returns what a job with these shares holds of an instance that is for these hosts, of
// which it asks for an amount.
func (m Method) Amount(asked resreq.Amount, shares []Share, hosts map[string]bool) resreq.Amount {
	on, slots := 0, 0
	for _, s := range shares {
		if hosts[s.Host] {
			on++
			slots += max(s.Slots, 0)
		}
	}
	switch m {
	case PerHost:
		return times(asked, on)
	case PerSlot:
		return times(asked, slots)
	}
	return times(asked, min(on, 1))
}

// Methods are the rows of ReservationUsage and what holds for resources without a row.
type Methods struct {
	Rows    map[string]Method
	PerSlot bool // RESOURCE_RESERVE_PER_SLOT
}

// Of returns the method of a resource. The built-in ones have no row.
func (m Methods) Of(r resreq.Resource) Method {
	if row, ok := m.Rows[r.Name]; ok && !r.Builtin {
		return row
	}
	if m.PerSlot {
		return PerSlot
	}
	return PerJob
}

// ReadRow reads a row of ReservationUsage. The error of one that is ignored has the text that the
// check of the configuration prints.
func ReadRow(resource, method string, site resreq.Site) (Method, error) {
	r, ok := site.Resource(resource)
	if r.Builtin {
		return 0, fmt.Errorf("built-in resource %s cannot be configured in ReservationUsage; ignored", resource)
	}
	if !ok || r.Kind != resreq.Numeric || !r.Consumable {
		return 0, fmt.Errorf("resource %s in ReservationUsage is not a numeric consumable resource; ignored", resource)
	}
	m, ok := ParseMethod(method)
	if !ok {
		return 0, fmt.Errorf("unknown METHOD %s for resource %s; ignored", method, resource)
	}
	return m, nil
}
