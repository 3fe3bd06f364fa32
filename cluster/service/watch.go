package service

import (
	"context"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport"
	"rampart/transport/api"
)

const (
	// watchPause lets changes gather: a busy cluster has thousands of entries a second.
	watchPause = 50 * time.Millisecond
	// watchBeat is how often a watcher hears how far it has come though nothing changed
	// for it, and how long a replica that is cut off may go on telling an old state.
	watchBeat = 5 * time.Second
)

// A watch is one Watch call. It keeps no view: each page is read from the newest one,
// in which what has changed since stands behind what was told.
type watch struct {
	replica Replica
	send    func(*api.WatchReply) error
	fields  fields
	me      person // its view is nil: a page puts in the one it reads
	first   *api.WatchReply

	at   uint64      // all changes of jobs up to here have been told
	gone uint64      // all deletions
	past uint64      // jobs that ended before are not told of
	left []pbs.JobID // of the jobs that were named

	blocks map[pbs.JobID]bool // of those, the ones for whose end their submitter waits: qsub -W block=true
	answer func(pbs.JobID)    // notes that he has been told of it
}

// Watch tells of jobs as they change (L11, design section 4).
func (b *Batch) Watch(ctx context.Context, r *connect.Request[api.WatchRequest], stream *connect.ServerStream[api.WatchReply]) error {
	return b.watch(ctx, r.Msg, stream.Send)
}

func (b *Batch) watch(ctx context.Context, req *api.WatchRequest, send func(*api.WatchReply) error) error {
	v, err := b.Replica.Read(ctx, cluster.Fresh)
	if err != nil {
		return err
	}
	w := &watch{replica: b.Replica, send: send, at: req.GetFrom(), gone: req.GetFrom(), blocks: map[pbs.JobID]bool{}}
	if w.me, err = b.reader(ctx, v); err != nil {
		return err
	}
	w.me.view = nil
	w.answer = func(id pbs.JobID) { b.answered(id, w.me.user.Host) }
	if w.fields, err = newFields(attr.Job, req.GetAttributes(), w.me.perm, v); err != nil {
		return err
	}
	w.first = &api.WatchReply{Header: header(v), Epoch: v.Cluster().Epoch}
	if w.at > 0 && (req.GetEpoch() != w.first.Epoch || w.at > v.Index() || !v.Remembers(w.at)) {
		w.first.Resync = true
		return send(w.first)
	}
	if w.at == 0 {
		w.gone = v.Index()
	}
	if w.at == 0 && !req.GetHistory() {
		w.past = v.Index()
	}
	if len(req.GetNames()) == 0 {
		return w.follow(ctx, w.tellAll)
	}
	w.resolve(v, req.GetNames())
	return w.follow(ctx, w.tellNamed)
}

// follow tells until there is nothing more to come.
func (w *watch) follow(ctx context.Context, tell func(ctx context.Context) (more bool, err error)) error {
	beat := time.NewTicker(watchBeat)
	defer beat.Stop()
	for {
		changed := w.replica.Changed()
		more, err := tell(ctx)
		if err != nil || !more {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-transport.Stopping(ctx):
			return cluster.ErrNotLeader // another replica goes on
		case <-changed:
		case <-beat.C:
			if err := w.beat(ctx); err != nil {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchPause):
		}
	}
}

// beat makes sure that this replica still hears the cluster, so that the watcher goes
// elsewhere if not, and tells how far it has come.
func (w *watch) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, watchBeat)
	defer cancel()
	if _, err := w.replica.Read(ctx, cluster.Fresh); err != nil {
		return err
	}
	return w.send(&api.WatchReply{Index: w.at})
}

// resolve reads the names of jobs; those that name none are refused in the first message.
func (w *watch) resolve(v *state.View, names []string) {
	refused := new(page)
	for _, name := range names {
		id, err := jobID(v, name)
		if err != nil {
			refused.refuse(name, err)
			continue
		}
		w.left = append(w.left, id)
	}
	w.first.Objects = refused.objects
}

// tellAll tells of every job that the caller may see.
func (w *watch) tellAll(ctx context.Context) (more bool, err error) {
	at := state.Job{Modified: w.at + 1}
	for {
		m, full, err := w.page(ctx, &at)
		if err != nil {
			return false, err
		}
		if err := w.tell(m); err != nil || m.Resync {
			return false, err
		}
		if !full {
			return true, ctx.Err()
		}
	}
}

// page tells of the jobs that follow at in the order of their changes, and moves it on. It
// is apart from tellAll so that the view is no longer referred to while the message is sent.
func (w *watch) page(ctx context.Context, at *state.Job) (m *api.WatchReply, full bool, err error) {
	v, err := w.replica.Read(ctx, cluster.Stale)
	if err != nil {
		return nil, false, err
	}
	if !v.Remembers(w.gone) { // the reader was too slow
		return &api.WatchReply{Resync: true}, false, nil
	}
	p := w.newPage(v)
	for j := range v.JobsChanged(at.Modified, at.Seq, at.Sub) {
		if full = p.full(); full {
			break
		}
		at.Modified, at.Seq, at.Sub = j.Modified, j.Seq, j.Sub+1
		if maySee(p.me, j) && !(j.State == pbs.Finished && j.Modified <= w.past) {
			p.add(string(j.ID), w.fields.ofJob(v, j))
		}
	}
	m = &api.WatchReply{Objects: p.objects}
	if !full {
		for g := range v.Tombstones(w.gone) {
			if maySee(p.me, &state.Job{Owner: g.Owner}) {
				m.Gone = append(m.Gone, gone(g))
			}
		}
		m.Index, w.at, w.gone = v.Index(), v.Index(), v.Index()
	}
	return m, full, nil
}

// tellNamed tells of the jobs that were asked for by name.
func (w *watch) tellNamed(ctx context.Context) (more bool, err error) {
	v, err := w.replica.Read(ctx, cluster.Stale)
	if err != nil {
		return false, err
	}
	p, m := w.newPage(v), new(api.WatchReply)
	left := w.left[:0]
	var over []pbs.JobID
	for _, id := range w.left {
		j, ok := v.Job(id)
		if _, buried := v.Tombstone(id); !ok && !buried {
			j, ok = v.Named(id) // a subjob without a record
		}
		if ok && blocks(j) && j.Owner == w.me.user {
			w.blocks[id] = true
		}
		if w.blocks[id] && (!ok || j.State == pbs.Finished) {
			over = append(over, id)
		}
		switch {
		case !ok:
			w.lost(v, p, m, id)
			continue
		case !maySee(p.me, j):
			p.refuse(string(id), pbs.Refuse(pbs.Unauthorized))
			continue
		case j.Modified > w.at:
			p.add(string(id), w.fields.ofJob(v, j))
		}
		if j.State != pbs.Finished {
			left = append(left, id)
		}
	}
	m.Objects, m.Index = p.objects, v.Index()
	w.left, w.at = left, v.Index()
	if err := w.tell(m); err != nil {
		return false, err
	}
	for _, id := range over {
		w.answer(id)
	}
	return len(left) > 0, nil
}

// blocks reports whether a job was submitted by a qsub that waits for its end.
func blocks(j *state.Job) bool {
	text, _ := j.Attrs.Get("block", "")
	return text == "True"
}

// answered tells in the log that a qsub that waited for the end of a job has been told of it.
func (b *Batch) answered(id pbs.JobID, client pbs.HostName) {
	b.jobLine(id, fmt.Sprintf("check_block_wt: Write successful to client %s for job %s", client, id))
}

// lost tells what became of a job that is not there.
func (w *watch) lost(v *state.View, p *page, m *api.WatchReply, id pbs.JobID) {
	g, ok := v.Tombstone(id)
	switch {
	case !ok:
		p.refuse(string(id), pbs.Refuse(pbs.UnknownJob))
	case !maySee(p.me, &state.Job{Owner: g.Owner}):
		p.refuse(string(id), pbs.Refuse(pbs.Unauthorized))
	default:
		m.Gone = append(m.Gone, gone(g))
	}
}

func gone(t *state.Tombstone) *api.Gone {
	return &api.Gone{Name: string(t.Job), Exited: t.HasExited, ExitStatus: t.ExitStatus, Index: t.Index, Finished: t.Finished}
}

func (w *watch) newPage(v *state.View) *page {
	p := &page{fields: w.fields, me: w.me}
	p.me.view = v
	return p
}

// tell sends a message if it says something; the first one always does.
func (w *watch) tell(m *api.WatchReply) error {
	if w.first != nil {
		m.Header, m.Epoch = w.first.Header, w.first.Epoch
		m.Objects = append(w.first.Objects, m.Objects...)
		w.first = nil
	} else if len(m.Objects)+len(m.Gone) == 0 && !m.Resync {
		return nil
	}
	return w.send(m)
}
