package pbs

import "fmt"

// An RTTClass says how far the replicas of a cluster are from each other: all times that
// elections and gossip rest on are multiplied by its factor.
type RTTClass string

// The classes. Each suits round trips between replicas of up to about as many milliseconds.
const (
	RTTLan   RTTClass = "lan"   // 20
	RTTMetro RTTClass = "metro" // 50
	RTTWan   RTTClass = "wan"   // 150
)

// ParseRTTClass reads the name of a class.
func ParseRTTClass(s string) (RTTClass, error) {
	switch c := RTTClass(s); c {
	case RTTLan, RTTMetro, RTTWan:
		return c, nil
	}
	return "", fmt.Errorf("%q is no class of round-trip times: lan, metro or wan", s)
}

// Factor returns what times are multiplied by. A class that is not set is lan.
func (c RTTClass) Factor() int {
	switch c {
	case RTTMetro:
		return 2
	case RTTWan:
		return 5
	}
	return 1
}

// OrLan returns the class, lan if it is not set.
func (c RTTClass) OrLan() RTTClass {
	if c == "" {
		return RTTLan
	}
	return c
}
