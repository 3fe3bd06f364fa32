// Package planted names the bugs that can be put into a build to show that the tests
// see them. In every build without the tag bug_planted, Bug is the constant None, so
// that a hook such as
//
//	if planted.Bug == planted.StaleReads { ... }
//
// is removed by the compiler. It owns names only: what a bug does stands where it is
// planted, and which test must see it in chaos. It starts nothing and holds nothing.
package planted

// The bugs, each with the law of the design that it breaks.
const (
	None              = ""
	UnknownIsDone     = "unknown_is_done"    // L1, L6: what may never be committed is acknowledged
	RequeueOnSilence  = "requeue_on_silence" // L2, L13: the jobs of a silent host are requeued at once
	FenceForgotten    = "fence_forgotten"    // L2: a new leader does not wait for the fence of who was silent before
	DeadlineIgnored   = "deadline_ignored"   // L2: a shim outlives its deadline
	OldRunsCount      = "old_runs_count"     // L2: the end of an earlier run ends the present one
	OverCommit        = "over_commit"        // L3: neither scheduler nor Apply looks whether an assignment fits
	MapOrder          = "map_order"          // L4: Apply goes by the order of a map
	UnknownIsSkipped  = "unknown_is_skipped" // L4: a command of an unknown kind is passed over
	IllegalMove       = "illegal_move"       // L5: a hold takes a running job out of its run
	ForgottenRequests = "forgotten_requests" // L8: outcomes are not remembered
	OperandsAlike     = "operands_alike"     // L8: all operands of a command have one request id
	ThinSnapshots     = "thin_snapshots"     // L7: a snapshot leaves a table out
	OrdersTwice       = "orders_twice"       // L9: a mom obeys an order again
	VoidOrders        = "void_orders"        // L9: a mom obeys an order that is not open any more
	FactsForgotten    = "facts_forgotten"    // L9: a mom forgets a fact when it was sent
	LedgerGaps        = "ledger_gaps"        // L10: missing records are given up, not fetched
	RecordsTwice      = "records_twice"      // L10: a restart writes the last record again
	StaleReads        = "stale_reads"        // L11: every read is a stale one
	ClosedQueuesOpen  = "closed_queues_open" // L11: a disabled queue takes jobs
	LostAlterations   = "lost_alterations"   // L1: an alteration is acknowledged and not made
	SwallowedErrors   = "swallowed_errors"   // L12: a write that failed counts as done
	HeldIsFree        = "held_is_free"       // L2, L3: released vnodes are free before their moms have confirmed
	EndlessPreemption = "endless_preemption" // L5: a job that is suspended is taken to give back all, and nobody minds how often it does
	SickHostsDraw     = "sick_hosts_draw"    // L14: what a host fails counts against its jobs, which are tried there again
	DoubleBooking     = "double_booking"     // L15: neither scheduler nor Apply looks at other reservations when one is decided
	GossipIsBelieved  = "gossip_is_believed" // L13: a mom that answers is down if gossip says so
)
