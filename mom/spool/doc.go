// Package spool keeps on disk what a mom must not forget: the records of its tasks
// with their scripts, the facts that no commit has acknowledged yet, and the answers
// it gave to orders (L9). It owns the folders below PBS_HOME that this takes and how
// a file gets there whole; what a record says is its caller's business.
//
// Records are written to a temporary file, synced, renamed and the folder synced, so
// that a crash at any point leaves the old or the new and never a half. Facts are
// appended to a journal with a checksum for each, several of them under one sync; what a
// crash left half written is cut off. A Spool may be used by several goroutines and
// starts none.
//
//	mom_priv/spool.json         the random id of this spool, epoch, answers to orders
//	mom_priv/jobs/ID@RUN/       task.log, script and the shim's own files
//	mom_priv/reports/SEQ.log    facts from that number on
//	spool/ID.OU, ID.ER          output of running jobs
//	undelivered/                output that could not be delivered
//	aux/ID                      node files
package spool
