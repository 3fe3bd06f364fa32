package server

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"rampart/cluster/service"
	"rampart/fsm/state"
	"rampart/transport/daylog"
)

// schedLogs are the logs of the schedulers of this host, each in its own folder: sched_log.
type schedLogs struct {
	home    string
	options daylog.Options
	server  func() *state.Server // as of now

	mu  sync.Mutex
	all map[string]*schedLog
}

// A schedLog is the log of one scheduler. Its folder may become another one at any time.
type schedLog struct {
	of   *schedLogs
	name string

	mu     sync.Mutex
	folder string
	mask   uint16
	log    *daylog.Log // in that folder; nil: nothing was written yet
}

// of returns the log of a scheduler.
func (l *schedLogs) of(name string) *schedLog {
	if name == "" {
		name = state.DefaultScheduler
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[string]*schedLog{}
	}
	if l.all[name] == nil {
		l.all[name] = &schedLog{of: l, name: name, mask: l.options.Mask}
	}
	return l.all[name]
}

// keep closes the logs of schedulers that are there no more, and those whose files have been moved: a SIGHUP that is to have
// them opened again goes to pbs_sched, which does not write most of their lines.
func (l *schedLogs) keep(now *state.Server) error {
	gone, all := l.part(now)
	var faults []error
	for _, log := range gone {
		faults = append(faults, log.close())
	}
	for _, log := range all {
		faults = append(faults, log.closeMoved())
	}
	return errors.Join(faults...)
}

// part takes out the logs of schedulers that are there no more, and returns them and the others, in the order of their names. Their
// files are looked at without the lock: the file system may take its time, and who wants a log does not wait for it.
func (l *schedLogs) part(now *state.Server) (gone, all []*schedLog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.all)) {
		if _, there := now.Scheduler(name); there || name == state.DefaultScheduler {
			all = append(all, l.all[name])
			continue
		}
		gone = append(gone, l.all[name])
		delete(l.all, name)
	}
	return gone, all
}

// Close closes all of them.
func (l *schedLogs) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var faults []error
	for _, log := range l.all {
		faults = append(faults, log.close())
	}
	return errors.Join(faults...)
}

// SetMask changes which events are written from now on.
func (l *schedLog) SetMask(events uint16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mask = events; l.log != nil {
		l.log.SetMask(events)
	}
}

// Write writes a line.
func (l *schedLog) Write(at time.Time, event uint16, class, object, text string) error {
	log, err := l.open()
	return errors.Join(err, log.Write(at, event, class, object, text))
}

// open returns the log in the folder that the scheduler has now.
func (l *schedLog) open() (*daylog.Log, error) {
	folder := service.SchedFolder(l.of.server(), l.of.home, l.name, "sched_log")
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.log == nil || l.folder != folder {
		if l.log != nil {
			err = l.log.Close()
		}
		options := l.of.options
		options.Mask = l.mask
		l.folder, l.log = folder, daylog.New(folder, "pbs_sched", options)
	}
	return l.log, err
}

func (l *schedLog) closeMoved() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log == nil {
		return nil
	}
	return l.log.CloseMoved()
}

func (l *schedLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.log == nil {
		return nil
	}
	return l.log.Close()
}
