package chaos

import "rampart/transport/build"

// What is played when nobody says otherwise; one scenario in scenarioStep is.
var defaultRuns, defaultFiles, scenarioStep = played()

// played is less under the race detector, which makes everything slower. Either way it is a sample, with the same
// seeds each time, for a change to be judged in minutes: make test-long plays 20,000 schedules with new ones.
func played() (runs, files, step int) {
	if build.Raced {
		return 6, 6, 12
	}
	return 150, 5, 1
}
