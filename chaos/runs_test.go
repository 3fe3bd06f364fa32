package chaos

import "rampart/transport/build"

// What is played when nobody says otherwise; one scenario in scenarioStep is.
var defaultRuns, defaultFiles, scenarioStep = played()

// played is less under the race detector, which makes everything slower.
func played() (runs, files, step int) {
	if build.Raced {
		return 6, 12, 8
	}
	return 300, 5, 1
}
