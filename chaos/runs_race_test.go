//go:build race

package chaos

// defaultRuns is small under the race detector, which makes everything slower.
const defaultRuns = 8
