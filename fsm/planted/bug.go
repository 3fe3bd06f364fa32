//go:build bug_planted

package planted

// Bug is the bug in this build. The linker says which:
// -ldflags '-X rampart/fsm/planted.Bug=NAME'; a test binary may say so itself.
var Bug string
