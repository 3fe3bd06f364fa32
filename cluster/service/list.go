package service

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"rampart/cluster"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/api"
)

const (
	// A message of a stream carries this many objects at most, and about this many
	// attribute values.
	objectsPerMessage = 1000
	valuesPerMessage  = 8000
	// viewFor bounds how long a slow reader keeps a view, and with it the records of
	// its moment, in memory. After that the listing goes on in a newer one.
	viewFor = 30 * time.Second
)

// A listing is one List call. Objects are read in pages, each from the view that
// the listing holds then; between two pages no reference to it is kept but that
// in held, which a timer lets go.
type listing struct {
	batch  *Batch
	ctx    context.Context
	req    *api.ListRequest
	send   func(*api.ListReply) error
	held   atomic.Pointer[state.View]
	fields fields
	where  []criterion
	me     person // its view is nil: a page puts in the one it reads
	sent   bool
	header *api.ListHeader
}

// List reads objects at any replica, served locally (L11).
func (b *Batch) List(ctx context.Context, r *connect.Request[api.ListRequest], stream *connect.ServerStream[api.ListReply]) error {
	if number, known := statusType(r.Msg); known {
		b.received(ctx, r.Peer(), number)
	}
	return b.listed(ctx, r.Msg, stream.Send)
}

// listed is list for a request of somebody's: the log tells once of what was not shown.
func (b *Batch) listed(ctx context.Context, r *api.ListRequest, send func(*api.ListReply) error) error {
	var refused error
	err := b.list(ctx, r, func(reply *api.ListReply) error {
		for _, o := range reply.GetObjects() {
			if why := o.GetRefusal(); refused == nil && why != nil {
				refused = pbs.Refuse(pbs.Code(why.GetCode()))
			}
		}
		return send(reply)
	})
	if number, known := statusType(r); known {
		b.rejectedAs(ctx, number, cmp.Or(err, refused))
	}
	return err
}

func (b *Batch) list(ctx context.Context, req *api.ListRequest, send func(*api.ListReply) error) error {
	l := &listing{batch: b, ctx: ctx, req: req, send: send}
	v, err := l.read()
	if err != nil {
		return err
	}
	if l.me, err = b.reader(ctx, v); err != nil {
		return err
	}
	l.me.view = nil
	kind, ok := kinds[req.GetKind()]
	if !ok {
		return pbs.Refuse(pbs.NotSupported)
	}
	if l.fields, err = newFields(kind.object, req.GetAttributes(), l.me.perm, v); err != nil {
		return err
	}
	if l.where, err = newCriteria(req.GetWhere(), l.me.user.Name, v); err != nil {
		return err
	}
	l.hold(v)
	defer l.held.Store(nil)
	return kind.list(l)
}

// read returns a view of the freshness that was asked for.
func (l *listing) read() (*state.View, error) {
	mode := cluster.Fresh
	if l.req.GetStale() {
		mode = cluster.Stale
	}
	v, err := l.batch.Replica.Read(l.ctx, mode)
	if err != nil {
		return nil, err
	}
	v = v.At(pbs.Time(time.Now().UnixNano()), nil)
	if l.header == nil {
		l.header = header(v)
		if l.req.GetStale() {
			l.header.AgeMs = l.batch.Replica.Age().Milliseconds()
		}
	}
	return v, nil
}

func header(v *state.View) *api.ListHeader {
	return &api.ListHeader{
		Server: v.Cluster().Name, Version: pbs.Version, Timestamp: time.Now().Unix(), Index: v.Index(),
	}
}

// hold keeps a view for the pages to come, for a while.
func (l *listing) hold(v *state.View) {
	l.held.Store(v)
	timer := time.AfterFunc(viewFor, func() { l.held.CompareAndSwap(v, nil) })
	context.AfterFunc(l.ctx, func() { timer.Stop() })
}

// view returns the view that is held, or a new one.
func (l *listing) view() (*state.View, error) {
	if v := l.held.Load(); v != nil {
		return v, nil
	}
	v, err := l.read()
	if err != nil {
		return nil, err
	}
	l.hold(v)
	return v, nil
}

// page sends the objects that fill puts in, and returns what fill returned: true
// when there is more.
func (l *listing) page(fill func(v *state.View, p *page) bool) (bool, error) {
	msg, more, err := l.fill(fill)
	if err != nil {
		return false, err
	}
	if len(msg.Objects) == 0 && l.sent {
		return more, nil
	}
	if !l.sent {
		msg.Header, l.sent = l.header, true
	}
	return more, l.send(msg)
}

// fill is apart from page so that the view is no longer referred to while the
// message is sent.
func (l *listing) fill(fill func(v *state.View, p *page) bool) (*api.ListReply, bool, error) {
	v, err := l.view()
	if err != nil {
		return nil, false, err
	}
	p := &page{fields: l.fields, me: l.me}
	p.me.view = v
	more := fill(v, p)
	return &api.ListReply{Objects: p.objects}, more, l.ctx.Err()
}

// once sends everything in one page: kinds of which there are few.
func (l *listing) once(fill func(v *state.View, p *page)) error {
	_, err := l.page(func(v *state.View, p *page) bool {
		fill(v, p)
		return false
	})
	return err
}

// A page is a message in the making.
type page struct {
	fields  fields
	me      person
	objects []*api.Object
	values  int
}

func (p *page) full() bool {
	return len(p.objects) >= objectsPerMessage || p.values >= valuesPerMessage
}

func (p *page) add(name string, attributes []*api.Attribute) {
	p.objects = append(p.objects, &api.Object{Name: name, Attributes: attributes})
	p.values += len(attributes)
}

func (p *page) refuse(name string, err error) {
	e := pbs.Refuse(pbs.CodeOf(err))
	p.objects = append(p.objects, &api.Object{Name: name, Refusal: &api.Refusal{Code: uint32(e.Code), Message: e.Message}})
}

// refuseWith is refuse with the words of the error.
func (p *page) refuseWith(name string, e *pbs.Error) {
	p.objects = append(p.objects, &api.Object{Name: name, Refusal: &api.Refusal{Code: uint32(e.Code), Message: e.Message}})
}

// kinds says how each kind of object is listed.
var kinds = map[api.ObjectKind]struct {
	object attr.Object
	list   func(l *listing) error
}{
	api.ObjectKind_OBJECT_KIND_SERVER:   {attr.Server, (*listing).servers},
	api.ObjectKind_OBJECT_KIND_QUEUE:    {attr.Queue, (*listing).queues},
	api.ObjectKind_OBJECT_KIND_VNODE:    {attr.Vnode, (*listing).vnodes},
	api.ObjectKind_OBJECT_KIND_HOST:     {attr.Vnode, (*listing).hosts},
	api.ObjectKind_OBJECT_KIND_JOB:      {attr.Job, (*listing).jobs},
	api.ObjectKind_OBJECT_KIND_RESOURCE: {attr.Resource, (*listing).resources},
	api.ObjectKind_OBJECT_KIND_SCHED:    {attr.Sched, (*listing).scheds},
	api.ObjectKind_OBJECT_KIND_SHARE:    {attr.Sched, (*listing).shares},
	api.ObjectKind_OBJECT_KIND_HOOK:     {attr.Hook, func(l *listing) error { return l.hooks(false) }},
	api.ObjectKind_OBJECT_KIND_PBSHOOK:  {attr.Hook, func(l *listing) error { return l.hooks(true) }},

	api.ObjectKind_OBJECT_KIND_RESERVATION: {attr.Reservation, (*listing).reservations},
}
