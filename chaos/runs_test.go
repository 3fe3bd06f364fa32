//go:build !race

package chaos

// What is played when nobody says otherwise.
const (
	defaultRuns  = 100
	defaultFiles = 5
)
