// Package build says which build of Rampart a process is: a semantic version that comes from
// the tag or the commit. What scripts of PBS read is another thing, the version of PBS that
// Rampart stands in for (pbs.Version). The package owns no state that changes.
package build

import (
	"runtime/debug"
	"strings"
)

// version is set by make: -ldflags "-X rampart/transport/build.version=1.2.3".
var version string

// unknown is the version of a build that nobody has named.
const unknown = "0.0.0-dev"

// Version returns the version of this process, such as "1.2.3", or "1.2.4-dev.17+g4bff83e" for
// the seventeenth commit after that.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	return of(info)
}

// of returns the version of a program that was built without make: Go's own of the module, or the
// commit that it was built from.
func of(info *debug.BuildInfo) string {
	if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok {
		return v
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ".dirty"
		}
	}
	if revision == "" {
		return unknown
	}
	return unknown + "+g" + revision[:min(12, len(revision))] + changed
}
