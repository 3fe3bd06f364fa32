package check

import (
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
)

// story is a history of one job, or of one queue, whose operations follow one another;
// one with a lost answer overlaps all that comes after it.
func story(ops ...Op) History {
	for i := range ops {
		ops[i].Start, ops[i].End = time.Duration(2*i)*time.Second, time.Duration(2*i+1)*time.Second
		if ops[i].Result == 0 {
			ops[i].Result = Done
		}
		if ops[i].Kind != LookQueues && ops[i].Kind != SetQueue {
			ops[i].Name, ops[i].Job = "a", "1.srv"
		}
	}
	return ops
}

func sight(state string, run uint32, holds, priority string) Op {
	return Op{Kind: Look, Seen: map[string]Seen{"a": {State: state, Run: run, Holds: holds, Priority: priority}}}
}

func refusal(k Kind, code pbs.Code) Op { return Op{Kind: k, Result: Refused, Code: code} }

func lost(o Op) Op { o.Result = Unknown; return o }

// What one server would never say must be rejected, what it might say must not.
func TestLinearizable_StoriesOfAJob(t *testing.T) {
	submit, held := Op{Kind: Submit, Value: "5"}, Op{Kind: Submit, Value: "5", Held: true}
	alter := Op{Kind: Alter, Value: "7"}
	hold, release, rerun, remove := Op{Kind: Hold}, Op{Kind: Release}, Op{Kind: Rerun}, Op{Kind: Delete}
	for name, s := range map[string]struct {
		ops  History
		good bool
	}{
		"a whole life":                   {story(submit, sight("Q", 0, "n", "5"), sight("R", 1, "n", "5"), sight("E", 1, "n", "5"), sight("F", 1, "n", "5")), true},
		"a hold is seen":                 {story(submit, hold, sight("H", 0, "u", "5"), release, sight("Q", 0, "n", "5")), true},
		"a hold is forgotten":            {story(submit, hold, sight("Q", 0, "n", "5")), false},
		"a held job starts":              {story(held, sight("R", 1, "u", "5")), false},
		"a held job has run":             {story(held, sight("H", 1, "u", "5")), false},
		"a held job ends by itself":      {story(held, sight("F", 0, "u", "5")), false},
		"it ran when it was held":        {story(submit, hold, sight("R", 1, "u", "5"), sight("H", 1, "u", "5")), true},
		"it waits and runs nevertheless": {story(submit, hold, sight("H", 0, "u", "5"), sight("R", 1, "u", "5")), false},
		"a release is seen":              {story(held, release, sight("R", 1, "n", "5")), true},
		"a release is forgotten":         {story(held, release, sight("H", 0, "u", "5")), false},
		"a release nobody asked for":     {story(held, sight("Q", 0, "n", "5")), false},
		"a release may have been":        {story(held, lost(release), sight("H", 0, "u", "5"), sight("R", 1, "n", "5")), true},
		"a release is taken back":        {story(held, lost(release), sight("Q", 0, "n", "5"), sight("H", 0, "u", "5")), false},
		"an alteration is seen":          {story(submit, alter, sight("Q", 0, "n", "7")), true},
		"an alteration is forgotten":     {story(submit, alter, sight("Q", 0, "n", "5")), false},
		"an alteration comes too early":  {story(submit, sight("Q", 0, "n", "7"), alter), false},
		"an alteration may have been":    {story(submit, lost(alter), sight("Q", 0, "n", "5"), sight("Q", 0, "n", "7")), true},
		"an alteration is taken back":    {story(submit, lost(alter), sight("Q", 0, "n", "7"), sight("Q", 0, "n", "5")), false},
		"not altered while it runs":      {story(submit, refusal(Alter, pbs.RunningAttribute), sight("R", 1, "n", "5")), true},
		"not altered while it waits":     {story(held, refusal(Alter, pbs.RunningAttribute)), false},
		"run again":                      {story(submit, sight("R", 1, "n", "5"), rerun, sight("E", 1, "n", "5"), sight("R", 2, "n", "5")), true},
		"run again while it waits":       {story(held, rerun), false},
		"run again while it is not":      {story(submit, refusal(Rerun, pbs.BadState)), true},
		"the run count falls":            {story(submit, sight("R", 2, "n", "5"), sight("R", 1, "n", "5")), false},
		"it runs without a number":       {story(submit, sight("R", 0, "n", "5")), false},
		"deleted and runs":               {story(submit, sight("R", 1, "n", "5"), remove, sight("R", 1, "n", "5")), false},
		"deleted and altered":            {story(submit, remove, alter), false},
		"deleted and held":               {story(submit, remove, hold, sight("E", 1, "u", "5"), sight("F", 1, "u", "5")), true},
		"deleted under a hold":           {story(held, remove, sight("E", 0, "u", "5")), false},
		"has finished":                   {story(submit, refusal(Hold, pbs.HasFinished), sight("F", 1, "n", "5")), true},
		"has finished, and waits":        {story(submit, refusal(Hold, pbs.HasFinished), sight("Q", 0, "n", "5")), false},
		"a held job has finished":        {story(held, refusal(Delete, pbs.HasFinished)), false},
		"nobody knows it":                {story(submit, refusal(Hold, pbs.UnknownJob)), false},
		"it is not shown":                {story(submit, Op{Kind: Look}), false},
		"it changes when it is over":     {story(submit, sight("F", 1, "n", "5"), alter), false},
		"a state that is none":           {story(submit, sight("X", 1, "n", "5")), false},
	} {
		t.Run(name, func(t *testing.T) { judgeStory(t, s.ops, s.good) })
	}
}

func TestLinearizable_StoriesOfAQueue(t *testing.T) {
	set := func(attr, value string) Op { return Op{Kind: SetQueue, Queue: "later", Attr: attr, Value: value} }
	look := func(on bool) Op {
		return Op{Kind: LookQueues, Queues: map[string]bool{"later enabled": on, "later started": on}}
	}
	submit := Op{Kind: Submit, Queue: "later"}
	closed := refusal(Submit, pbs.QueueDisabled)
	closed.Queue = "later"
	for name, s := range map[string]struct {
		ops  History
		good bool
	}{
		"closed and open":                 {story(set("enabled", "False"), look(false), closed, set("enabled", "True"), look(true), submit), true},
		"closed and takes a job":          {story(set("enabled", "False"), submit), false},
		"open and refuses":                {story(set("enabled", "True"), closed), false},
		"closed and shown open":           {story(set("enabled", "False"), look(true)), false},
		"it may be closed":                {story(lost(set("enabled", "False")), look(true), closed), true},
		"it was closed, and is not":       {story(lost(set("enabled", "False")), look(false), submit), false},
		"a stopped one takes jobs":        {story(set("started", "False"), submit, look(false)), true},
		"stopped and shown started":       {story(set("started", "False"), look(true)), false},
		"a manager is refused":            {story(Op{Kind: SetQueue, Queue: "later", Attr: "enabled", Value: "True", Result: Refused}), false},
		"refused for another reason":      {story(set("enabled", "True"), Op{Kind: Submit, Queue: "later", Result: Refused, Code: pbs.BadUser}), true},
		"whether it was closed is open":   {story(lost(set("enabled", "False")), Op{Kind: Submit, Queue: "later", Result: Unknown}, look(true)), true},
		"nobody can tell, nobody answers": {story(set("enabled", "False"), Op{Kind: LookQueues, Result: Unknown}), true},
	} {
		t.Run(name, func(t *testing.T) { judgeStory(t, s.ops, s.good) })
	}
}

func judgeStory(t *testing.T, ops History, good bool) {
	t.Helper()
	v := Judge(&Evidence{History: ops}, []Law{Linearizable})
	if v.Good() != good {
		t.Errorf("good: %t, want %t\n%s", v.Good(), good, strings.Join(v.Broken, "\n"))
	}
}
