// Package x11 implements the parts of the X Window System that both ends of a forwarded display need: the names of displays, the files with the
// keys to them, and the first bytes that a program sends when it connects to one. A job's programs get a key that is good for
// nothing but the way back to whoever waits for the job; there it is exchanged for that of his display, which never leaves his host.
package x11
