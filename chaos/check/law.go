package check

import "fmt"

// A Law is something that must hold of every run.
type Law struct {
	Name   string // as the design numbers it, and in words
	Judge  func(*Evidence) []string
	Amount bool // it is about how much happened: if broken, the run says nothing
}

// All lists every law. The last one is not of the design: a run in which too
// little happened proves nothing.
func All() []Law {
	return []Law{
		NoJobLost, OneRunEach, OneJobPerRequest, SameState, LegalMoves, TrueAnswers, SnapshotIsState, SameLedger,
		Linearizable, HeldUntilLeft, TruePhases, PhasesFit, StandStill, TrueSuspensions, OneWay, Busy,
	}
}

// A Verdict is what the laws say of a run.
type Verdict struct {
	Broken       []string
	Inconclusive []string
}

// Good reports whether every law holds and enough has happened.
func (v Verdict) Good() bool { return len(v.Broken) == 0 && len(v.Inconclusive) == 0 }

// Judge applies the laws.
func Judge(e *Evidence, laws []Law) Verdict {
	var v Verdict
	if e.Loss != nil {
		v.Broken = e.Loss.overlaps(e.Runs)
		e = e.withoutLoss()
	}
	for _, law := range laws {
		for _, fault := range law.Judge(e) {
			text := law.Name + ": " + fault
			if law.Amount {
				v.Inconclusive = append(v.Inconclusive, text)
			} else {
				v.Broken = append(v.Broken, text)
			}
		}
	}
	return v
}

// faults collects what is wrong.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }
