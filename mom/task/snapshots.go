package task

import "time"

// A SnapState says whether a checkpoint that the job outlives is being made. The numbers are in records on disk.
type SnapState uint8

// The states of such a checkpoint.
const (
	SnapIdle SnapState = iota
	SnapBusy           // the script of the site is at work
)

// String returns the state as a word.
func (s SnapState) String() string { return nameOf([]string{SnapIdle: "idle", SnapBusy: "busy"}, s) }

// A MadeState says whether there is a checkpoint to go on from. The numbers are in records on disk.
type MadeState uint8

// States of what there is to go on from.
const (
	NoneMade   MadeState = iota
	MadeUntold           // the fact is not in the spool
	MadeKnown            // it is
)

// String returns the state as a word.
func (s MadeState) String() string {
	return nameOf([]string{NoneMade: "none", MadeUntold: "untold", MadeKnown: "known"}, s)
}

// A Snap is what is known of the checkpoints that a run has outlived.
type Snap struct {
	By    string        `json:"by,omitempty"` // what was measured: c, cpu time, or w, walltime
	At    time.Duration `json:"at,omitempty"` // of that, when one was due last
	State SnapState     `json:"state,omitempty"`
	Made  MadeState     `json:"made,omitempty"`
}

// Events of these checkpoints.
const (
	dueWord    word = "due"
	endWord    word = "over" // made or not, or given up for another
	madeWord   word = "made"
	toldOfWord word = "told"
)

var (
	snaps = table[SnapState]{
		{SnapIdle, dueWord, SnapBusy},
		{SnapBusy, endWord, SnapIdle},
	}
	mades = table[MadeState]{
		{NoneMade, madeWord, MadeUntold},
		{MadeUntold, toldOfWord, MadeKnown},
		{MadeKnown, madeWord, MadeUntold},
		{MadeUntold, madeWord, MadeUntold},
	}
)

// due notes when a checkpoint was due, and begins it if it can be made.
func (s Snap) due(by string, at time.Duration, able bool) Snap {
	s.By, s.At = by, at
	if able {
		s.State, _ = snaps.after(s.State, dueWord)
	}
	return s
}

// over ends what is under way; ok is false if nothing is.
func (s Snap) over(made bool) (next Snap, ok bool) {
	s.State, ok = snaps.after(s.State, endWord)
	if ok && made {
		s.Made, _ = mades.after(s.Made, madeWord)
	}
	return s, ok
}

// superseded gives up what is under way: for another checkpoint, or since the script died with an earlier mom.
func (s Snap) superseded() Snap {
	next, _ := s.over(false)
	return next
}

// told notes that the fact of the last one is in the spool.
func (s Snap) told() Snap {
	s.Made, _ = mades.after(s.Made, toldOfWord)
	return s
}

// exists reports whether there is a checkpoint to go on from.
func (s Snap) exists() bool { return s.Made != NoneMade }
