//go:build race

package build

// Raced reports whether the race detector is compiled in. Under it everything is five to ten times slower:
// short tests that are dear there, and show it nothing that others do not, are left out (see make test).
const Raced = true
