// Package sched decides which queued jobs start where. A plan is a pure function
// of a View: same view, same plan. The Loop proposes what was planned; Apply
// checks each start again against the state of its moment (L3), so a plan may be
// stale and never does harm.
//
// A cycle costs what has changed, not what is queued: the state keeps queued jobs
// by class, and the Planner keeps what it has read of vnodes and requests, and which
// requests nothing has been freed for since they fitted nowhere (stuck.go). What a
// Planner keeps never shows in a plan.
//
// A cycle has a calendar (cluster/sched/calendar) of the vnodes that it looks at:
// reservations are decided against it before any job, jobs outside start only where
// they leave what is promised, and jobs that come next are promised their places in it, too.
// Reservations count on runs to end as late as they may, jobs that come next as soon as
// is expected (soft_walltime). Where nothing is promised no calendar is read, and it costs nothing.
// A planner keeps the calendars, too, and reads anew those of vnodes of which something has changed, or has come to its time.
//
// Jobs of queues that want it keep slots and memory while they wait (reserving.go): what is free then (greedy.go), or a part of what they
// are to have together at a later time (timebased.go). It is found anew in each cycle, and taken out of what is free for those that come
// later, who may borrow it if they are over before its job is to start (keep.go). What has changed goes into the state, one command for
// a cycle, and is in the calendar of an Outlook. Where no queue wants it there is none of that.
//
// An Outlook reads the calendar for those who ask: who has what of a vnode until when, and for what reason; when and where one
// job fits; and what of that changes if a run or a reservation ends early.
//
// It owns no truth: there is nothing to restore when leadership changes, a new
// leader plans from its view.
//
// Concurrency: a Planner is used by one goroutine. Loop.Run is the one goroutine of a
// leader's term and waits for the proposals that it has made; it stops with its
// context.
package sched
