// Package planted names the bugs that are put into the program to show that the tests see them,
// and puts them there. The source of the program knows nothing of them: each is an edit of a few
// lines of it, and all of them together make an overlay for `go build -overlay`, in which one string
// says which bug is there.
//
// It owns the edits; which test must see a bug stands in chaos. It starts nothing and holds nothing.
package planted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The bugs, each with the law that it breaks.
const (
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
	PlansPassed       = "plans_passed"       // L15: what is kept for a job with a plan is free for those behind it
	GossipIsBelieved  = "gossip_is_believed" // L13: a mom that answers is down if gossip says so
)

// An edit plants a bug in a file of the program: it puts planted in the place of sound, which stands in the file
// once. In planted, PLANTED is the condition that this bug is the one that is wanted.
type edit struct{ bug, file, sound, planted string }

// Variable is what the linker sets to the name of the bug (-X). A build in which it has not done so looks for the name in the
// environment: in Environment.
const (
	Variable    = "rampart/fsm/planted.Bug"
	Environment = "RAMPART_PLANTED"
)

// chosen is the package that edited files ask which bug is there. It exists in the overlay only.
const chosen = `package planted

import "os"

var Bug string

func init() {
	if Bug == "" {
		Bug = os.Getenv("` + Environment + `")
	}
}
`

// Bugs returns the names of all bugs that are planted, sorted.
func Bugs() []string {
	names := map[string]bool{}
	for _, e := range edits {
		names[e.bug] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Sources returns the files of the module at root that an overlay replaces, by their paths in the module. It
// fails for an edit whose place is gone: who changes a line that a bug is planted in changes the edit, too.
func Sources(root string) (map[string][]byte, error) {
	files := map[string][]byte{"fsm/planted/bug.go": []byte(chosen)}
	for _, e := range edits {
		text, edited := files[e.file]
		if !edited {
			var err error
			if text, err = os.ReadFile(filepath.Join(root, e.file)); err != nil {
				return nil, fmt.Errorf("plant %s: %w", e.bug, err)
			}
			// In the line of the other imports, so that those behind it keep their numbers.
			if text, err = replace(text, "\nimport ", "\nimport \"rampart/fsm/planted\"; import "); err != nil {
				return nil, fmt.Errorf("plant %s in %s: %w", e.bug, e.file, err)
			}
		}
		text, err := replace(text, e.sound, strings.ReplaceAll(e.planted, "PLANTED", "(planted.Bug == "+strconv.Quote(e.bug)+")"))
		if err != nil {
			return nil, fmt.Errorf("plant %s in %s: %w", e.bug, e.file, err)
		}
		files[e.file] = text
	}
	return files, nil
}

func replace(text []byte, old, with string) ([]byte, error) {
	if n := bytes.Count(text, []byte(old)); n != 1 {
		return nil, fmt.Errorf("not once, but %d times, it has %q", n, old)
	}
	return bytes.Replace(text, []byte(old), []byte(with), 1), nil
}

// Overlay writes an overlay with all bugs for the module at root into dir, and returns the path of the file that
// `go build -overlay` takes.
func Overlay(root, dir string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("plant bugs: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("plant bugs: %w", err)
	}
	files, err := Sources(root)
	if err != nil {
		return "", err
	}
	replaced := map[string]string{}
	for path, text := range files {
		name := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return "", fmt.Errorf("plant bugs: %w", err)
		}
		replaced[filepath.Join(root, path)] = name
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", fmt.Errorf("plant bugs: %w", err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return "", fmt.Errorf("plant bugs: %w", err)
	}
	return overlay, nil
}
