package state

// Anew replaces what a snapshot brings back: build gets a transaction in which server,
// queues, vnodes, jobs, scripts, hooks, custom resources, orders and tombstones are gone, and the
// rest is as it was. When it fails nothing has happened. What is there is only read
// meanwhile, and not by build's transaction.
func (tx *Tx) Anew(build func(next *Tx) error) error {
	undo := tx.undo
	undo.on = false // all trees of next are its own, and thrown away if it fails
	defer func() { undo.on = true }()
	next := tx.emptied()
	if err := build(next); err != nil {
		return err
	}
	tx.tables, tx.ownCluster = next.tables, next.ownCluster
	tx.events = append(tx.events, next.events...)
	return nil
}

// emptied returns a transaction on the tables that no snapshot brings back.
func (tx *Tx) emptied() *Tx {
	t := newTablesUnder(tx.undo)
	t.cluster, t.sums.cluster = tx.cluster, tx.sums.cluster
	t.hosts, t.requests, t.requestAge = tx.hosts, tx.requests, tx.requestAge
	t.tokens, t.identities, t.replicas = tx.tokens, tx.identities, tx.replicas
	t.mails, t.hookTasks, t.unseen, t.accounts = tx.mails, tx.hookTasks, tx.unseen, tx.accounts
	t.disown()
	t.digest = t.sums.cluster + t.sums.server
	t.digest += t.hosts.sum() + t.requests.sum() + t.tokens.sum() + t.identities.sum() + t.replicas.sum()
	t.digest += t.mails.sum() + t.hookTasks.sum() + t.accounts.sum()
	return &Tx{tables: t, index: tx.index}
}

// sum returns what the records add to the digest.
func (t *table[R]) sum() uint64 {
	var sum uint64
	for r := range t.tree.all() {
		sum += r.sum
	}
	return sum
}

// KeepJob stores a job as it is, but for the index of its last change.
func (tx *Tx) KeepJob(j *Job) {
	next := *j
	next.Modified = tx.index
	old, delta := tx.jobs.put(&next)
	tx.digest += delta
	tx.reindexJob(old, &next)
}

// Silently does what accounting, logs, hooks and people have been told already, or must not
// be told.
func (tx *Tx) Silently(do func() error) error {
	events, last, seq := len(tx.events), tx.cluster.LastRecord, tx.cluster.NextSeq
	err := do()
	for m := range tx.mails.from(&Mail{Seq: seq + 1}) {
		tx.DeleteMail(m.Seq)
	}
	for t := range tx.hookTasks.from(&HookTask{Seq: seq + 1}) {
		tx.DeleteHookTask(t.Seq)
	}
	tx.events = tx.events[:events]
	if tx.cluster.LastRecord != last {
		tx.EditCluster().LastRecord = last
	}
	return err
}
