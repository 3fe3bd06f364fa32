package lsf

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"rampart/fsm/lsf"
	"rampart/transport/api"
)

// conditions are the words of bsub -w and what they are in -W depend=.
var conditions = []struct{ lsf, pbs string }{
	{"done", "afterok"}, {"exit", "afternotok"}, {"ended", "afterany"}, {"started", "after"},
}

// errCondition is LSF's answer to a condition that means nothing.
const errCondition = rejected("Dependency condition invalid or never satisfied")

// depend turns a condition of bsub -w into dependencies. Only those that must all be met can be said.
func (s *session) depend(ctx context.Context, text string) (string, error) {
	if strings.Contains(text, "||") || strings.ContainsAny(text, "!<>=,") {
		return "", rejected("option -w: only done(), exit(), ended() and started(), joined by &&, are supported")
	}
	var all []string
	for part := range strings.SplitSeq(text, "&&") {
		kind, jobs, err := s.condition(ctx, strings.TrimSpace(part))
		if err != nil {
			return "", err
		}
		all = append(all, kind+":"+strings.Join(jobs, ":"))
	}
	return strings.Join(all, ","), nil
}

// condition reads one: word(job), or a job alone, which is to be done.
func (s *session) condition(ctx context.Context, text string) (kind string, jobs []string, err error) {
	word, what := "done", text
	if i := strings.IndexByte(text, '('); i > 0 && strings.HasSuffix(text, ")") {
		word, what = strings.TrimSpace(text[:i]), text[i+1:len(text)-1]
	}
	for _, c := range conditions {
		if c.lsf == word {
			kind = c.pbs
		}
	}
	what = strings.Trim(strings.TrimSpace(what), `"'`)
	if kind == "" || what == "" || strings.ContainsAny(what, "()\"'") {
		return "", nil, errCondition
	}
	id, _, _ := strings.Cut(what, "[")
	if _, err := strconv.ParseUint(id, 10, 63); err == nil {
		what, err = s.whole(ctx, what)
		return kind, []string{what}, err
	}
	jobs, err = s.jobsNamed(ctx, what)
	return kind, jobs, err
}

// whole returns the id under which the server has a job: of an array with its brackets.
func (s *session) whole(ctx context.Context, id string) (string, error) {
	if strings.Contains(id, "[") {
		return id, nil
	}
	found := ""
	_, err := s.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: names(id), Attributes: []string{"job_state"}, History: true,
	}, func(o *api.Object) error {
		if o.Refusal == nil {
			found = o.Name
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if found == "" {
		return "", rejected(fmt.Sprintf("Job <%s> is not found", id))
	}
	found, _, _ = strings.Cut(found, ".")
	return found, nil
}

// jobsNamed returns the newest of one's jobs with a name.
func (s *session) jobsNamed(ctx context.Context, name string) ([]string, error) {
	newest := ""
	_, err := s.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"Job_Name"}, History: true,
		Where: []*api.Criterion{{Name: "Job_Owner"}, {Name: "Job_Name", Value: name}},
	}, func(o *api.Object) error {
		newest, _, _ = strings.Cut(o.Name, ".")
		return nil
	})
	if err != nil {
		return nil, err
	}
	if newest == "" {
		return nil, rejected(fmt.Sprintf("%s: No matching job found", name))
	}
	return []string{newest}, nil
}

// dependShown turns dependencies into LSF's words. Those of which LSF has none stay as they are.
func dependShown(text string) string {
	if text == "" {
		return ""
	}
	var all []string
	for item := range strings.SplitSeq(text, ",") {
		kind, jobs, _ := strings.Cut(item, ":")
		word := ""
		for _, c := range conditions {
			if c.pbs == kind {
				word = c.lsf
			}
		}
		if word == "" {
			if !strings.HasPrefix(kind, "before") { // what waits for this job is no condition of it
				all = append(all, item)
			}
			continue
		}
		for id := range strings.SplitSeq(jobs, ":") {
			all = append(all, word+"("+jobNumber(id)+")")
		}
	}
	return strings.Join(all, " && ")
}

// anyHost is the requirement of jobs that have said none.
const anyHost = "select[type==any]"

// unfinished are the states of jobs that are not over.
var unfinished = []string{lsf.Pending, lsf.HeldPending, lsf.Running, lsf.UserSuspended, lsf.SysSuspended}
