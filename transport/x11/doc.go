// Package x11 has what both ends of a forwarded display need of the X Window System: the names of displays, the files with the
// keys to them, and the first words of a program that connects to one. A job's programs get a key that is good for
// nothing but the way back to whoever waits for the job; there it is exchanged for that of his display, which never leaves his host.
package x11
