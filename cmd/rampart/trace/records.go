package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"rampart/fsm/pbs"
)

// A records reads the accounting files of a PBS. A job is there as a whole when its end was read, so those that were queued after
// it wait until then.
type records struct {
	in       *input
	troubles *Troubles
	window   []*recorded // by the time at which they were queued
	of       map[string]*recorded
	begin    pbs.Time
	held     *Job
	ended    bool            // all is read
	yielded  pbs.Time        // when the last one was queued that was yielded
	latest   pbs.Time        // the last record
	starting bool            // it is of a start
	ahead    int64           // seconds by which the clock of the records is ahead of UTC
	most     int             // jobs that are kept at once
	early    map[string]bool // jobs that were yielded before their end was read
}

// mostKept is how many jobs are kept that were queued behind one whose end was not read yet.
const mostKept = 250_000

// A recorded is a job of which not everything was read yet.
type recorded struct {
	job       *Job
	began     pbs.Time // its present run; 0: it waits
	suspended bool
	runs      int
	whole     bool
	dropped   bool // it cannot be replayed
	displaced bool // it waits behind so many that it is not among them any more
}

// Times are recorded in seconds, but in the order in which things happened: records of the same second follow each other. What starts
// was planned a moment after whatever came before it.
const (
	follows = pbs.Time(time.Millisecond)
	behind  = pbs.Time(10 * time.Millisecond) // of what comes when something has started: it was not planned with it
)

var dayFile = regexp.MustCompile(`^[0-9]{8}(\.gz)?$`)

// openRecords reads accounting files, and keeps so many jobs at most.
func openRecords(in *input, troubles *Troubles, most int) (*records, error) {
	r := &records{in: in, troubles: troubles, of: map[string]*recorded{}, most: most, early: map[string]bool{}}
	var err error
	if r.held, err = r.next(); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, in.close())
	}
	if r.held != nil {
		r.begin = r.held.Submit
	}
	return r, nil
}

// expand replaces folders by their files of days, in their order.
func expand(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			all = append(all, name)
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, e := range entries {
			if dayFile.MatchString(e.Name()) && !e.IsDir() {
				all = append(all, filepath.Join(name, e.Name()))
			}
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s is a folder without files YYYYMMDD", name)
		}
	}
	return all, nil
}

func (r *records) Begin() pbs.Time { return r.begin }
func (r *records) Read() float64   { return r.in.part() }
func (r *records) Close() error    { return r.in.close() }

func (r *records) Next() (*Job, error) {
	if j := r.held; j != nil {
		r.held = nil
		return j, nil
	}
	return r.next()
}

func (r *records) next() (*Job, error) {
	for {
		for len(r.window) > 0 && (r.window[0].whole || r.window[0].dropped || r.ended || len(r.window) > r.most) {
			one := r.window[0]
			r.window[0] = nil
			r.window = r.window[1:]
			if one.displaced = !one.whole && !one.dropped && !r.ended && one.runs == 0; one.displaced {
				continue
			}
			delete(r.of, one.job.Name)
			if j := r.yield(one); j != nil {
				return j, nil
			}
		}
		if r.ended {
			return nil, io.EOF
		}
		line, err := r.in.next()
		switch {
		case errors.Is(err, io.EOF):
			r.ended = true
		case err != nil:
			return nil, err
		default:
			r.record(line)
		}
	}
}

// yield returns the job of what was recorded, nil if it cannot be replayed.
func (r *records) yield(one *recorded) *Job {
	j := one.job
	amended := func(kind, detail string) { r.troubles.add(j.File, j.Line, kind, detail, false) }
	switch {
	case one.dropped:
		return nil
	case !one.whole && one.runs == 0:
		r.troubles.add(j.File, j.Line, "it has never begun", ": job "+j.Name, true)
		return nil
	case !one.whole && one.began == 0:
		amended("its last run is not recorded", ": job "+j.Name+" ends where it was requeued")
		one.lastRequeue()
	case !one.whole:
		r.early[j.Name] = !r.ended
		amended("its end is not recorded", ": job "+j.Name+" is taken to run until its walltime, or the last record")
		j.Runs = max(j.Limit, time.Duration(r.latest-one.began), 0)
	}
	if one.runs > len(j.Requeued)+1 {
		amended("it has run several times", ": job "+j.Name+" is replayed without runs whose end is not recorded")
	}
	if j.Submit < r.yielded {
		amended("it was queued before others that were recorded before it", ": job "+j.Name)
		j.Submit = r.yielded
	}
	r.yielded = j.Submit
	if j.Eligible < j.Submit+pbs.Time(time.Second) {
		j.Eligible = 0
	}
	return j
}

// stamp is when something has happened that is recorded in a second.
func (r *records) stamp(second int64, starts bool) pbs.Time {
	at := pbs.Time(second) * pbs.Time(time.Second)
	since := at - r.latest
	switch {
	case since <= -pbs.Time(time.Second):
		return at // it was recorded late
	case starts && r.starting && since <= 0:
		at = r.latest // in the same cycle
	case starts && since <= pbs.Time(time.Second):
		at = r.latest + coalesce
	case r.starting:
		at = max(at, r.latest+behind)
	default:
		at = max(at, r.latest+follows)
	}
	r.latest, r.starting = at, starts
	return at
}

// record takes a line.
func (r *records) record(line []byte) {
	bad := func(kind, detail string) { r.troubles.add(r.in.name, r.in.line, kind, detail, true) }
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	parts := strings.SplitN(string(line), ";", 4)
	if len(parts) != 4 || len(parts[1]) != 1 || parts[2] == "" {
		bad("no record: want MM/DD/YYYY HH:MM:SS;TYPE;ID;TEXT", "")
		return
	}
	written, err := time.Parse("01/02/2006 15:04:05", parts[0])
	if err != nil {
		bad("no record: want MM/DD/YYYY HH:MM:SS;TYPE;ID;TEXT", "")
		return
	}
	id := strings.Clone(parts[2])
	if r.early[id] {
		if parts[1] == "E" {
			delete(r.early, id)
		}
		return
	}
	switch one := r.of[id]; parts[1] {
	case "Q":
		r.queued(id, written, fieldsOf(parts[3]), bad)
	case "S":
		r.started(id, written, fieldsOf(parts[3]), bad)
	case "R":
		if one != nil {
			r.requeued(one, fieldsOf(parts[3]), bad)
		}
	case "a":
		if one != nil {
			r.altered(one, written.Unix()-r.ahead, parts[3])
		}
	case "z":
		if one != nil {
			one.suspended = true
		}
	case "E":
		r.over(id, fieldsOf(parts[3]), bad)
	case "A":
		r.gone(id, "aborted by the server")
	case "D":
		switch {
		case one == nil || one.began != 0:
		case one.runs == 0:
			r.gone(id, "deleted before it began")
		default:
			one.lastRequeue()
			one.whole = true
		}
	}
}
