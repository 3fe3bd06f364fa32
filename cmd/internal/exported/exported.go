// Package exported compares the metrics that a process exports with those that documents
// and alert rules speak of: a name that does not exist is an alarm that never rings. It is
// for tests; it holds nothing and starts nothing.
package exported

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	described = regexp.MustCompile(`fqName: "(rampart_[a-z0-9_]+)"`)
	mentioned = regexp.MustCompile(`\brampart_[a-z0-9_]+\b`)
)

// By returns the names of ours that the registry describes, sorted, whether there are
// figures for them by now or not.
func By(reg *prometheus.Registry) []string {
	descs := make(chan *prometheus.Desc)
	go func() {
		defer close(descs)
		reg.Describe(descs)
	}()
	var names []string
	for d := range descs {
		if m := described.FindStringSubmatch(d.String()); m != nil {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// In returns the names that a file mentions, sorted. Those of the series of a histogram
// stand for the histogram.
func In(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the names of metrics: %w", err)
	}
	var names []string
	for _, name := range mentioned.FindAllString(string(text), -1) {
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			name = strings.TrimSuffix(name, suffix)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Missing returns the names that are not among those there are.
func Missing(names, there []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(there, n) })
}
