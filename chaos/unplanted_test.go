//go:build !bug_planted

package chaos

// plant does nothing: an ordinary build has no bugs to choose from.
func plant() {}
