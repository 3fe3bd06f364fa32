package lsf

import (
	"cmp"
	"slices"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/rusage"
)

// A Config is what a site has set in the files of LSF, beside what the attributes of the server, of queues and of
// vnodes say (specification: reservation section 8). Once in the state it is not written to. Its methods
// give the defaults of the specification for what is not set.
type Config struct {
	SleepTime       int64  `cbor:"1,keyasint,omitempty"` // MBD_SLEEP_TIME, seconds; 0: not set
	AcceptInterval  int64  `cbor:"2,keyasint,omitempty"` // JOB_ACCEPT_INTERVAL, in dispatch turns
	PerSlot         bool   `cbor:"3,keyasint,omitempty"` // RESOURCE_RESERVE_PER_SLOT
	AbsRunlimit     bool   `cbor:"4,keyasint,omitempty"` // ABS_RUNLIMIT
	HostSpec        string `cbor:"5,keyasint,omitempty"` // DEFAULT_HOST_SPEC
	TimeReserveJobs int64  `cbor:"6,keyasint,omitempty"` // LSB_TIME_RESERVE_NUMJOBS; 0: slots are reserved greedily only
	Strict          bool   `cbor:"7,keyasint,omitempty"` // LSF_STRICT_RESREQ

	Modules      []string      `cbor:"8,keyasint,omitempty"` // of the scheduler, in their order
	Usage        []UsageRow    `cbor:"9,keyasint,omitempty"` // ReservationUsage
	Limits       []Limit       `cbor:"10,keyasint,omitempty"`
	Applications []Application `cbor:"11,keyasint,omitempty"`
	Hosts        []Host        `cbor:"12,keyasint,omitempty"`
	UnitTypes    []string      `cbor:"13,keyasint,omitempty"` // COMPUTE_UNIT_TYPES, the smallest first
	Units        []Unit        `cbor:"14,keyasint,omitempty"`
	Resources    []Resource    `cbor:"15,keyasint,omitempty"`
	Instances    []Instance    `cbor:"16,keyasint,omitempty"` // ResourceMap

	DefaultApplication string `cbor:"17,keyasint,omitempty"` // DEFAULT_APPLICATION

	HostGroups []HostGroup `cbor:"18,keyasint,omitempty"`

	PagingIdle *int64 `cbor:"19,keyasint,omitempty"` // PG_SUSP_IT, seconds; nil: not set
}

// A UsageRow says what an amount of a resource is asked for.
type UsageRow struct {
	Resource string        `cbor:"1,keyasint"`
	Method   rusage.Method `cbor:"2,keyasint,omitempty"`
}

// A Limit is a section Limit of lsb.resources. Without consumers it is for the whole cluster.
type Limit struct {
	Name       string       `cbor:"1,keyasint,omitempty"`
	Users      Consumers    `cbor:"2,keyasint,omitempty"`
	Queues     Consumers    `cbor:"3,keyasint,omitempty"`
	Hosts      Consumers    `cbor:"4,keyasint,omitempty"`
	Projects   Consumers    `cbor:"5,keyasint,omitempty"`
	Quantities []Quantity   `cbor:"6,keyasint,omitempty"` // of resources, MEM, SWP and TMP among them
	Slots      *int64       `cbor:"7,keyasint,omitempty"` // nil: no limit
	PerCPU     *Thousandths `cbor:"8,keyasint,omitempty"` // SLOTS_PER_PROCESSOR; nil: no limit
}

// Thousandths is a number with three decimals.
type Thousandths int64

// Consumers says whose use a limit counts: the use of all of them together, or of each separately.
type Consumers struct {
	Names []string `cbor:"1,keyasint,omitempty"` // "all" and "~name" among them; none: it does not matter who
	Each  bool     `cbor:"2,keyasint,omitempty"`
}

// Counts reports whether the use of somebody counts. A user of one of the groups is counted as a member, unless excluded.
func (c Consumers) Counts(name string, groups ...string) bool {
	if len(c.Names) == 0 {
		return true
	}
	member, all, excluded := false, false, false
	for _, n := range c.Names {
		switch {
		case n == "all":
			all = true
		case strings.HasPrefix(n, "~"):
			excluded = excluded || n[1:] == name || slices.Contains(groups, n[1:])
		default:
			member = member || n == name || slices.Contains(groups, n)
		}
	}
	return (member || all) && !excluded
}

// A Quantity is an amount of a resource.
type Quantity struct {
	Resource string        `cbor:"1,keyasint"`
	Amount   resreq.Amount `cbor:"2,keyasint,omitempty"`
}

// An Application is a profile of lsb.applications. Times are in seconds, 0: not set.
type Application struct {
	Name        string `cbor:"1,keyasint"`
	Requirement string `cbor:"2,keyasint,omitempty"` // RES_REQ
	Runtime     int64  `cbor:"3,keyasint,omitempty"` // RUNTIME: an estimate
	RunDefault  int64  `cbor:"4,keyasint,omitempty"` // RUNLIMIT: the first of two
	RunMax      int64  `cbor:"5,keyasint,omitempty"`
	CPULimit    int64  `cbor:"6,keyasint,omitempty"`
	Description string `cbor:"7,keyasint,omitempty"`
}

// AllHosts stands for all hosts, or for all users and whatever else a limit counts.
const AllHosts = "all"

// DefaultHost is the name of the row of lsb.hosts that stands for all hosts without one.
const DefaultHost = "default"

// A Host is what lsb.hosts and lsf.cluster say of a host.
type Host struct {
	Name       string      `cbor:"1,keyasint"`
	Slots      *int64      `cbor:"2,keyasint,omitempty"` // MXJ; nil: the cpus of the host
	UserSlots  *int64      `cbor:"3,keyasint,omitempty"` // JL/U; nil: no limit
	Thresholds []Threshold `cbor:"4,keyasint,omitempty"`
	Listed     bool        `cbor:"5,keyasint,omitempty"` // it has a row in lsb.hosts: the one for all others says nothing of it
	Model      string      `cbor:"6,keyasint,omitempty"`
	Type       string      `cbor:"7,keyasint,omitempty"`
	Factor     Thousandths `cbor:"8,keyasint,omitempty"` // of its cpu; 0: 1.0
	Has        []string    `cbor:"9,keyasint,omitempty"` // RESOURCES: boolean ones
}

// A Threshold keeps jobs from starting on a host, or suspends those that run, by a load index.
type Threshold struct {
	Index string         `cbor:"1,keyasint"`
	Start *resreq.Amount `cbor:"2,keyasint,omitempty"` // loadSched
	Stop  *resreq.Amount `cbor:"3,keyasint,omitempty"` // loadStop
}

// String writes the threshold as it stands in lsb.queues, its index first: mem=100/20.
func (t Threshold) String() string {
	bound := func(a *resreq.Amount) string {
		if a == nil {
			return ""
		}
		return a.Print(t.Index)
	}
	text := t.Index + "=" + bound(t.Start)
	if t.Stop != nil {
		text += "/" + bound(t.Stop)
	}
	return text
}

// A Unit is a compute unit.
type Unit struct {
	Name    string   `cbor:"1,keyasint"`
	Type    string   `cbor:"2,keyasint"`
	Members []string `cbor:"3,keyasint,omitempty"` // hosts, or units of the type below
}

// A Resource is one that lsf.shared defines.
type Resource struct {
	Name        string      `cbor:"1,keyasint"`
	Kind        resreq.Kind `cbor:"2,keyasint"`
	Interval    int64       `cbor:"3,keyasint,omitempty"` // seconds between reports; 0: it is static
	Increasing  bool        `cbor:"4,keyasint,omitempty"`
	Consumable  bool        `cbor:"5,keyasint,omitempty"`
	Kept        bool        `cbor:"6,keyasint,omitempty"` // RELEASE is N: suspended jobs keep it
	Description string      `cbor:"7,keyasint,omitempty"`
}

// An Instance is a bracketed group of ResourceMap.
type Instance struct {
	Resource string   `cbor:"1,keyasint"`
	Value    string   `cbor:"2,keyasint,omitempty"` // empty: reported
	Hosts    []string `cbor:"3,keyasint"`           // "all", "others", "default" and "~host" among them
}

// standardModules are the modules of a site that has configured nothing, as the file lists them that is installed by default.
var standardModules = []string{ModuleDefault, ModuleParallel, ModuleReserve, ModulePreemption}

// The modules of the scheduler that mean something here.
const (
	ModuleDefault    = "schmod_default"
	ModuleParallel   = "schmod_parallel"
	ModuleReserve    = "schmod_reserve"
	ModulePreemption = "schmod_preemption"
)

// Unconfigured returns what holds before anybody has configured anything.
func Unconfigured() *Config { return &Config{Modules: slices.Clone(standardModules)} }

// defaultSleepTime is MBD_SLEEP_TIME when it is not set.
const defaultSleepTime = 30

// Turn returns the seconds between two dispatch turns.
func (c *Config) Turn() int64 { return cmp.Or(c.SleepTime, defaultSleepTime) }

// defaultPagingIdle is PG_SUSP_IT where it is not set, in seconds.
const defaultPagingIdle = 180

// PagingCounts is for how many seconds since somebody has typed on a host its paging suspends jobs, and keeps those that it has suspended.
func (c *Config) PagingCounts() int64 {
	if c.PagingIdle == nil {
		return defaultPagingIdle
	}
	return *c.PagingIdle
}

// Has reports whether the scheduler has a module.
func (c *Config) Has(module string) bool { return slices.Contains(c.Modules, module) }

// ReservesParallel reports whether parallel jobs may reserve memory, and slots with it: the module that reserves slots stands before
// the one that reserves memory.
func (c *Config) ReservesParallel() bool {
	parallel := slices.Index(c.Modules, ModuleParallel)
	return parallel >= 0 && parallel < slices.Index(c.Modules, ModuleReserve)
}

// Methods returns how amounts are reserved.
func (c *Config) Methods() rusage.Methods {
	m := rusage.Methods{PerSlot: c.PerSlot, Rows: make(map[string]rusage.Method, len(c.Usage))}
	for _, row := range c.Usage {
		m.Rows[row.Resource] = row.Method
	}
	return m
}

// Rules returns how amounts are reserved and how long.
func (c *Config) Rules() rusage.Rules {
	r := rusage.Rules{Methods: c.Methods(), Limited: map[string]bool{}}
	for _, l := range c.Limits {
		for _, q := range l.Quantities {
			r.Limited[q.Resource] = true
		}
	}
	return r
}

// Application returns a profile.
func (c *Config) Application(name string) (Application, bool) {
	i := slices.IndexFunc(c.Applications, func(a Application) bool { return a.Name == name })
	if i < 0 {
		return Application{}, false
	}
	return c.Applications[i], true
}

// Resources returns what an application says of the resources of its jobs, nil if that is nothing, or names one that is there no more.
func (a Application) Resources(site resreq.Site) *resreq.Requirement {
	if r, err := resreq.Parse(a.Requirement, site); err == nil && a.Requirement != "" {
		return &r
	}
	return nil
}

// Host returns what is said of a host: of slots and thresholds, if it has no row in lsb.hosts, by the row for all that have none.
func (c *Config) Host(name string) Host {
	row := func(name string) Host {
		if i := slices.IndexFunc(c.Hosts, func(h Host) bool { return h.Name == name }); i >= 0 {
			return c.Hosts[i]
		}
		return Host{Name: name}
	}
	h := row(name)
	if !h.Listed {
		all := row(DefaultHost)
		h.Slots, h.UserSlots, h.Thresholds = all.Slots, all.UserSlots, all.Thresholds
	}
	return h
}

// Factor returns the factor of a host's cpu, in thousandths.
func (c *Config) Factor(host string) Thousandths { return cmp.Or(c.Host(host).Factor, 1000) }

// Resource returns a resource of lsf.shared.
func (c *Config) Resource(name string) (Resource, bool) {
	i := slices.IndexFunc(c.Resources, func(r Resource) bool { return r.Name == name })
	if i < 0 {
		return Resource{}, false
	}
	return c.Resources[i], true
}

// Site returns what requirements may name: the resources that are defined, with what lsf.shared says of them.
func (c *Config) Site(defs []resource.Def) resreq.Site {
	site := SiteOf(defs)
	site.Strict, site.UnitTypes = c.Strict, c.UnitTypes
	for _, r := range c.Resources {
		if known, ok := site.Resources[r.Name]; ok && known.Kind == r.Kind {
			known.Increasing, known.Dynamic, known.Consumable = r.Increasing, r.Interval > 0, r.Consumable
			site.Resources[r.Name] = known
		}
	}
	return site
}
