package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Options say what is replayed, and how.
type Options struct {
	Files []string // of the trace
	Site  string   // folder of the site; empty: a new cluster
	Hosts Hosts    // where the site has none; none: as the trace says
	From  pbs.Time // a picture shows the runs from then
	Until pbs.Time
	Each  func(Result) // is told what becomes of each job; nil: nobody asks
	Quit  func() bool
	Seen  func(part float64, at time.Time)

	planner func(*machine) planner
	check   bool // the laws, after every step
}

// Replay plays a trace to its end.
func Replay(o Options) (*Report, error) {
	troubles := &Troubles{}
	source, err := open(o.Files, troubles)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	begin := source.Begin()
	m := newMachine(begin - pbs.Time(time.Minute))
	s, err := m.configure(o.Site)
	if err != nil {
		return nil, err
	}
	if err := m.furnish(o, source); err != nil {
		return nil, err
	}
	shape := shapeOf(m.view())
	t := newTally(shape.total, begin)
	t.each = o.Each
	if o.Until > o.From {
		t.stretch = newStretch(o.From, o.Until)
	}
	e := newEngine(m, source, troubles, t)
	e.quit, e.check = o.Quit, o.check
	if o.planner != nil {
		e.planner = o.planner(m)
	}
	if o.Seen != nil {
		e.seen = func(part float64, at pbs.Time) { o.Seen(part, moment(at)) }
	}
	if err := e.run(); err != nil {
		return nil, err
	}
	if t.submitted == 0 {
		return nil, fmt.Errorf("there is no job in it that could be replayed: %d lines were skipped%s", troubles.Skipped, firstOf(troubles))
	}
	return e.report(s), nil
}

func firstOf(t *Troubles) string {
	if len(t.List) == 0 {
		return ""
	}
	return ", the first: " + t.List[0].String()
}

// furnish gives a site without vnodes the hosts that are wished, or the hosts that the trace names.
func (m *machine) furnish(o Options, source Source) error {
	if m.view().VnodeCount() > 0 {
		if o.Hosts.Count > 0 {
			return errors.New("the site has vnodes already")
		}
		return nil
	}
	h := o.Hosts
	if s, ok := source.(*swf); ok && h.Count == 0 && s.header.procs > 0 {
		nodes := s.header.nodes
		if nodes <= 0 || nodes > s.header.procs {
			nodes = s.header.procs
		}
		each := (s.header.procs + nodes - 1) / nodes
		h = Hosts{int(nodes), resource.List{}.Set("ncpus", fmt.Sprint(each))}
	}
	if h.Count <= 0 {
		return errors.New("neither the site has vnodes, nor does the trace say how many processors there are")
	}
	if h.Count > mostHosts {
		return fmt.Errorf("%d hosts are more than %d", h.Count, mostHosts)
	}
	return m.addHosts(h)
}

// mostHosts bounds what a trace can make of a typing error.
const mostHosts = 200_000

// open opens a trace of either format, which its first line tells apart. A folder stands for the accounting files in it.
func open(names []string, troubles *Troubles) (Source, error) {
	if len(names) == 0 {
		return nil, errors.New("there is no trace")
	}
	all, err := expand(names)
	if err != nil {
		return nil, err
	}
	first, err := openInput(all)
	if err != nil {
		return nil, err
	}
	line, err := first.next()
	for err == nil && len(bytes.TrimSpace(line)) == 0 {
		line, err = first.next()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, first.close())
	}
	if err == nil {
		first.unread()
	}
	if recordLine.Match(line) {
		return openRecords(first, troubles, mostKept)
	}
	return openSWF(first, troubles)
}

// recordLine is how an accounting record begins.
var recordLine = regexp.MustCompile(`^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;.;`)
