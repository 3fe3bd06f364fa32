//go:build !race

package chaos

// What is played when nobody says otherwise.
const (
	defaultRuns  = 300
	defaultFiles = 5
	scenarioStep = 1
)
