//go:build race

package chaos

// What is played when nobody says otherwise: less under the race detector, which makes
// everything slower.
const (
	defaultRuns  = 6
	defaultFiles = 12
	// scenarioStep leaves out scenarios: one in so many is played.
	scenarioStep = 8
)
