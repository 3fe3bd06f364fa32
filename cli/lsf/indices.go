package lsf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rampart/fsm/pbs"
)

// mostSpread bounds how many indices of a list in any order are looked at one by one.
const mostSpread = 1 << 20

// parseIndexList reads the indices between the brackets of LSF, as in "7,1-3,10-20:2": in any order, and some of them twice.
func parseIndexList(list string) (pbs.Indices, bool) {
	list = strings.ReplaceAll(list, " ", "")
	if set, err := pbs.ParseIndices(list); err == nil {
		return set, !set.Has(0)
	}
	var all []uint32
	for item := range strings.SplitSeq(list, ",") {
		set, err := pbs.ParseIndices(item)
		if err != nil || len(all)+set.Count() > mostSpread {
			return nil, false
		}
		all = slices.AppendSeq(all, set.From(0))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return ranges(all), all[0] > 0
}

// ranges puts ascending indices together to ranges: two make one only if nothing lies between them.
func ranges(all []uint32) (set pbs.Indices) {
	for len(all) > 0 {
		n, step := 1, uint32(1)
		if len(all) > 2 && all[2]-all[1] == all[1]-all[0] || len(all) > 1 && all[1]-all[0] == 1 {
			step = all[1] - all[0]
			for n < len(all) && all[n]-all[n-1] == step {
				n++
			}
		}
		set = append(set, pbs.IndexRange{First: all[0], Last: all[n-1], Step: step})
		all = all[n:]
	}
	return set
}

// cutIndices cuts "[1-3,7]" off a name or a number. false: what stands in brackets is no list of indices.
func cutIndices(text string) (name string, set pbs.Indices, ok bool) {
	name, list, bracketed := strings.Cut(text, "[")
	list, closed := strings.CutSuffix(strings.TrimSpace(list), "]")
	switch {
	case !bracketed:
		return text, nil, true
	case !closed:
		return text, nil, false
	case list == "":
		return name, nil, true
	}
	set, ok = parseIndexList(list)
	return name, set, ok
}

// several reports whether an operand names jobs of an array by a list of their indices.
func several(operand string) bool {
	return strings.Contains(operand, "[") && strings.ContainsAny(operand, ",-")
}

// ofArray changes the jobs of an array that an operand names by their indices, each by itself, as LSF tells of them.
func ofArray(ctx context.Context, s *session, operand string, jobs []job, done string, change func(context.Context, job) error) error {
	_, missing, _ := cutIndices(operand)
	for _, j := range jobs {
		missing = missing.Minus(pbs.Indices{{First: j.index(), Last: j.index(), Step: 1}})
		if j.finished() {
			s.complain(fmt.Sprintf("Job <%s>: Job has already finished", j.id))
			continue
		}
		if err := s.change(ctx, j.id, done, func(ctx context.Context) error { return change(ctx, j) }); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		s.complain(fmt.Sprintf("Job <%s[%s]>: No matching job found", jobNumber(jobs[0].id[:strings.IndexByte(jobs[0].id, '[')]), missing))
	}
	return nil
}
