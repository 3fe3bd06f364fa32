package task

import "time"

// A KillState is how somebody's wish stands that the job ends. The numbers are in records on disk.
type KillState uint8

// The states of the wish.
const (
	NotKilled   KillState = iota
	KillAsked             // hooks are asked whether it may end
	KillOrdered           // it is to end
)

// String returns the state as a word.
func (s KillState) String() string {
	return nameOf([]string{NotKilled: "none", KillAsked: "asked", KillOrdered: "ordered"}, s)
}

// A Killing is a request to end the job.
type Killing struct {
	Delay   time.Duration `json:"delay,omitempty"`
	Requeue bool          `json:"requeue,omitempty"`
}

// A KillOrder is all such wishes that have come: the hardest of them, and how it stands.
type KillOrder struct {
	State KillState `json:"state,omitempty"`
	Killing
}

// Events of a wish.
const (
	killWord     word = "kill"
	askHooksWord word = "kill, if hooks agree"
	agreedWord   word = "hooks agree" // or it is too late for them
	refusedWord  word = "hooks refuse"
)

var kills = table[KillState]{
	{NotKilled, killWord, KillOrdered},
	{NotKilled, askHooksWord, KillAsked},
	{KillAsked, killWord, KillOrdered},
	{KillAsked, askHooksWord, KillAsked},
	{KillAsked, agreedWord, KillOrdered},
	{KillAsked, refusedWord, NotKilled},
	{KillOrdered, killWord, KillOrdered},
	{KillOrdered, askHooksWord, KillAsked}, // before the program runs
}

// step changes the state of the wish.
func (k KillOrder) step(on word) KillOrder {
	k.State, _ = kills.after(k.State, on)
	if k.State == NotKilled {
		return KillOrder{}
	}
	return k
}

// with returns the wish after one more, which cannot make it milder, and whether it is harder now.
func (k KillOrder) with(more Killing) (next Killing, sooner bool) {
	if !k.there() {
		return more, true
	}
	more.Requeue = more.Requeue || k.Requeue
	more.Delay = min(more.Delay, k.Delay)
	return more, more.Delay < k.Delay || k.asked()
}

// there reports whether anybody wishes for the end.
func (k KillOrder) there() bool { return k.State != NotKilled }

// asked reports whether hooks are looking at the wish.
func (k KillOrder) asked() bool { return k.State == KillAsked }

// ordered reports whether the wish is to be followed.
func (k KillOrder) ordered() bool { return k.State == KillOrdered }
