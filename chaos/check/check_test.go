package check

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

const ledger = `11/21/2027 10:00:00;Q;1.srv;user=ann
11/21/2027 10:00:01;S;1.srv;user=ann
11/21/2027 10:00:01;Q;2.srv;user=ann
11/21/2027 10:00:02;D;2.srv;requestor=ann@hosta
11/21/2027 10:00:03;R;1.srv;user=ann
11/21/2027 10:00:03;S;1.srv;user=ann
11/21/2027 10:00:05;E;1.srv;user=ann
`

// seen makes what a list shows of name, state letter and run count.
func seen(pairs ...string) map[string]Seen {
	all := make(map[string]Seen)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = Seen{State: pairs[i+1][:1], Run: uint32(pairs[i+1][1] - '0'), Holds: "n", Priority: "5"}
	}
	return all
}

// show puts another sight of a job into the nth operation.
func show(e *Evidence, n int, name, sight string) { maps.Copy(e.History[n].Seen, seen(name, sight)) }

// good is the evidence of a run in which job 1 was requeued once and job 2 deleted
// before it ran. Each test breaks it in one place.
func good() *Evidence {
	at := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	e := &Evidence{
		History: History{
			{Client: 0, Kind: Submit, Name: "a", Job: "1.srv", Start: at(0), End: at(0.1), Result: Done, Value: "5"},
			{Client: 0, Kind: List, Start: at(0.2), End: at(0.3), Result: Done, Seen: seen("a", "R1")},
			{Client: 1, Kind: Submit, Name: "b", Job: "2.srv", Start: at(1), End: at(1.2), Result: Done, Value: "5"},
			{Client: 1, Kind: Delete, Name: "b", Job: "2.srv", Start: at(2), End: at(2.1), Result: Done},
			{Client: 0, Kind: List, Start: at(3), End: at(3.1), Result: Done, Seen: seen("a", "Q1", "b", "F0")},
			{Client: 0, Kind: Submit, Name: "c", Start: at(4), End: at(4.1), Result: Refused, Text: "no such queue"},
			{Client: 0, Kind: Submit, Name: "d", Start: at(4), End: at(9), Result: Unknown, Value: "5"},
			{Client: 1, Kind: List, Start: at(9), End: at(9.1), Result: Done, Seen: seen("a", "F2", "b", "F0")},
		},
		Runs: []Run{
			{Job: "1.srv", Count: 1, Host: "hosta", Start: at(1), End: at(3)},
			{Job: "1.srv", Count: 2, Host: "hostb", Start: at(3.5), End: at(5)},
		},
		Views: []Digest{{"s1", 7, 70}, {"s2", 7, 70}, {"s3", 8, 80}},
		Moves: []Move{{"s1", 0, 3, "1.srv", "Q", 0}, {"s1", 0, 4, "1.srv", "R", 1}, {"s1", 0, 9, "1.srv", "F", 2}},
	}
	for _, name := range []string{"s1", "s2", "s3"} {
		e.Replicas = append(e.Replicas, Replica{
			Name: name, Index: 20, Sum: 5, Reread: 5, Records: 7, Ledger: map[string][]byte{"20271121": []byte(ledger)},
			Jobs: []Job{{"1.srv", "a", "F", 2}, {"2.srv", "b", "F", 0}},
		})
	}
	return e
}

// The records of each hour tell the licences in use, which are neither a job's nor a reservation's.
func TestJudge_HourPasses(t *testing.T) {
	e := good()
	const hourly = "11/21/2027 10:00:00;L;license;floating license hour:0 day:0 month:0 max:0\n"
	for i := range e.Replicas {
		r := &e.Replicas[i]
		r.Ledger = map[string][]byte{"20271121": append([]byte(hourly), r.Ledger["20271121"]...)}
		r.Records++
	}
	if v := Judge(e, lawsOfDesign()); !v.Good() {
		t.Error(v.Broken)
	}
}

func lawsOfDesign() []Law {
	return slices.DeleteFunc(All(), func(l Law) bool { return l.Amount })
}

func TestJudge_GoodRun(t *testing.T) {
	if v := Judge(good(), lawsOfDesign()); !v.Good() {
		t.Error(v.Broken)
	}
}

// inLedgers replaces text in the ledger of every replica, so that they stay equal.
func inLedgers(e *Evidence, old, new string, records uint64) {
	for i := range e.Replicas {
		r := &e.Replicas[i]
		r.Ledger = maps.Clone(r.Ledger)
		for day, text := range r.Ledger {
			r.Ledger[day] = []byte(strings.ReplaceAll(string(text), old, new))
		}
		r.Records = records
	}
}

// A breach is good evidence that was changed so that a law is broken, and what the law
// must say of it.
type breach struct {
	law  Law
	mend func(e *Evidence)
	want string
}

func breaches() map[string]breach {
	const lastEnd = "11/21/2027 10:00:05;E;1.srv;user=ann\n"
	return map[string]breach{
		"a job is gone": {NoJobLost, func(e *Evidence) { e.Replicas[1].Jobs = e.Replicas[1].Jobs[1:] }, "s2 does not have it"},
		"a job never ends": {NoJobLost, func(e *Evidence) {
			e.Replicas[0].Jobs = []Job{{"1.srv", "a", "R", 2}, {"2.srv", "b", "F", 0}}
		}, "state R at the end"},
		"a job was never queued": {NoJobLost, func(e *Evidence) {
			inLedgers(e, "11/21/2027 10:00:01;Q;2.srv;user=ann\n", "", 6)
		}, "0 Q records"},
		"a job was queued twice":   {NoJobLost, func(e *Evidence) { inLedgers(e, ";D;2.srv", ";Q;2.srv", 7) }, "2 Q records"},
		"the end is not accounted": {NoJobLost, func(e *Evidence) { inLedgers(e, lastEnd, "", 6) }, "no E record"},
		"deleted by nobody":        {NoJobLost, func(e *Evidence) { e.History[3].Result = Refused }, "nobody has deleted it"},
		"a vnode is free too soon": {HeldUntilLeft, func(e *Evidence) {
			e.Vacated = []Vacated{{Job: "1.srv", Count: 1, Host: e.Runs[0].Host, At: e.Runs[0].End - 1}}
		}, "were free at"},
		"a release without records": {TruePhases, func(e *Evidence) {
			e.History = append(e.History, Op{Kind: ReleaseNodes, Name: "a", Job: "1.srv", Result: Done})
		}, "0 u and 0 c records"},
		"a phase of other vnodes": {PhasesFit, func(e *Evidence) {
			inLedgers(e, lastEnd, "11/21/2027 10:00:05;S;1.srv;exec_vnode=(a:ncpus=1)\n11/21/2027 10:00:05;E;1.srv;exec_vnode=(b:ncpus=1)\n", 7)
		}, "than the run began with"},
		"a suspended job runs": {StandStill, func(e *Evidence) {
			e.Stood = []Stood{{Job: "1.srv", Count: 1, Span: Span{From: e.Runs[0].Start, To: e.Runs[0].End}}}
		}, "suspended from"},
		"a run makes way twice for one job": {OneWay, func(e *Evidence) {
			e.Stood = []Stood{{Job: "1.srv", Count: 1, Way: Way{For: "2.srv"}}, {Job: "1.srv", Count: 1, Way: Way{For: "2.srv"}}}
		}, "again"},
		"a resumption of what runs": {TrueSuspensions, func(e *Evidence) { inLedgers(e, ";R;1.srv", ";r;1.srv", 7) }, "suspended or not already"},
		"two live runs":             {OneRunEach, func(e *Evidence) { e.Runs[0].End = e.Runs[1].Start + 1 }, "two live runs"},
		"a part of an earlier run": {OneRunEach, func(e *Evidence) {
			e.Runs = append(e.Runs, Run{Job: "1.srv", Count: 1, Host: "hostc", Start: e.Runs[0].Start, End: e.Runs[1].Start + 1, Part: true})
		}, "two live runs"},
		"a run that never ended":   {OneRunEach, func(e *Evidence) { e.Runs[0].End = Never }, "two live runs"},
		"one number for two runs":  {OneRunEach, func(e *Evidence) { e.Runs[1].Count = 1 }, "does not follow"},
		"a run without a requeue":  {OneRunEach, func(e *Evidence) { inLedgers(e, ";R;1.srv", ";a;1.srv", 7) }, "ran 2 times"},
		"a start that never was":   {OneRunEach, func(e *Evidence) { e.Runs = e.Runs[1:] }, "2 S records"},
		"two ends":                 {OneRunEach, func(e *Evidence) { inLedgers(e, lastEnd, lastEnd+lastEnd, 8) }, "2 E records"},
		"one submission, two jobs": {OneJobPerRequest, func(e *Evidence) { e.Replicas[2].Jobs[1].Name = "a" }, "2 times"},
		"altered by nobody":        {OneJobPerRequest, func(e *Evidence) { inLedgers(e, ";R;1.srv", ";a;1.srv", 7) }, "0 times at most"},
		"a rerun without effect": {TrueAnswers, func(e *Evidence) {
			e.History = append(e.History, Op{Kind: Rerun, Name: "a", Job: "1.srv", Result: Done})
			e.Replicas[0].Jobs = []Job{{"1.srv", "a", "F", 1}, {"2.srv", "b", "F", 0}}
		}, "has run 1 of it"},
		"states differ on the way":   {SameState, func(e *Evidence) { e.Views[1].Sum = 71 }, "at index 7"},
		"states differ at the end":   {SameState, func(e *Evidence) { e.Replicas[2].Sum = 6 }, "at the end"},
		"one stays behind":           {SameState, func(e *Evidence) { e.Replicas[2].Index = 19 }, "at the end"},
		"moves against the table":    {LegalMoves, func(e *Evidence) { e.Moves = append(e.Moves, Move{"s1", 0, 12, "1.srv", "R", 2}) }, "from F to R"},
		"the run count falls":        {LegalMoves, func(e *Evidence) { e.Moves[2].Run = 0 }, "fell from 1 to 0"},
		"started twice":              {LegalMoves, func(e *Evidence) { inLedgers(e, "R;1.srv", "S;1.srv", 7) }, `"S" after "S"`},
		"moved while it runs":        {LegalMoves, func(e *Evidence) { inLedgers(e, "R;1.srv", "M;1.srv", 7) }, `"M" after "S"`},
		"a phase without a start":    {LegalMoves, func(e *Evidence) { inLedgers(e, "S;1.srv", "u;1.srv", 7) }, `"u" after`},
		"ended before it began":      {LegalMoves, func(e *Evidence) { inLedgers(e, "Q;1.srv", "E;1.srv", 7) }, `"E" after ""`},
		"another job than told":      {TrueAnswers, func(e *Evidence) { e.Replicas[0].Jobs[0].Name = "z" }, "told that a is 1.srv"},
		"refused and done":           {TrueAnswers, func(e *Evidence) { e.Replicas[0].Jobs[1].Name = "c" }, "was refused"},
		"failed and done":            {TrueAnswers, func(e *Evidence) { e.History[6].Result = Failed; e.Replicas[0].Jobs[1].Name = "d" }, "was failed"},
		"deletion without effect":    {TrueAnswers, func(e *Evidence) { inLedgers(e, ";D;2.srv", ";a;2.srv", 7) }, "no D record"},
		"a job of nobody":            {TrueAnswers, func(e *Evidence) { e.Replicas[0].Jobs[1].Name = "q" }, "nobody submitted"},
		"a snapshot loses something": {SnapshotIsState, func(e *Evidence) { e.Replicas[1].Reread = 4 }, "from a snapshot"},
		"ledgers differ in one byte": {SameLedger, func(e *Evidence) {
			e.Replicas[1].Ledger = map[string][]byte{"20271121": []byte(strings.Replace(ledger, "ann", "Ann", 1))}
		}, "Ann"},
		"a ledger lacks a day": {SameLedger, func(e *Evidence) { e.Replicas[1].Ledger = nil }, "differ"},
		"a ledger has a day more": {SameLedger, func(e *Evidence) {
			e.Replicas[1].Ledger = map[string][]byte{"20271121": []byte(ledger), "20271122": nil}
		}, "has none"},
		"a record is missing":          {SameLedger, func(e *Evidence) { inLedgers(e, lastEnd, "", 7) }, "has 6 records"},
		"half a line":                  {SameLedger, func(e *Evidence) { inLedgers(e, lastEnd, "11/21/2027 10:0", 7) }, "has the line"},
		"a list misses an old job":     {Linearizable, func(e *Evidence) { delete(e.History[4].Seen, "a") }, "of a"},
		"a list does not see an ack":   {Linearizable, func(e *Evidence) { e.History[1].Seen = nil }, "of a"},
		"the dead come back":           {Linearizable, func(e *Evidence) { show(e, 7, "b", "R2") }, "of b"},
		"deleted and still queued":     {Linearizable, func(e *Evidence) { show(e, 4, "b", "Q0") }, "of b"},
		"refused and seen":             {Linearizable, func(e *Evidence) { show(e, 7, "c", "Q0") }, "of c"},
		"seen before it was asked":     {Linearizable, func(e *Evidence) { show(e, 1, "b", "Q0") }, "of b"},
		"refused to delete a live one": {Linearizable, func(e *Evidence) { e.History[3].Result = Refused; show(e, 4, "b", "Q0") }, "of b"},
	}
}

// Each law must reject the evidence in which it is broken, and say why.
func TestJudge_BrokenLaws(t *testing.T) {
	for name, test := range breaches() {
		t.Run(name, func(t *testing.T) {
			e := good()
			test.mend(e)
			v := Judge(e, []Law{test.law})
			if !strings.Contains(strings.Join(v.Broken, "\n"), test.want) {
				t.Errorf("broken: %v, want %q", v.Broken, test.want)
			}
		})
	}
}

// A law that has rejected nothing yet is not trusted.
func TestJudge_EveryLawHasABreach(t *testing.T) {
	judged := map[string]bool{}
	for _, b := range breaches() {
		judged[b.law.Name] = true
	}
	for _, law := range lawsOfDesign() {
		if !judged[law.Name] {
			t.Errorf("there is no evidence that breaks %q", law.Name)
		}
	}
}

// What a lost answer leaves open may turn out either way.
func TestLinearizable_UnknownOutcomes(t *testing.T) {
	for name, mend := range map[string]func(e *Evidence){
		"it took effect":     func(e *Evidence) { show(e, 7, "d", "Q0") },
		"it never did":       func(*Evidence) {},
		"a deletion did":     func(e *Evidence) { e.History[3].Result = Unknown },
		"a deletion did not": func(e *Evidence) { e.History[3].Result = Unknown; show(e, 4, "b", "R2"); show(e, 7, "b", "F2") },
		"a deletion was late": func(e *Evidence) {
			e.History[3].Result = Unknown
			show(e, 4, "b", "R2")
			show(e, 7, "b", "E2")
		},
		"a list got no answer": func(e *Evidence) { e.History[4].Result, e.History[4].Seen = Failed, nil },
	} {
		t.Run(name, func(t *testing.T) {
			e := good()
			mend(e)
			if v := Judge(e, []Law{Linearizable}); !v.Good() {
				t.Error(v.Broken)
			}
		})
	}
}

func TestBusy_QuietRunIsInconclusive(t *testing.T) {
	v := Judge(&Evidence{}, []Law{Busy})
	if v.Good() || len(v.Broken) > 0 || len(v.Inconclusive) < 4 {
		t.Errorf("%+v", v)
	}
}
