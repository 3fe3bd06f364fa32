package ledger

import (
	"bytes"
	"errors"
	"io/fs"
)

// A replay compares records that come again with the files. They come in the
// order of the log, so that the next is mostly the one after the last.
type replay struct {
	day  string
	scan *scan
	at   int64 // the slot after the last
}

// has reports whether the record is in its day's file as it should be.
func (p *replay) has(dir string, r Record) (bool, error) {
	if p.scan == nil || p.day != r.Day {
		p.close()
		s, err := openScan(dir, r.Day, nil)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		p.day, p.scan, p.at = r.Day, s, 0
	}
	slots := p.scan.rest / slotSize
	if p.at < slots {
		sl, err := slotAt(p.scan.index, p.at)
		if err != nil {
			return false, err
		}
		if sl.number == r.Number {
			return p.equals(sl, r)
		}
	}
	at, err := search(p.scan.index, slots, r.Number)
	if err != nil || at == slots {
		return false, err
	}
	p.at = at
	sl, err := slotAt(p.scan.index, at)
	if err != nil || sl.number != r.Number {
		return false, err
	}
	return p.equals(sl, r)
}

func (p *replay) equals(sl slot, r Record) (bool, error) {
	p.at++
	ok, err := p.scan.isAt(sl, sl.offset)
	return ok && bytes.Equal(p.scan.line, r.Line), err
}

func (p *replay) close() {
	if p.scan != nil {
		_ = p.scan.close() // it was only read
		p.scan = nil
	}
}

// offer keeps a record of the log for mending.
func (w *writer) offer(r Record) error {
	if w.offers == nil {
		w.offers = newSpool(w.ledger.spoolDir())
	}
	if k := len(w.offers.got) - 1; k >= 0 && w.offers.got[k].last >= r.Number {
		return nil // it came before
	}
	w.ledger.suspect(r.Day)
	return w.offers.add(r)
}

// takeOffers closes the spool of what the log gave again, and returns its folder.
func (w *writer) takeOffers() (dir string, err error) {
	if w.offers == nil {
		return "", nil
	}
	s := w.offers
	w.offers = nil
	if err := s.close(); err != nil {
		return "", err
	}
	w.offered = s.got
	return s.dir, nil
}
