package cgroup

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Settings are what the servers say of the built-in hook pbs_cgroups.
type Settings struct {
	Enabled bool
	Events  []string // at which the hook is to act
	Config  []byte   // its configuration file, JSON; empty: the defaults
}

// config is the configuration file (specification: cli-contract section 9). Names that are not
// here are passed over: files of PBS have more.
type config struct {
	Prefix           string      `json:"cgroup_prefix"`
	ExcludeHosts     []string    `json:"exclude_hosts"`
	RunOnlyOnHosts   []string    `json:"run_only_on_hosts"`
	VnodePerNUMANode bool        `json:"vnode_per_numa_node"`
	OnlineOfflined   bool        `json:"online_offlined_nodes"`
	Cgroup           controllers `json:"cgroup"`
}

type controllers struct {
	Cpuset  cpusetConfig  `json:"cpuset"`
	Memory  memoryConfig  `json:"memory"`
	Memsw   memoryConfig  `json:"memsw"`
	Cpuacct controller    `json:"cpuacct"`
	Devices devicesConfig `json:"devices"`
	Hugetlb memoryConfig  `json:"hugetlb"`
}

type controller struct {
	Enabled      bool     `json:"enabled"`
	ExcludeHosts []string `json:"exclude_hosts"`
}

type cpusetConfig struct {
	controller
	ExcludeCPUs []int `json:"exclude_cpus"`
	MemFences   bool  `json:"mem_fences"` // memory of the cpus' NUMA nodes only
}

type memoryConfig struct {
	controller
	Default        size  `json:"default"` // of a job that asks for none; 0: no limit
	ReserveAmount  size  `json:"reserve_amount"`
	ReservePercent int64 `json:"reserve_percent"`
	SoftLimit      bool  `json:"soft_limit"`
}

type devicesConfig struct {
	controller
	Allow []json.RawMessage `json:"allow"` // "c *:* rwm", or ["nvidiactl", "rwm"]
}

// size is an amount of memory in bytes, written as PBS does ("256MB") or as a number.
type size int64

// UnmarshalJSON implements json.Unmarshaler.
func (s *size) UnmarshalJSON(text []byte) error {
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		word = string(text)
	}
	q, err := resource.Parse(resource.Size, strings.ToLower(word))
	if err != nil {
		return fmt.Errorf("size %s: %w", text, err)
	}
	if q.Int() > math.MaxInt64/1024 {
		return fmt.Errorf("size %s: more bytes than can be counted", text)
	}
	*s = size(q.Int() * 1024)
	return nil
}

// defaults returns the settings of a hook without a configuration file.
func defaults() config {
	on := controller{Enabled: true}
	return config{
		Prefix: "pbs_jobs",
		Cgroup: controllers{Cpuset: cpusetConfig{controller: on}, Memory: memoryConfig{controller: on}, Cpuacct: on, Devices: devicesConfig{controller: on}},
	}
}

// parse reads a configuration file. Where it has a part "cgroup", controllers that it does not
// name are off.
func parse(text []byte) (config, error) {
	c := defaults()
	if len(strings.TrimSpace(string(text))) == 0 {
		return c, nil
	}
	var named struct {
		Cgroup json.RawMessage `json:"cgroup"`
	}
	if err := json.Unmarshal(text, &named); err != nil {
		return c, fmt.Errorf("configuration of pbs_cgroups: %w", err)
	}
	if named.Cgroup != nil {
		c.Cgroup = controllers{}
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("configuration of pbs_cgroups: %w", err)
	}
	if c.Prefix == "" || c.Prefix[0] == '.' || strings.ContainsAny(c.Prefix, "/\n") {
		return c, fmt.Errorf("configuration of pbs_cgroups: cgroup_prefix %q is no name of a folder", c.Prefix)
	}
	for i, raw := range c.Cgroup.Devices.Allow {
		if _, err := parseDevice(raw, noNumbers); err != nil {
			return c, fmt.Errorf("configuration of pbs_cgroups: devices.allow, entry %d: %w", i+1, err)
		}
	}
	return c, nil
}

// applies reports whether the host is one of those where the hook acts.
func (c *config) applies(host string) bool {
	return !pbs.AnyHost(c.ExcludeHosts, host) && (len(c.RunOnlyOnHosts) == 0 || pbs.AnyHost(c.RunOnlyOnHosts, host))
}

// on reports whether a controller is to be used at the host.
func (c *controller) on(host string) bool { return c.Enabled && !pbs.AnyHost(c.ExcludeHosts, host) }

// reserved returns how much of a host's memory jobs do not get, in bytes.
func (m *memoryConfig) reserved(total int64) int64 {
	return min(total, min(total, int64(m.ReserveAmount))+total/100*min(max(m.ReservePercent, 0), 100))
}
