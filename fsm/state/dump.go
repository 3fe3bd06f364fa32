package state

import (
	"errors"
	"fmt"
	"iter"
)

// A Section is one table as a snapshot carries it: its tag, the number of its
// records, and the records sorted by key.
type Section struct {
	Tag     byte
	Count   int
	Records iter.Seq[any]
}

// Sections returns the whole state, in an order that is the same on every replica.
func (v *View) Sections() []Section {
	return []Section{
		one(tagCluster, v.cluster), one(tagServer, v.server),
		section(&v.queues), section(&v.vnodes), section(&v.hosts), section(&v.jobs), section(&v.scripts),
		section(&v.orders), section(&v.requests), section(&v.tombstones), section(&v.tokens),
		section(&v.identities), section(&v.replicas), section(&v.resources),
		section(&v.parts), section(&v.hooks), section(&v.hookFiles), section(&v.hookTasks), section(&v.mails), section(&v.shares), section(&v.accounts), section(&v.reservations), section(&v.lsf),
	}
}

func one(tag byte, rec any) Section {
	return Section{Tag: tag, Count: 1, Records: func(yield func(any) bool) { yield(rec) }}
}

func section[R any](t *table[R]) Section {
	return Section{Tag: t.tag, Count: t.count(), Records: func(yield func(any) bool) {
		for r := range t.all() {
			if !yield(r) {
				return
			}
		}
	}}
}

// A Loader builds a store from the records of a snapshot.
type Loader struct{ tx Tx }

// NewLoader returns a loader of an empty store.
func NewLoader() *Loader { return &Loader{tx: Tx{tables: newTables()}} }

var (
	// ErrUnknownSection means that a snapshot holds a table that this build does not know.
	ErrUnknownSection = errors.New("unknown section")

	// ErrTwice means that two records of a table have the same key.
	ErrTwice = errors.New("a record is there twice")
)

// Loaded is a record that was read and is in no store yet.
type Loaded func(tx *Tx) error

// Decode reads one record of the table with the tag through decode. It may run beside Put.
func Decode(tag byte, decode func(rec any) error) (Loaded, error) {
	load, ok := loaders[tag]
	if !ok {
		return nil, fmt.Errorf("%w %d", ErrUnknownSection, tag)
	}
	return load(decode)
}

// Put puts a record into the store, the indexes included. A second one with the same key is
// refused with ErrTwice: indexes would keep both.
func (l *Loader) Put(rec Loaded) error { return rec(&l.tx) }

// loaders reads a record of each section. Equal texts of jobs, scripts and requests are kept
// once.
var loaders = map[byte]func(decode func(any) error) (Loaded, error){
	tagCluster: single(func(tx *Tx, c *Cluster) {
		*tx.EditCluster() = *c
		tx.seal()
	}),
	tagServer: single((*Tx).PutServer),
	1:         rows(func(tx *Tx) *table[Queue] { return &tx.queues }, nil, nil),
	2:         rows(func(tx *Tx) *table[Vnode] { return &tx.vnodes }, nil, func(tx *Tx, v *Vnode) { tx.indexVnode(nil, v) }),
	3:         rows(func(tx *Tx) *table[Host] { return &tx.hosts }, nil, nil),
	4:         rows(func(tx *Tx) *table[Job] { return &tx.jobs }, (*Tx).Intern, func(tx *Tx, j *Job) { tx.indexJob(nil, j) }),
	5: rows(func(tx *Tx) *table[Script] { return &tx.scripts },
		func(tx *Tx, s *Script) { s.Body = tx.interner.body(s.Body) },
		func(tx *Tx, s *Script) { tx.blobs.move(nil, s, isBlob) }),
	6: rows(func(tx *Tx) *table[Order] { return &tx.orders }, nil, nil),
	7: rows(func(tx *Tx) *table[Request] { return &tx.requests },
		func(tx *Tx, r *Request) { r.Asker = tx.interner.user(r.Asker) },
		func(tx *Tx, r *Request) { tx.requestAge.move(nil, r, func(*Request) bool { return true }) }),
	8:  rows(func(tx *Tx) *table[Tombstone] { return &tx.tombstones }, nil, func(tx *Tx, t *Tombstone) { tx.buried.set(t) }),
	9:  rows(func(tx *Tx) *table[Token] { return &tx.tokens }, nil, nil),
	10: rows(func(tx *Tx) *table[Identity] { return &tx.identities }, nil, nil),
	11: rows(func(tx *Tx) *table[Replica] { return &tx.replicas }, nil, nil),
	12: rows(func(tx *Tx) *table[ResourceDef] { return &tx.resources }, nil, nil),
	13: rows(func(tx *Tx) *table[Hook] { return &tx.hooks }, nil, nil),
	14: rows(func(tx *Tx) *table[HookFile] { return &tx.hookFiles }, nil, nil),
	15: rows(func(tx *Tx) *table[HookTask] { return &tx.hookTasks }, nil,
		func(tx *Tx, t *HookTask) { tx.unseen.move(nil, t, (*HookTask).ofNewJob) }),
	16: rows(func(tx *Tx) *table[Mail] { return &tx.mails }, nil, nil),
	20: rows(func(tx *Tx) *table[Part] { return &tx.parts }, nil, nil),
	30: rows(func(tx *Tx) *table[Share] { return &tx.shares }, nil, nil),
	31: rows(func(tx *Tx) *table[Account] { return &tx.accounts }, nil, nil),
	32: rows(func(tx *Tx) *table[Reservation] { return &tx.reservations }, func(_ *Tx, r *Reservation) { r.share() }, nil), // what they promise: see Store
	33: rows(func(tx *Tx) *table[LSF] { return &tx.lsf }, nil, nil),
}

// single loads a record of which there is one.
func single[R any](put func(*Tx, *R)) func(func(any) error) (Loaded, error) {
	return func(decode func(any) error) (Loaded, error) {
		rec := new(R)
		return func(tx *Tx) error {
			put(tx, rec)
			return nil
		}, decode(rec)
	}
}

// rows loads records of a table as they are: unlike a Put of a transaction, it leaves their
// modified index alone.
func rows[R any](of func(*Tx) *table[R], share, index func(*Tx, *R)) func(func(any) error) (Loaded, error) {
	return func(decode func(any) error) (Loaded, error) {
		rec := new(R)
		return func(tx *Tx) error {
			if share != nil {
				share(tx, rec)
			}
			old, delta := of(tx).put(rec)
			if old != nil {
				return ErrTwice
			}
			tx.digest += delta
			if index != nil {
				index(tx, rec)
			}
			return nil
		}, decode(rec)
	}
}

// Store returns the loaded state as of the given log entry, after all records were
// loaded. Sums of what runs need the resources, so the counts are made last.
func (l *Loader) Store(index, term uint64) *Store {
	for j := range l.tx.Jobs() {
		l.tx.countJob(j, true)
	}
	for r := range l.tx.Reservations() {
		l.tx.indexReservation(nil, r)
	}
	l.tx.limited = l.tx.limitedResources()
	l.tx.repart()
	l.tx.reclass()
	for j := range l.tx.Jobs() {
		l.tx.tally(nil, j)
	}
	s := &Store{cur: l.tx.tables, index: index, term: term}
	s.cur.disown()
	s.Publish()
	return s
}
