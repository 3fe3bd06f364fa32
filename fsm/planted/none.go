//go:build !bug_planted

package planted

// Bug is the bug in this build: none.
const Bug = None
