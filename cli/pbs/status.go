package pbs

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"rampart/cli/render"
	"rampart/transport/api"
)

// A status is qstat's output in the making.
type status struct {
	s      *session
	view   view
	out    *bufio.Writer
	header *api.ListHeader

	table  *render.JobTable
	json   *render.JSON
	all    []*api.Object // queues and servers, jobs of -T; others are written as they come
	ending bool          // what is in all may be written
	headed bool          // the table's head is out, or not wanted any more
	sized  bool          // how wide its columns are is known
}

func newStatus(s *session, v view) *status {
	out := bufio.NewWriterSize(s.env.Stdout, 64<<10)
	st := &status{s: s, view: v, out: out, table: render.NewJobTable(out, v.wide)}
	if v.percent {
		st.table.Percent()
	}
	return st
}

func (st *status) begin(h *api.ListHeader) error {
	st.s.server = h.Server
	if st.header != nil {
		return nil
	}
	st.header = h
	if st.view.stale {
		st.tellAge(time.Duration(h.AgeMs) * time.Millisecond)
	}
	if st.view.format == "json" {
		st.json = render.NewJSON(st.out, st.section(), h, render.Dated(st.s.env.Zone))
	}
	return nil
}

// tellAge says what --stale costs, where no script reads it as a job.
func (st *status) tellAge(age time.Duration) {
	fmt.Fprintf(st.s.env.Stderr, "qstat: as known to a replica that heard of its leader %s ago\n", age)
}

func (st *status) section() string {
	switch st.view.kind {
	case api.ObjectKind_OBJECT_KIND_QUEUE:
		return "Queue"
	case api.ObjectKind_OBJECT_KIND_SERVER:
		return "Server"
	}
	return "Jobs"
}

// refused notes an error: PBS prints no head above rows that come after one.
func (st *status) refused() {
	_ = st.out.Flush() // so that output and errors keep their order on a terminal
	st.headed = true
}

func (st *status) object(o *api.Object) error {
	env := st.s.env
	switch {
	case st.json != nil:
		st.json.Object(o)
	case st.view.format == "dsv":
		render.Wide(st.out, st.head()+o.Name, o, st.view.delimiter, render.Dated(env.Zone))
	case st.view.long:
		render.Long(st.out, st.head()+o.Name, o, st.view.wide, env.Zone)
	case st.view.kind != api.ObjectKind_OBJECT_KIND_JOB:
		st.all = append(st.all, o)
	default:
		st.row(o)
	}
	return nil
}

// size asks, before the first job of a table, whether identifiers may be longer than usual. If nobody says it they are not.
func (st *status) size(ctx context.Context) {
	v := &st.view
	if st.sized || v.wide || v.long || v.kind != api.ObjectKind_OBJECT_KIND_JOB {
		return
	}
	st.sized = true
	if long, err := st.s.wideSequence(ctx, v.stale); err != nil || !long {
		return
	}
	st.table.LongIDs()
	if v.table != nil {
		v.table.LongIDs = true
	}
}

// row writes a job. Those of -T come last, when all are known.
func (st *status) row(o *api.Object) {
	table := st.view.table
	switch {
	case table == nil:
		if !st.headed {
			st.table.Head()
		}
		st.table.Row(o)
	case table.Start && !st.ending:
		st.all = append(st.all, o)
		return
	default:
		if !st.headed {
			table.Head(st.out, st.header.GetServer())
		}
		table.Row(st.out, o)
	}
	st.headed = true
}

func (st *status) head() string {
	if st.section() == "Jobs" {
		return "Job Id: "
	}
	return st.section() + ": "
}

// end completes the output. A document that broke off stays incomplete, so that
// nobody takes it for the whole.
func (st *status) end() error {
	switch {
	case st.json != nil:
		if err := st.json.End(); err != nil {
			return err
		}
	case st.view.limits:
		st.limits()
	case len(st.all) == 0:
	case st.view.table != nil:
		st.ending = true
		for _, o := range render.ByStart(st.all) {
			st.row(o)
		}
	case st.view.kind == api.ObjectKind_OBJECT_KIND_QUEUE:
		render.Queues(st.out, st.all)
	default:
		render.Servers(st.out, st.all)
	}
	return st.out.Flush()
}

// limits writes the table of -q, unless there is nobody to tell of.
func (st *status) limits() {
	if st.header == nil || len(st.all) == 0 && st.s.status != 0 {
		return
	}
	table := &render.Alternative{Unit: st.view.unit}
	table.QueueLimits(st.out, st.header.GetServer(), st.all)
}
