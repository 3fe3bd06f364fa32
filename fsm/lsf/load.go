package lsf

import (
	"fmt"
	"math"
)

// LoadIndices are those that every host has, in the order in which commands show them (specification: reservation section 1.2).
var LoadIndices = [...]string{"r15s", "r1m", "r15m", "ut", "pg", "io", "ls", "it", "tmp", "swp", "mem"}

// ShownLoad returns the value of a load index as commands show it.
func ShownLoad(index string, value float64) string {
	switch index {
	case "ut":
		return fmt.Sprintf("%.0f%%", value)
	case "io", "ls", "it", "ndisks":
		return fmt.Sprintf("%.0f", value)
	case "tmp", "swp", "mem", "maxtmp", "maxswp", "maxmem":
		return fmt.Sprintf("%.0fM", math.Floor(value))
	}
	return fmt.Sprintf("%.1f", value)
}
