package state

import (
	"iter"
	"slices"
	"strconv"
	"time"

	"rampart/fsm/pbs"
)

// accountLife is how long the record of somebody who has no jobs is kept.
const accountLife = pbs.Time(48 * time.Hour)

// An Account is what the directory of users said of somebody who has submitted jobs. It counts
// while the directory does not answer.
type Account struct {
	Name   string   `cbor:"1,keyasint"`
	UID    uint32   `cbor:"2,keyasint,omitempty"`
	GID    uint32   `cbor:"3,keyasint,omitempty"`
	Home   string   `cbor:"4,keyasint,omitempty"`
	Shell  string   `cbor:"5,keyasint,omitempty"`
	Groups []string `cbor:"6,keyasint,omitempty"` // the primary one first
	GIDs   []uint32 `cbor:"7,keyasint,omitempty"` // in the same order
	Told   pbs.Time `cbor:"8,keyasint,omitempty"` // when the directory said so; 0: it has said nothing that counts
	// Forgotten is when an administrator had it forgotten: what anybody was told before does not count.
	Forgotten pbs.Time `cbor:"9,keyasint,omitempty"`
}

// Account returns the record of somebody.
func (t *tables) Account(name string) (*Account, bool) { return t.accounts.get(&Account{Name: name}) }

// Recall returns what the directory has said of somebody who is named, or has a uid in decimal.
// What was forgotten, or is of no use, is not there.
func (t *tables) Recall(key string) (*Account, bool) {
	a, ok := t.Account(key)
	if uid, err := strconv.ParseUint(key, 10, 32); err == nil {
		a, ok = nil, false
		for other := range t.Accounts() {
			if other.Told != 0 && other.UID == uint32(uid) {
				a, ok = other, true
				break
			}
		}
	}
	if !ok || a.Told == 0 || len(a.Groups) == 0 {
		return nil, false
	}
	return a, true
}

// Accounts yields the records by name.
func (t *tables) Accounts() iter.Seq[*Account] { return t.accounts.all() }

// OwnsJobs reports whether somebody has jobs that are not over.
func (t *tables) OwnsJobs(name string) bool {
	n, ok := t.namesakes.at(namesake{owner: name})
	return ok && n.owner == name
}

// KnowAccount keeps what the directory has said, unless it was to be forgotten since, or is known.
func (tx *Tx) KnowAccount(a *Account) {
	old, known := tx.Account(a.Name)
	if known && (a.Told <= old.Forgotten || a.Told <= old.Told) {
		return
	}
	next := *a
	if known {
		next.Forgotten = old.Forgotten
	} else {
		tx.expireAccounts()
	}
	tx.putAccount(&next)
}

// ForgetAccount has what is known of somebody count no more.
func (tx *Tx) ForgetAccount(name string) {
	tx.expireAccounts()
	tx.putAccount(&Account{Name: name, Forgotten: tx.Now()})
}

func (tx *Tx) putAccount(a *Account) {
	_, delta := tx.accounts.put(a)
	tx.digest += delta
}

// expireAccounts drops the records of those who have no jobs and were not heard of for long.
func (tx *Tx) expireAccounts() {
	var over []*Account
	for a := range tx.Accounts() {
		if max(a.Told, a.Forgotten)+accountLife < tx.Now() && !tx.OwnsJobs(a.Name) {
			over = append(over, a)
		}
	}
	for _, a := range over {
		_, delta := tx.accounts.remove(a)
		tx.digest += delta
	}
}

// SameAs reports whether two records say the same of an account, whenever they were made.
func (a *Account) SameAs(b *Account) bool {
	return a.Name == b.Name && a.UID == b.UID && a.GID == b.GID && a.Home == b.Home && a.Shell == b.Shell &&
		slices.Equal(a.Groups, b.Groups) && slices.Equal(a.GIDs, b.GIDs)
}
