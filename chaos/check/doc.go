// Package check judges what a run of the system left behind: the history that
// the clients saw, the programs that ran, the states and ledgers of the replicas.
// Each Law of the design that a run can break is one value here, and a run is
// good only if every law holds and enough has happened to say so.
//
// It is pure: it knows neither the system nor how the evidence was gathered, so
// the same laws judge the bubble and real processes. All of it may be called
// from any goroutine; it starts none but porcupine's, which end with the call.
package check
