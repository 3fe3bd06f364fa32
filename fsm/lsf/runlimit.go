package lsf

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
)

// The attributes of a job whose run limit counts by the speed of hosts (specification: reservation section 6.2).
const (
	JobReference = "lsf_host_spec" // the host or model on whose cpu its limit is said
	JobRunLimit  = "lsf_run_limit" // of a run: the limit as it was said, where its hosts have made another one of it
)

// evenFactor is the factor of a cpu of which nobody says anything.
const evenFactor Thousandths = 1000

// Uneven reports whether hosts may differ in the factors of their cpus.
func (c *Config) Uneven() bool {
	for i := range c.Hosts {
		if f := c.Hosts[i].Factor; f != 0 && f != evenFactor {
			return true
		}
	}
	return false
}

// SpecFactor returns the factor of a host, or else of the hosts of a model, in thousandths; known is false of one that no file names, which
// is taken for a host like most.
func (c *Config) SpecFactor(spec string) (factor Thousandths, known bool) {
	factor = evenFactor
	for i := range c.Hosts {
		switch h := &c.Hosts[i]; {
		case h.Name == spec && spec != DefaultHost:
			return cmp.Or(h.Factor, evenFactor), true
		case h.Model == spec && spec != "" && !known:
			factor, known = cmp.Or(h.Factor, evenFactor), true
		}
	}
	return factor, known
}

// Slowest returns the lowest factor of some hosts, in thousandths.
func (c *Config) Slowest(hosts iter.Seq[string]) Thousandths {
	named := map[string]bool{}
	for name := range hosts {
		named[name] = true
	}
	least := Thousandths(math.MaxInt64)
	for i := range c.Hosts {
		if h := &c.Hosts[i]; named[h.Name] {
			least = min(least, cmp.Or(h.Factor, evenFactor))
			delete(named, h.Name)
		}
	}
	if len(named) > 0 || least == math.MaxInt64 {
		least = min(least, evenFactor)
	}
	return least
}

// Reference returns the host, or model, by which run limits count that name none: DEFAULT_HOST_SPEC, else of the hosts that are there the
// one with the largest factor, of several the first. Others are those of which no file says a factor.
func (c *Config) Reference(there func(host string) bool, others iter.Seq[string]) string {
	if c.HostSpec != "" {
		return c.HostSpec
	}
	best, most := "", Thousandths(0)
	for i := range c.Hosts {
		if h := &c.Hosts[i]; h.Factor > most && there(h.Name) {
			best, most = h.Name, h.Factor
		}
	}
	if most < evenFactor || best == "" {
		for name := range others {
			if c.Host(name).Factor == 0 {
				return name
			}
		}
	}
	return best
}

// Scaled returns for how many seconds a job may run on hosts of which the slowest has a factor, by a limit that is said for another factor: a
// part of a second counts as one.
func Scaled(seconds int64, reference, slowest Thousandths) int64 {
	if seconds <= 0 || reference <= 0 || slowest <= 0 || reference == slowest {
		return seconds
	}
	high, low := bits.Mul64(uint64(seconds), uint64(reference))
	if high >= uint64(slowest) {
		return math.MaxInt64
	}
	whole, rest := bits.Div64(high, low, uint64(slowest))
	if rest > 0 {
		whole++
	}
	return int64(min(whole, math.MaxInt64))
}
