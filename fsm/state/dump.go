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
		section(&v.parts), section(&v.hooks), section(&v.hookFiles), section(&v.hookTasks), section(&v.mails), section(&v.shares),
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

// ErrUnknownSection means that a snapshot holds a table that this build does not know.
var ErrUnknownSection = errors.New("unknown section")

// Load reads one record of the table with the tag through decode.
func (l *Loader) Load(tag byte, decode func(rec any) error) error {
	load, ok := loaders[tag]
	if !ok {
		return fmt.Errorf("%w %d", ErrUnknownSection, tag)
	}
	return load(&l.tx, decode)
}

// ErrTwice means that two records of a table have the same key.
var ErrTwice = errors.New("a record is there twice")

// loaders puts the records of a section back, the indexes included.
var loaders = map[byte]func(tx *Tx, decode func(any) error) error{
	tagCluster: func(tx *Tx, decode func(any) error) error {
		c := tx.EditCluster()
		err := decode(c)
		tx.seal()
		return err
	},
	tagServer: func(tx *Tx, decode func(any) error) error { return load(decode, tx.PutServer) },
	1:         func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.queues, decode, nil) },
	2: func(tx *Tx, decode func(any) error) error {
		return reload(tx, &tx.vnodes, decode, func(v *Vnode) {
			tx.bySeq.move(nil, v, always)
			tx.byHost.move(nil, v, always)
			tx.sharers.move(nil, v, (*Vnode).anyIndirect)
		})
	},
	3: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.hosts, decode, nil) },
	4: func(tx *Tx, decode func(any) error) error {
		interned := func(rec any) error {
			err := decode(rec)
			tx.Intern(rec.(*Job))
			return err
		}
		return reload(tx, &tx.jobs, interned, func(j *Job) { tx.indexJob(nil, j) })
	},
	5: func(tx *Tx, decode func(any) error) error {
		interned := func(rec any) error {
			err := decode(rec)
			s := rec.(*Script)
			s.Body = tx.interner.body(s.Body)
			return err
		}
		return reload(tx, &tx.scripts, interned, nil)
	},
	6: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.orders, decode, nil) },
	7: func(tx *Tx, decode func(any) error) error {
		interned := func(rec any) error {
			err := decode(rec)
			r := rec.(*Request)
			r.Asker = tx.interner.user(r.Asker)
			return err
		}
		return reload(tx, &tx.requests, interned, func(r *Request) {
			tx.requestAge.move(nil, r, func(*Request) bool { return true })
		})
	},
	8: func(tx *Tx, decode func(any) error) error {
		return reload(tx, &tx.tombstones, decode, func(t *Tombstone) { tx.buried.set(t) })
	},
	9:  func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.tokens, decode, nil) },
	10: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.identities, decode, nil) },
	11: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.replicas, decode, nil) },
	12: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.resources, decode, nil) },
	13: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.hooks, decode, nil) },
	14: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.hookFiles, decode, nil) },
	15: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.hookTasks, decode, nil) },
	16: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.mails, decode, nil) },
	30: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.shares, decode, nil) },
	20: func(tx *Tx, decode func(any) error) error { return reload(tx, &tx.parts, decode, nil) },
}

func load[R any](decode func(any) error, put func(*R)) error {
	rec := new(R)
	if err := decode(rec); err != nil {
		return err
	}
	put(rec)
	return nil
}

// reload stores a record as it is: unlike a Put, it leaves its modified index alone. A second
// one with the same key is refused with ErrTwice: indexes would keep both.
func reload[R any](tx *Tx, t *table[R], decode func(any) error, index func(*R)) error {
	rec := new(R)
	if err := decode(rec); err != nil {
		return err
	}
	old, delta := t.put(rec)
	if old != nil {
		return ErrTwice
	}
	tx.digest += delta
	if index != nil {
		index(rec)
	}
	return nil
}

// Store returns the loaded state as of the given log entry, after all records were
// loaded. Sums of what runs need the resources, so the counts are made last.
func (l *Loader) Store(index, term uint64) *Store {
	for j := range l.tx.Jobs() {
		l.tx.countJob(j, true)
	}
	l.tx.limited = l.tx.limitedResources()
	l.tx.reclass()
	for j := range l.tx.Jobs() {
		l.tx.tally(nil, j)
	}
	s := &Store{cur: l.tx.tables, index: index, term: term}
	s.cur.disown()
	s.Publish()
	return s
}
