package member

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
