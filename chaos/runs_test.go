//go:build !race

package chaos

// defaultRuns is what is played when nobody says otherwise.
const defaultRuns = 100
