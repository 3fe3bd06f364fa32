package pbs

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"rampart/cli/render"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// watching is qstat --watch: the jobs as they are, then each as it changes.
type watching struct {
	s     *session
	out   *status
	known map[string]*api.Object
	fresh map[string]*api.Object // while the whole is told: what came of it so far; nil afterwards
}

// watchJobs shows jobs until those named are over, or the user has seen enough.
func (s *session) watchJobs(ctx context.Context, operands []string, out *status) error {
	w := &watching{s: s, out: out, known: map[string]*api.Object{}, fresh: map[string]*api.Object{}}
	r := &api.WatchRequest{History: out.view.history}
	if !out.view.long {
		r.Attributes = render.JobColumns
	}
	for _, operand := range operands {
		if _, err := pbs.ParseJobID(operand, "server"); err != nil {
			s.fail(err, nil)
			continue
		}
		r.Names = append(r.Names, operand)
	}
	if len(operands) > 0 && len(r.Names) == 0 {
		return s.end()
	}
	if len(r.Names) > 0 { // all are watched where the first one is
		if _, err := s.meanOf(r.Names[0]); err != nil {
			s.fail(err, nil)
			return s.end()
		}
	}
	var err error
	if r.GetHistory() {
		err = s.keepsHistory(ctx, false)
	}
	if err == nil {
		err = s.watch(ctx, r, false, func(m *api.WatchReply) (bool, error) { return false, w.take(ctx, m) })
	}
	if err != nil && ctx.Err() == nil {
		s.fail(err, nil)
	}
	return s.end()
}

func (w *watching) take(ctx context.Context, m *api.WatchReply) error {
	if m.Header != nil {
		if err := w.out.begin(m.Header); err != nil {
			return err
		}
	}
	if m.Resync {
		w.fresh = map[string]*api.Object{}
		return nil
	}
	if len(m.Objects) > 0 || len(m.Gone) > 0 {
		w.out.size(ctx)
	}
	for _, o := range m.Objects {
		switch {
		case o.Refusal != nil:
			w.out.refused()
			w.s.refuse(ctx, question{}, o.Name, refusal(o))
		case w.fresh != nil:
			w.fresh[o.Name] = o
		default:
			w.show(o)
		}
	}
	if w.fresh != nil && m.Index > 0 {
		w.whole()
	}
	for _, g := range m.Gone {
		if g.Finished {
			delete(w.known, g.Name)
			continue
		}
		w.over(g.Name)
	}
	return w.out.out.Flush()
}

// whole shows the jobs as they are, in the order of their numbers. Of those known from
// before a resync, what did not change is not repeated, and what is not there is over.
func (w *watching) whole() {
	all := w.fresh
	w.fresh = nil
	for _, name := range sorted(w.known) {
		switch {
		case all[name] != nil:
		case value(w.known[name], "job_state") == "F":
			delete(w.known, name)
		default:
			w.over(name)
		}
	}
	for _, name := range sorted(all) {
		if same(w.known[name], all[name]) {
			continue
		}
		w.show(all[name])
	}
}

func (w *watching) show(o *api.Object) {
	w.known[o.Name] = o
	_ = w.out.object(o) // it writes to a buffer
}

// over shows a job that is gone, as it was last, finished.
func (w *watching) over(name string) {
	last := &api.Object{Name: name}
	for _, a := range w.known[name].GetAttributes() { // none: it came and went between two looks
		if a.Name != "job_state" {
			last.Attributes = append(last.Attributes, a)
		}
	}
	last.Attributes = append(last.Attributes, &api.Attribute{Name: "job_state", Value: "F"})
	w.show(last)
	delete(w.known, name)
}

func same(a, b *api.Object) bool {
	return a != nil && slices.EqualFunc(a.Attributes, b.Attributes, func(x, y *api.Attribute) bool {
		return x.Name == y.Name && x.Resource == y.Resource && x.Value == y.Value
	})
}

func sorted(objects map[string]*api.Object) []string {
	return slices.SortedFunc(maps.Keys(objects), func(a, b string) int {
		return cmp.Or(cmp.Compare(pbs.JobID(a).Seq(), pbs.JobID(b).Seq()), cmp.Compare(pbs.JobID(a).Sub(), pbs.JobID(b).Sub()), cmp.Compare(a, b))
	})
}
