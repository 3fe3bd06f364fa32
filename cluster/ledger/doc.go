// Package ledger writes what the committed log gave rise to into files: the
// accounting records (L10) and the lines of the server log. Every replica writes
// its own copy; the accounting files of all replicas are equal byte for byte,
// because records carry a number of the replicated state, the file's day and the
// line's time come from the entry, and a repeat or a gap is seen by its number.
//
// It does not decide what is recorded (fsm does), and never reads a clock for a
// record's time.
//
// Concurrency: Append hands batches to one writer goroutine, which owns the
// files; everything else may be called by anyone at any time. Run blocks until
// its context ends, has then written what was appended and synced the files.
package ledger
