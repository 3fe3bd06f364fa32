package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A mender verifies the files beside the writer and makes them whole again. It
// reads every file once at start and each once more when it is finished. What it
// finds missing it collects in a folder of its own; the writer puts the files that
// are made of it into their places.
type mender struct {
	ledger *Ledger
	days   map[string]checked
	pace   pace
	lost   numbers
	kept   uint64          // nothing below is missed
	told   map[string]bool // damaged files that were warned of

	spools []string  // folders of records that were fetched
	wanted uint64    // records still missing after the last try
	since  time.Time // when they were seen, or last became fewer
	wait   time.Duration
}

// checked is what verifying a day file found.
type checked struct {
	whole       numbers
	clean       bool
	data, index os.FileInfo // nil if there is none, or it was being written
}

// mendRetry is the longest pause between two tries to fetch what is missing.
const mendRetry = time.Minute

func (m *mender) run(ctx context.Context) {
	m.days, m.told = map[string]checked{}, map[string]bool{}
	for ctx.Err() == nil {
		again, err := m.round(ctx)
		if err != nil && ctx.Err() == nil {
			m.ledger.opts.Logger.Error("mend the accounting files", "error", err)
			again = true
		}
		if !again {
			m.wait = 0
			select {
			case <-ctx.Done():
			case <-m.ledger.suspicion:
			}
			continue
		}
		m.wait = min(max(2*m.wait, retryAfter), mendRetry)
		select {
		case <-ctx.Done():
		case <-time.After(m.wait):
		}
	}
}

// round verifies what has changed, fetches what is missing, and mends the files
// when all of it is here. It asks to be called again as long as that is not so.
func (m *mender) round(ctx context.Context) (again bool, err error) {
	var limit uint64
	var writing string
	err = m.ledger.do(ctx, func(w *writer) error {
		if err := w.open(); err != nil {
			return err
		}
		limit = w.book.next - 1
		if w.book.open != nil {
			writing = w.book.open.day
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if m.lost, err = readLost(m.ledger.opts.Dir); err != nil {
		return false, err
	}
	if m.kept, err = readKept(m.ledger.opts.Dir); err != nil {
		return false, err
	}
	if err := m.verify(ctx, writing, limit); err != nil {
		return false, err
	}
	missing := m.missing(limit)
	if len(missing) > 0 {
		if missing, err = m.collect(ctx, missing); err != nil {
			return false, err
		}
	}
	if len(missing) > 0 {
		return true, nil
	}
	return false, m.mend(ctx, limit)
}

// missing returns the numbers up to limit that are in no file and not lost.
func (m *mender) missing(limit uint64) numbers {
	if limit < m.kept {
		return nil
	}
	missing := numbers{{m.kept, limit}}.without(m.lost)
	for _, c := range m.days {
		missing = missing.without(c.whole)
	}
	return missing
}

// verify reads the files that are not known yet or have changed.
func (m *mender) verify(ctx context.Context, writing string, limit uint64) error {
	dir := m.ledger.opts.Dir
	days, err := sidecars(dir)
	if err != nil {
		return err
	}
	suspects := m.ledger.takeSuspects()
	seen := map[string]bool{}
	for _, day := range days {
		seen[day] = true
		old, known := m.days[day]
		data, index := stat(filepath.Join(dir, day)), stat(filepath.Join(dir, indexName(day)))
		if known && same(old.data, data) && same(old.index, index) && (!suspects[day] || !old.clean) {
			continue
		}
		to := uint64(everything)
		if day == writing {
			to = limit
		}
		c, err := check(ctx, dir, day, to, &m.pace)
		if err != nil {
			return err
		}
		if day != writing { // the next round reads on in that one
			c.data, c.index = data, index
		}
		m.days[day] = c
		m.warn(day, c)
	}
	for day := range m.days {
		if !seen[day] {
			delete(m.days, day)
		}
	}
	return nil
}

// check reads one day file through.
func check(ctx context.Context, dir, day string, limit uint64, p *pace) (checked, error) {
	s, err := openScan(dir, day, p)
	if err != nil {
		return checked{}, err
	}
	defer s.close()
	var c checked
	for f, err := range s.records(ctx, limit) {
		if err != nil {
			return checked{}, fmt.Errorf("verify accounting file %s: %w", day, err)
		}
		c.whole = c.whole.with(f.number)
	}
	c.clean = s.clean
	return c, nil
}

func (m *mender) warn(day string, c checked) {
	if c.clean {
		delete(m.told, day)
	} else if !m.told[day] {
		m.told[day] = true
		m.ledger.alarm("accounting file "+day+" is damaged", "file", filepath.Join(m.ledger.opts.Dir, day))
	}
}

// collect fetches missing records and returns those that are still missing. Those
// that no replica has are said once and noted.
func (m *mender) collect(ctx context.Context, missing numbers) (numbers, error) {
	left := missing
	for _, dir := range m.spools {
		has, err := held(ctx, dir)
		if err != nil {
			return nil, err
		}
		left = left.without(has)
	}
	if n := left.count(); n != m.wanted || n == 0 {
		m.wanted, m.since = n, time.Now()
		if len(left.without(m.ledger.oldElsewhere())) > 0 {
			m.ledger.alarm("accounting records are missing and are fetched from the other replicas", "records", left.String())
		}
	}
	left, all, err := m.fetch(ctx, left)
	if err != nil || len(left) == 0 {
		return left, err
	}
	if left, err = m.removedElsewhere(left, all); err != nil || len(left) == 0 {
		return left, err
	}
	if n := left.count(); n != m.wanted {
		m.wanted, m.since = n, time.Now()
	}
	if !all || time.Since(m.since) < patienceAlone {
		return left, nil
	}
	if err := noteLost(m.ledger.opts.Dir, left); err != nil {
		return nil, err
	}
	m.lost = m.lost.plus(left)
	m.ledger.alarm("accounting records exist on no replica any more", "records", left.String())
	return nil, nil
}

// removedElsewhere gives up what every peer was asked for and one has removed as old.
func (m *mender) removedElsewhere(missing numbers, all bool) (left numbers, err error) {
	left = missing.without(m.ledger.oldElsewhere())
	if !all {
		return missing, nil
	}
	gone := missing.without(left)
	if len(gone) == 0 {
		return missing, nil
	}
	if err := noteLost(m.ledger.opts.Dir, gone); err != nil {
		return nil, err
	}
	m.lost = m.lost.plus(gone)
	m.ledger.opts.Logger.Info("old accounting records are kept on no replica any more", "records", gone.String())
	return left, nil
}

// fetch asks the log's replay first, and then every peer, for what is missing; all
// says that each of them answered.
func (m *mender) fetch(ctx context.Context, missing numbers) (left numbers, all bool, err error) {
	left, all = missing, true
	err = m.ledger.do(ctx, func(w *writer) error {
		dir, err := w.takeOffers()
		if dir != "" {
			m.spools = append(m.spools, dir)
			left = left.without(w.offered)
			w.offered = nil
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	for _, p := range m.ledger.opts.Peers() {
		if len(left) == 0 {
			break
		}
		got, err := m.fetchFrom(ctx, p, left)
		left = left.without(got)
		if errors.Is(err, errPeer) {
			all = false
			m.ledger.opts.Logger.Warn("fetch missing accounting records", "peer", p.Name(), "error", err)
		} else if err != nil {
			return nil, false, err
		}
	}
	return left, all, nil
}

// fetchFrom puts what a peer has of the missing records into a new spool.
func (m *mender) fetchFrom(ctx context.Context, p Peer, missing numbers) (got numbers, err error) {
	s := newSpool(m.ledger.spoolDir())
	for _, r := range missing {
		if err = m.ledger.ask(ctx, p, r.first, r.last, s.add); err != nil {
			break
		}
	}
	if flushed := s.close(); flushed != nil {
		return nil, flushed
	}
	if len(s.got) > 0 {
		m.spools = append(m.spools, s.dir)
	}
	return s.got, err
}

// held returns the numbers of a spool.
func held(ctx context.Context, dir string) (numbers, error) {
	days, err := sidecars(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all numbers
	for _, day := range days {
		c, err := check(ctx, dir, day, everything, nil)
		if err != nil {
			return nil, err
		}
		all = all.plus(c.whole)
	}
	return all, nil
}

func stat(path string) os.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
