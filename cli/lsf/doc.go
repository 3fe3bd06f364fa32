// Package lsf holds the LSF commands, one file each: what they accept, what they ask the server, and
// what they print (specification: reservation sections 9 and 10). They ask the same server for the
// same jobs as the PBS commands; what LSF's words mean is fsm/lsf's affair. Each command runs in its
// caller's goroutine and has ended when its Run returns.
package lsf
