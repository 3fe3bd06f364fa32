package dropin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rampart/fsm/attr"
)

// settings are PBS's names in sched_config with their defaults, which need no word when
// Rampart has nothing of the kind. Those that are attributes of the scheduler are the file's:
// what it does not say is not set.
var settings = map[string]string{
	"backfill": "true", "backfill_prime": "false", "by_queue": "true",
	"cpus_per_ssinode": "", "dedicated_prefix": "ded", "fair_share": "false", "fairshare_decay_factor": "0.5",
	"fairshare_decay_time": "24:00:00", "fairshare_enforce_no_shares": "true", "fairshare_entity": "euser",
	"fairshare_usage_res": "cput", "half_life": "24:00:00", "help_starving_jobs": "true", "job_sort_key": "",
	"load_balancing": "false", "max_starve": "24:00:00", "mem_per_ssinode": "", "mom_resources": "",
	"node_sort_key": "sort_priority HIGH", "nonprimetime_prefix": "np_", "peer_queue": "", "preemptive_sched": "true",
	"prime_exempt_anytime_queues": "false", "prime_spill": "", "primetime_prefix": "p_",
	"provision_policy": "aggressive_provision", "resource_unset_infinite": "", "resources": "",
	"round_robin": "false", "server_dyn_res": "", "smp_cluster_dist": "pack", "sort_by": "", "sort_queues": "true",
	"strict_fifo": "false", "strict_ordering": "false", "sync_time": "1:00:00", "unknown_shares": "10",
}

// former are names of the file that have others by now.
var former = map[string]string{"half_life": "fairshare_decay_time", "strict_fifo": "strict_ordering"}

// moved are names that older versions of PBS had in the file, and that are attributes since.
var moved = map[string]string{
	"backfill_depth": "server", "log_filter": "sched", "preempt_order": "sched", "preempt_prio": "sched", "preempt_queue_prio": "sched",
	"preempt_sort": "sched",
}

// A schedConfig is what a sched_config says: values by name, those of several lines with
// commas between them; and what is wrong with it.
type schedConfig struct {
	values     map[string]string
	faults     []string
	passedOver []string // lines of holidays that do not count
}

// goodHolidays returns the lines of a file holidays that can be read, and what is wrong with the others, in
// PBS's words.
func goodHolidays(text string) (good string, faults []string) {
	def, _ := attr.Lookup(attr.Sched, holidaysFile)
	for i, line := range strings.Split(text, "\n") {
		value := sayings(line)
		if value == "" {
			continue
		}
		if _, err := def.Parse(value); err != nil {
			faults = append(faults, fmt.Sprintf("Error on line %d, line started with: %s", i+1, strings.Fields(value)[0]))
			continue
		}
		good += line + "\n"
	}
	return good, faults
}

// parseSchedConfig reads lines of the form NAME: VALUE [prime|non_prime|all]. What holds in
// prime time alone has names of its own.
func parseSchedConfig(text string) schedConfig {
	c := schedConfig{values: map[string]string{}}
	prime := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, rest, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if !ok || strings.ContainsAny(name, " \t") {
			c.faults = append(c.faults, fmt.Sprintf("line %d: want NAME: VALUE", i+1))
			continue
		}
		if object, old := moved[name]; old {
			c.faults = append(c.faults, fmt.Sprintf("line %d: %s is set with qmgr, at the %s", i+1, name, object))
			continue
		}
		if _, known := settings[name]; !known {
			c.faults = append(c.faults, fmt.Sprintf("line %d: %s is no setting of the scheduler", i+1, name))
			continue
		}
		name = cmp.Or(former[name], name)
		value, when := splitPrime(strings.TrimSpace(rest))
		if _, turns := attr.Lookup(attr.Sched, attr.PrimeTime+name); !turns {
			if when == "prime" {
				c.faults = append(c.faults, fmt.Sprintf("line %d: %s in prime time only: the setting holds at all times, so the line has no effect", i+1, name))
				continue
			}
			when = "non_prime"
		}
		if when != "prime" {
			more(c.values, name, value)
		}
		if when != "non_prime" {
			more(prime, name, value)
		}
	}
	c.turn(prime)
	return c
}

// more adds what one line says to what others have said.
func more(values map[string]string, name, value string) {
	if values[name] != "" && value != "" {
		value = values[name] + ", " + value
	}
	values[name] = value
}

// turn adds what holds in prime time where that is something else than out of it. What is said of
// one time only is as PBS has it by default at the other.
func (c *schedConfig) turn(prime map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		def, turns := attr.Lookup(attr.Sched, attr.PrimeTime+name)
		value, said := c.values[name]
		other, otherSaid := prime[name]
		if !turns || !said && !otherSaid {
			continue
		}
		value, other = cmp.Or(value, settings[name]), cmp.Or(other, settings[name])
		if is, err := def.Parse(value); err == nil {
			if in, err := def.Parse(other); err == nil && in == is {
				continue
			}
		}
		if other == "" {
			c.faults = append(c.faults, fmt.Sprintf("%s out of prime time only: it holds at all times, for there is nothing to hold in prime time", name))
			continue
		}
		c.values[attr.PrimeTime+name] = other
	}
}

// splitPrime takes the word about prime time off a value, and the quotes.
func splitPrime(text string) (value, when string) {
	if strings.HasPrefix(text, `"`) {
		if value, rest, ok := strings.Cut(text[1:], `"`); ok {
			return strings.TrimSpace(value), strings.ToLower(strings.TrimSpace(rest))
		}
	}
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	i := strings.LastIndexAny(text, " \t")
	last := strings.ToLower(text[i+1:])
	if slices.Contains([]string{"prime", "non_prime", "all", "none"}, last) {
		return strings.TrimSpace(text[:i+1]), last
	}
	return text, ""
}
