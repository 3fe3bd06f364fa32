// Package sched decides which queued jobs start where. Plan is a pure function
// over a View: same view, same plan. The Loop proposes what was planned; Apply
// checks each start again against the state of its moment (L3), so a plan may be
// stale and never does harm.
//
// It owns no truth: there is nothing to restore when leadership changes, a new
// leader plans from its view.
//
// Concurrency: Plan may be called by anyone. Loop.Run is the one goroutine of a
// leader's term and waits for the proposals that it has made; it stops with its
// context.
package sched
