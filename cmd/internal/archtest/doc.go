// Package archtest holds the rules of the code base that a compiler does not know: which
// package may import which (the arrows of the tree), what the pure packages under fsm may
// not touch, what the user commands' binary must not carry, and that every package says
// in one comment what it is. It owns the tables and the tests that compare them with the
// tree, and nothing that runs in a program.
package archtest
