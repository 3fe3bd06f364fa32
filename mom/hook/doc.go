// Package hook runs the hooks of a site: Python scripts that see an event as objects of
// the module pbs and answer with changes. It owns the interpreter (a warm worker that forks
// for each event), the embedded module, the copies of hooks on a mom's disk, and the form
// in which events and answers travel between the two languages. It does not know what
// becomes of an answer: whoever has the event does.
//
// Concurrency: a Runtime may be used by any number of goroutines; it owns one child process
// and the goroutines that read from it, and Close ends them all. A Store is used by one
// goroutine at a time but for Hooks, which anybody may call.
package hook
