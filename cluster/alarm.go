package cluster

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"rampart/cluster/store"
)

// An AlarmKind is the stable word for what is wrong; docs/operations.md has a line for
// each.
type AlarmKind string

// The kinds of alarms.
const (
	AlarmStore     AlarmKind = "store_failed"     // a write failed; the process is about to end
	AlarmStalled   AlarmKind = "store_stalled"    // a write is not done; the replica keeps silent until it is
	AlarmMachine   AlarmKind = "machine_stopped"  // nothing more is applied; the process is about to end
	AlarmSplit     AlarmKind = "states_differ"    // no majority of the voters has the same state
	AlarmWaiting   AlarmKind = "waiting"          // for a majority to say which start they know
	AlarmFull      AlarmKind = "disk_full"        // too little room to start on
	AlarmNoWrites  AlarmKind = "writes_refused"   // too few voters have room for more
	AlarmLow       AlarmKind = "disk_low"         // little room is left
	AlarmSick      AlarmKind = "disk_slow"        // writes to the log take long
	AlarmSnapshot  AlarmKind = "snapshots_failed" // the log grows meanwhile
	AlarmLedger    AlarmKind = "ledger_stuck"     // accounting files cannot be written
	AlarmBackup    AlarmKind = "backup_failed"    // the last backup on schedule was not made
	AlarmScripts   AlarmKind = "scripts_missing"  // of jobs, which it fetches
	AlarmRemoved   AlarmKind = "removed"          // it is no member any more
	AlarmDirectory AlarmKind = "directory_silent" // the directory of users does not answer
	AlarmNames     AlarmKind = "names_silent"     // the resolver of host names does not answer
)

// AlarmKinds lists all kinds.
func AlarmKinds() []AlarmKind {
	return []AlarmKind{
		AlarmStore, AlarmStalled, AlarmMachine, AlarmSplit, AlarmWaiting, AlarmFull, AlarmNoWrites, AlarmLow, AlarmSick, AlarmSnapshot, AlarmLedger, AlarmBackup, AlarmScripts, AlarmRemoved, AlarmDirectory, AlarmNames,
	}
}

// An Alarm is what a person should look at.
type Alarm struct {
	Kind   AlarmKind
	Text   string
	Advice string // what to do about it
	// Serves is set when the replica does its part all the same.
	Serves bool
}

// alarms returns what is wrong here, the worst first.
func (r *Replica) alarms(disk store.Disk) []Alarm {
	var all []Alarm
	if err := r.store.Err(); err != nil {
		all = append(all, storeAlarm(err))
	}
	if since, ok := r.silence.now(); ok {
		all = append(all, stalledAlarm(since, r.store.Dir()))
	}
	if err := r.cfg.Machine.Err(); err != nil {
		all = append(all, Alarm{Kind: AlarmMachine, Text: err.Error(), Advice: "see the exit status of the process"})
	}
	if why := r.split.Load(); why != nil {
		all = append(all, Alarm{Kind: AlarmSplit, Text: *why, Advice: "stop the cluster and keep a copy of every server_priv/raft; see docs/operations.md"})
	}
	for _, a := range []*Alarm{r.gone.Load(), r.waiting.Load(), r.full.Load(), r.unsaved.Load()} {
		if a != nil {
			all = append(all, *a)
		}
	}
	all = append(all, diskAlarms(disk)...)
	if r.cfg.Alarms != nil {
		all = append(all, r.cfg.Alarms()...)
	}
	return all
}

func storeAlarm(err error) Alarm {
	a := Alarm{Kind: AlarmStore, Text: err.Error(), Advice: "look at the disk; the process ends with status 74 and may be started again"}
	if errors.Is(err, syscall.ENOSPC) {
		a.Advice = "make room on the disk; the process ends with status 74, and once started again it waits for room"
	}
	return a
}

func stalledAlarm(since time.Time, dir string) Alarm {
	return Alarm{
		Kind:   AlarmStalled,
		Text:   fmt.Sprintf("silent: %s has not answered since %s", dir, since.Format(time.RFC3339)),
		Advice: "look at the disk and the path to it; the replica goes on by itself when it answers",
	}
}

// stalledFor is for how long the store has not answered; 0: it does.
func (r *Replica) stalledFor() time.Duration {
	since, ok := r.silence.now()
	if !ok {
		return 0
	}
	return time.Since(since)
}
