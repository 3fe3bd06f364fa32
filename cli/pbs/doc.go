// Package pbs holds the PBS commands, one file each: what they accept, what they
// ask the server, and what they print. Options become plain values first; how
// objects look is cli/render's affair, how errors become exit statuses cli's.
// Each command runs in its caller's goroutine and has ended when its Run returns.
package pbs
