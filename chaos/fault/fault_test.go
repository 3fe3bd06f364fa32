package fault

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

var profile = Profile{Span: 9 * time.Second, Least: 1, Most: 4, Moms: 2, Longest: 5 * time.Second}

func draw(seed uint64) []Step { return profile.Draw(rand.New(rand.NewPCG(seed, 1))) }

func TestDraw_SeedRepeats(t *testing.T) {
	if a, b := draw(7), draw(7); !reflect.DeepEqual(a, b) {
		t.Errorf("%v\n%v", a, b)
	}
	if a, b := draw(7), draw(8); reflect.DeepEqual(a, b) {
		t.Errorf("two seeds, one schedule: %v", a)
	}
}

func TestDraw_EveryFaultEnds(t *testing.T) {
	struck := make(map[Kind]bool)
	for seed := range uint64(200) {
		steps := draw(seed)
		open := make(map[Kind]int)
		for i, s := range steps {
			struck[s.Kind] = true
			if i > 0 && s.At < steps[i-1].At {
				t.Errorf("seed %d: %s comes after %s", seed, steps[i-1], s)
			}
			switch s.Kind {
			case Crash, Tear, Reboot:
				open[Restart]++
			case Restart, Heal:
				open[s.Kind]--
			case Sever:
			default:
				open[Heal]++
			}
		}
		if open[Restart] != 0 || open[Heal] != 0 {
			t.Errorf("seed %d: what begins does not end: %v", seed, steps)
		}
	}
	for k := Crash; k <= Heal; k++ {
		if !struck[k] {
			t.Errorf("no schedule has a %s", k)
		}
	}
}

// A stall that is drawn ends, and comes in its place among the other faults.
func TestStalled_Ends(t *testing.T) {
	struck := make(map[string]bool)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		steps := profile.Stalled(r, draw(seed), "append", "stable")
		shut := 0
		for i, s := range steps {
			if i > 0 && s.At < steps[i-1].At {
				t.Errorf("seed %d: %s comes after %s", seed, steps[i-1], s)
			}
			switch s.Kind {
			case Stall:
				shut++
				struck[s.Target.String()], struck[s.Value] = true, true
			case Flow:
				shut--
			}
			if shut < 0 {
				t.Errorf("seed %d: it ends before it begins: %v", seed, steps)
			}
		}
		if shut != 0 {
			t.Errorf("seed %d: it does not end: %v", seed, steps)
		}
	}
	for _, what := range []string{"the leader", "follower 0", "follower 1", "the replicas", "append", "stable", ""} {
		if !struck[what] {
			t.Errorf("none is %q", what)
		}
	}
}

// A clock that is set wrong goes forwards or backwards, and is right again.
func TestStepped_Ends(t *testing.T) {
	back, ahead := 0, 0
	for seed := range uint64(200) {
		wrong := false
		for _, s := range profile.Stepped(rand.New(rand.NewPCG(seed, 3)), draw(seed)) {
			switch s.Kind {
			case StepClock:
				by, err := time.ParseDuration(s.Value)
				if err != nil || by.Abs() < leastStep {
					t.Errorf("seed %d: %s: %v", seed, s, err)
				}
				if wrong = true; by < 0 {
					back++
				} else {
					ahead++
				}
			case SetClocks:
				wrong = false
			}
		}
		if wrong {
			t.Errorf("seed %d: a clock stays wrong", seed)
		}
	}
	if back < 50 || ahead < 50 {
		t.Errorf("%d go back and %d ahead", back, ahead)
	}
}

// The absence of a mom ends for that mom alone: what mends the replicas leaves it away.
func TestSiege_EveryAbsenceEndsForItsMom(t *testing.T) {
	siege := Siege{Fence: 30 * time.Second, From: 5 * time.Second, Span: 9 * time.Second, Moms: 2}
	must, struck := 0, make(map[Kind]bool)
	for seed := range uint64(300) {
		steps, falls := siege.Draw(rand.New(rand.NewPCG(seed, 1)))
		away := make(map[Target]Step)
		for i, s := range steps {
			struck[s.Kind] = true
			if i > 0 && s.At < steps[i-1].At {
				t.Errorf("seed %d: %s comes after %s", seed, steps[i-1], s)
			}
			switch {
			case s.Target.Role != Mom && s.Kind.Mends() && s.Kind != SetFence && s.Target.Role != Replicas:
				t.Errorf("seed %d: %s ends what it should not", seed, s)
			case s.Target.Role != Mom:
			case !s.Kind.Mends():
				away[s.Target] = s
			default:
				if begun, ok := away[s.Target]; !ok {
					t.Errorf("seed %d: %s ends nothing", seed, s)
				} else if falls && s.At-begun.At > siege.falls() {
					falls = false
					must++
				}
				delete(away, s.Target)
			}
		}
		if len(away) > 0 {
			t.Errorf("seed %d: %v does not end", seed, away)
		}
		if falls {
			t.Errorf("seed %d: no absence is so long that a fence must fall: %v", seed, steps)
		}
	}
	for _, k := range []Kind{Exile, Crash, Freeze, Reboot, Estrange, SetFence, Tear, Heal, Restart, Thaw} {
		if !struck[k] {
			t.Errorf("no siege has a %s", k)
		}
	}
	if must < 30 {
		t.Errorf("a fence must fall in %d of 300 sieges only", must)
	}
}
