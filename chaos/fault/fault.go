// Package fault describes what goes wrong in a run, and when: data, drawn from a seed or
// written by hand, that can be printed and struck in any world. It knows no world,
// starts nothing and waits for nothing.
package fault

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A Kind is what goes wrong.
type Kind uint8

// The kinds.
const (
	Crash       Kind = iota + 1 // the process dies as by kill -9
	Tear                        // as Crash, and the last bytes of its ledger are lost with it
	Reboot                      // the host of a mom is booted: its programs die, too
	Restart                     // what is down starts again with what is on its disk
	Isolate                     // nothing passes between the target and the other replicas
	Exile                       // nothing passes between the target and anybody
	Mute                        // what the target says to the other replicas is lost, what it hears is not
	Deafen                      // the reverse
	LoseReplies                 // what the target says to clients is lost: answers above all
	Sever                       // the connections of all clients break; they ask again
	Heal                        // every link works
	Freeze                      // the process stops where it is, as by SIGSTOP
	Thaw                        // what was frozen goes on
	Estrange                    // nothing passes between the target and who leads at that moment
	Ambush                      // the leader dies when it has applied a command of a kind, before anybody hears of it
	SetFence                    // node_fail_requeue becomes the value; empty: it is unset
	Slander                     // gossip says again and again that the target is dead
	Vouch                       // gossip says again and again that the target lives
	Upgrade                     // the target hands over, ends, and starts as the present build
	Downgrade                   // and as one that knows a feature level less
	Wreck                       // as Crash, and log and ledger are gone with it for good
	Recover                     // the replicas that run go on without those that do not
	Divide                      // nothing passes between the target, a mom, and the first mom
	Waylay                      // a host of a job is booted when the leader has applied a command of a kind about the job
	Topple                      // the mom of one dies then as by kill -9; programs go on
	Stall                       // the disk of the target answers no writes, or none of a kind
	Flow                        // every disk answers
	Lag                         // what passes between the target, a host of a job, and its mother superior takes its time
	Sicken                      // the host of the target, a mom, cannot start programs: see Illnesses
	Cure                        // every host can
	StepClock                   // the clock of the target's host is set by the value
	SetClocks                   // the clock of every host is right
	Burden                      // the host of the target, a mom, has as many processes to run in a minute (r1m) as the value says
	Relieve                     // no host has any
)

// Illnesses are what hosts fall sick with, as values of Sicken.
var Illnesses = []string{Forkless, Full, Flaky}

// The illnesses.
const (
	Forkless = "no processes"   // nothing can be forked or executed
	Full     = "no space"       // nothing that the mom keeps can be written
	Flaky    = "space at times" // only each third of that can
)

var kindNames = [...]string{
	Crash: "crash", Tear: "tear", Reboot: "reboot", Restart: "restart", Isolate: "isolate", Exile: "exile",
	Mute: "mute", Deafen: "deafen",
	LoseReplies: "lose replies", Sever: "sever", Heal: "heal", Freeze: "freeze", Thaw: "thaw",
	Estrange: "estrange", Ambush: "ambush", SetFence: "set the fence", Slander: "slander", Vouch: "vouch for",
	Upgrade: "upgrade", Downgrade: "downgrade", Wreck: "wreck", Recover: "recover", Divide: "divide", Waylay: "waylay", Topple: "topple", Lag: "lag",
	Stall: "stall", Flow: "flow", Sicken: "sicken", Cure: "cure", StepClock: "step the clock of", SetClocks: "set all clocks right",
	Burden: "burden", Relieve: "relieve all",
}

// String returns the kind as a word.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "?"
	}
	return kindNames[k]
}

// Mends reports whether it is the end of another fault.
func (k Kind) Mends() bool {
	return k == Restart || k == Sever || k == Heal || k == Thaw || k == SetFence || k == Recover || k == Flow || k == Cure || k == SetClocks || k == Relieve
}

// A Target says whom a fault hits; it is resolved when the fault strikes.
type Target struct {
	Role Role
	N    int // which of the followers or moms, or of the hosts of a job, from 0
}

// A Role chooses among the processes.
type Role uint8

// The roles.
const (
	Nobody Role = iota
	Leader
	Follower
	Mom
	Crashed  // everything that is down
	Replicas // all of them; to heal and restart them leaves the moms as they are
	Mother   // the mom that is the mother superior of most jobs that run on several hosts
	Sister   // the mom that is a sister of most of them
)

// String returns the target as words.
func (t Target) String() string {
	switch t.Role {
	case Leader:
		return "the leader"
	case Follower:
		return fmt.Sprintf("follower %d", t.N)
	case Mom:
		return fmt.Sprintf("mom %d", t.N)
	case Crashed:
		return "the crashed"
	case Replicas:
		return "the replicas"
	case Mother:
		return "a mother superior"
	case Sister:
		return "a sister"
	default:
		return "the network"
	}
}

// A Step is one fault at its time after the start of the load.
type Step struct {
	At     time.Duration
	Kind   Kind
	Target Target
	// Value is the kind of command of an Ambush, a Waylay or a Topple, and of what hits a mom then as a host of
	// the job that the command is about (empty: at the time, as the world's mom); the seconds of SetFence;
	// the kind of writes of a Stall (empty: all); the illness of a Sicken; the duration of a StepClock; the load of a Burden.
	Value string
}

// OfJob reports whether the target is a host of the job that a command is about: its mother superior is 0.
func (s Step) OfJob() bool {
	return s.Target.Role == Mom && s.Value != "" && s.Kind != Ambush && s.Kind != Sicken && s.Kind != Burden
}

// String returns the step as one line.
func (s Step) String() string {
	text := fmt.Sprintf("%.3fs %s", s.At.Seconds(), s.Kind)
	switch s.Kind {
	case Ambush:
		return text + " the leader at " + s.Value
	case SetClocks, Relieve:
		return text
	case SetFence:
		return text + fmt.Sprintf(" to %q", s.Value)
	case Stall, Sicken, StepClock, Burden:
		return strings.TrimSpace(text + " " + s.Target.String() + " " + s.Value)
	}
	if s.OfJob() {
		return fmt.Sprintf("%s host %d of a job at %s", text, s.Target.N, s.Value)
	}
	return text + " " + s.Target.String()
}

// A Profile says how bad a drawn run is.
type Profile struct {
	Span    time.Duration // in which faults begin
	Least   int           // faults of replicas
	Most    int
	Moms    int // how many moms may be hit, at most once each
	Longest time.Duration
	// Followers is among how many of them those are chosen that are hit; 0: 2.
	Followers int
}

// Draw chooses faults from r, each with its end, in the order of their times.
func (p Profile) Draw(r *rand.Rand) []Step {
	var steps []Step
	begin := func() time.Duration { return between(r, 0, p.Span) }
	for range p.Least + r.IntN(p.Most-p.Least+1) {
		steps = append(steps, p.pair(r, begin(), replicaKinds[r.IntN(len(replicaKinds))], anyReplica(r, cmp.Or(p.Followers, 2)))...)
	}
	for n := range p.Moms {
		if r.IntN(2) == 0 {
			kinds := []Kind{Crash, Reboot, Exile}
			steps = append(steps, p.pair(r, begin(), kinds[r.IntN(len(kinds))], Target{Role: Mom, N: n})...)
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return steps
}

// Stalled returns faults with one more: some disks do not answer for a time, and do again.
func (p Profile) Stalled(r *rand.Rand, steps []Step, kinds ...string) []Step {
	t := anyReplica(r, cmp.Or(p.Followers, 2))
	if r.IntN(4) == 0 {
		t = Target{Role: Replicas}
	}
	begin := between(r, 0, p.Span)
	end := begin + between(r, 500*time.Millisecond, 3*p.Longest)
	kinds = append(kinds, "", "")
	steps = append(steps, Step{At: begin, Kind: Stall, Target: t, Value: kinds[r.IntN(len(kinds))]}, Step{At: end, Kind: Flow})
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return steps
}

// Sickened returns faults with more: some of the first so many moms fall sick, and all are well again in the end.
func (p Profile) Sickened(r *rand.Rand, steps []Step, moms int) []Step {
	first := r.IntN(moms)
	for n := range moms {
		if n != first && r.IntN(2) == 0 {
			continue
		}
		illness := Illnesses[r.IntN(len(Illnesses))]
		steps = append(steps, Step{At: between(r, 0, p.Span/2), Kind: Sicken, Target: Target{Role: Mom, N: n}, Value: illness})
	}
	steps = append(steps, Step{At: between(r, p.Span, p.Span+3*p.Longest), Kind: Cure})
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return steps
}

// Stepped returns faults with one more: the clock of a replica's host is set forwards or backwards for a time.
func (p Profile) Stepped(r *rand.Rand, steps []Step) []Step {
	begin, by := between(r, 0, p.Span), between(r, leastStep, mostStep)
	if r.IntN(2) == 0 {
		by = -by
	}
	steps = append(steps, Step{At: begin, Kind: StepClock, Target: anyReplica(r, cmp.Or(p.Followers, 2)), Value: by.String()},
		Step{At: begin + between(r, p.Longest, 3*p.Longest), Kind: SetClocks})
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return steps
}

// By how much a clock is set: from what a leader may be off to what a request may be ahead of the log.
const (
	leastStep = time.Second
	mostStep  = 100 * time.Second
)

// replicaKinds are what happens to replicas, the likelier the oftener named.
var replicaKinds = []Kind{Crash, Crash, Tear, Isolate, Isolate, Exile, Mute, Deafen, LoseReplies, LoseReplies}

// pair returns a fault and its end.
func (p Profile) pair(r *rand.Rand, at time.Duration, k Kind, t Target) []Step {
	if k == LoseReplies { // an answer counts as lost only when its connection broke
		broken := at + between(r, 300*time.Millisecond, 2*time.Second)
		return []Step{{At: at, Kind: LoseReplies, Target: Target{Role: Leader}}, {At: broken, Kind: Sever}, {At: broken + time.Second, Kind: Heal}}
	}
	end := Step{At: at + between(r, 300*time.Millisecond, p.Longest), Kind: Heal}
	if k == Crash || k == Tear || k == Reboot {
		end.Kind, end.Target = Restart, Target{Role: Crashed}
	}
	return []Step{{At: at, Kind: k, Target: t}, end}
}

func anyReplica(r *rand.Rand, followers int) Target {
	if r.IntN(2) == 0 {
		return Target{Role: Leader}
	}
	return Target{Follower, r.IntN(followers)}
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)+1)).Round(time.Millisecond)
}
