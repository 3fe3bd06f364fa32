//go:build !race

package chaos

// What is played when nobody says otherwise.
const (
	defaultRuns  = 500
	defaultFiles = 5
	scenarioStep = 1
)
