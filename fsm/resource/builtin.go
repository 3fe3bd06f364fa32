package resource

import (
	"slices"
	"strings"
)

const (
	hostAll = AtHost | PerVnode | PerQueue | ToMoms // what moms watch and everybody counts
	hostN   = AtHost | PerVnode
	index   = AtHost | PerVnode // of load that rises with what runs
)

// builtin is PBS's table of resources, sorted by name.
var builtin = [...]Def{
	{"accelerator", Boolean, AtHost, true},
	{"accelerator_memory", Size, hostN, true},
	{"accelerator_model", String, AtHost, true},
	{"aoe", StringArray, AtHost, true},
	{"arch", String, AtHost, true},
	{"cpupercent", Long, ReadOnly, true},
	{"cput", Time, ToMoms, true},
	{"energy", Float, ReadOnly, true},
	{"eoe", StringArray, AtHost, true},
	{"file", Size, ToMoms, true},
	{"hbmem", Size, hostN, true},
	{"host", String, AtHost, true},
	{"io", Float, index, true},
	{"ls", Float, index, true},
	{"max_walltime", Time, 0, true},
	{"mem", Size, hostAll, true},
	{"min_walltime", Time, 0, true},
	{"mpiprocs", Long, AtHost | PerQueue, true},
	{"naccelerators", Long, hostN, true},
	{"ncpus", Long, hostAll, true},
	{"ngpus", Long, hostN, true},
	{"nice", Long, ToMoms, true},
	{"nodect", Long, PerQueue | ReadOnly, true},
	{"nodes", String, 0, true},
	{"ompthreads", Long, AtHost, true},
	{"pcput", Time, ToMoms, true},
	{"pg", Float, index, true},
	{"place", String, 0, true},
	{"pmem", Size, ToMoms, true},
	{"preempt_targets", StringArray, 0, true},
	{"pvmem", Size, ToMoms, true},
	{"r15m", Float, index, true},
	{"r15s", Float, index, true},
	{"r1m", Float, index, true},
	{"select", String, 0, true},
	{"select_reliable_startup", String, 0, true},
	{"select_requested", String, ReadOnly, true},
	{"site", String, 0, true},
	{"soft_walltime", Time, ReadOnly, true},
	{"software", String, 0, true},
	{"swp", Size, AtHost | PerVnode | PerQueue, true},
	{"tmp", Size, AtHost | PerVnode | PerQueue, true},
	{"ut", Float, index, true},
	{"vmem", Size, hostAll, true},
	{"vnode", String, AtHost, true},
	{"vntype", StringArray, AtHost, true},
	{"walltime", Time, ToMoms, true},
}

// Creatable reports whether a site may define a built-in resource as if it was its own. PBS has no ngpus, and
// each guide to GPUs says to create it; swp, tmp and the indices of load are LSF's.
func Creatable(name string) bool {
	return name == "ngpus" || name == "swp" || name == "tmp" || isIndex(name)
}

// isIndex reports whether the resource is an index of load that rises with what runs (specification: reservation section 1.2).
func isIndex(name string) bool {
	return slices.Contains([]string{"io", "ls", "pg", "r15m", "r15s", "r1m", "ut"}, name)
}

// MostRaised bounds by how much one job may raise the load of a kind: more than that is no load, and less than what the scheduler can
// count (specification: reservation section 1.4).
const MostRaised = 100_000_000

// Raises reports whether what jobs have of the resource is added to the load of their hosts: any amount of it fits (specification:
// reservation section 1.4).
func (d Def) Raises() bool { return d.Builtin && isIndex(d.Name) }

// Builtin returns the definitions that every server has, sorted by name.
func Builtin() []Def { return slices.Clone(builtin[:]) }

// Builtins is the table of the built-in definitions alone.
type Builtins struct{}

// Resource returns the built-in definition with the name.
func (Builtins) Resource(name string) (Def, bool) { return Lookup(name) }

// Lookup returns the built-in definition with the name.
func Lookup(name string) (Def, bool) {
	i, ok := slices.BinarySearchFunc(builtin[:], name, func(d Def, name string) int {
		return strings.Compare(d.Name, name)
	})
	if !ok {
		return Def{}, false
	}
	return builtin[i], true
}

// AssignedToVnodes returns the built-in resources whose assignment a vnode shows
// even when it is nothing.
func AssignedToVnodes() []Item {
	return []Item{
		{"accelerator_memory", "0kb"},
		{"hbmem", "0kb"},
		{"mem", "0kb"},
		{"naccelerators", "0"},
		{"ncpus", "0"},
		{"vmem", "0kb"},
	}
}
