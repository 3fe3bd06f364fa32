package server

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"rampart/cluster/member"
	"rampart/cluster/service"
	"rampart/fsm/state"
)

const (
	// backupLook is how often a replica looks whether a backup is due.
	backupLook = 10 * time.Second
	// backupAgain is how soon one that was not made is tried again.
	backupAgain = 5 * time.Minute
)

// backupMaker makes this replica's backups: each replica makes its own, so that none needs
// another's disk, and a lost host takes no backups of others with it.
type backupMaker struct {
	server *Server
	failed prometheus.Counter

	mu      sync.Mutex
	trouble string    // why the last one was not made; empty: it was
	again   time.Time // not before then
	newest  time.Time // when the latest one was made; zero: none is known
}

func newBackupMaker(s *Server) *backupMaker {
	m := &backupMaker{server: s}
	with := promauto.With(s.metrics.registry)
	m.failed = with.NewCounter(prometheus.CounterOpts{
		Name: "rampart_backup_failures_total", Help: "Backups on schedule that could not be made.",
	})
	with.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rampart_backup_age_seconds", Help: "Age of this replica's latest backup on schedule; -1: there is none.",
	}, m.age)
	return m
}

func (m *backupMaker) age() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.newest.IsZero() {
		return -1
	}
	return time.Since(m.newest).Seconds()
}

// dir returns where this replica's backups are.
func (m *backupMaker) dir(p *state.BackupPlan) string {
	if p == nil || p.Dir == "" {
		return filepath.Join(string(m.server.config.Home), "backups")
	}
	return filepath.Join(p.Dir, m.server.config.Host)
}

// keepBackups makes backups as the state says.
func (s *Server) keepBackups(ctx context.Context) error {
	return look(ctx, backupLook, func() { s.backup.look(ctx) })
}

func (m *backupMaker) look(ctx context.Context) {
	p := m.server.machine.View().Cluster().Backups
	if p == nil {
		m.settle("", time.Time{})
		return
	}
	m.mu.Lock()
	wait := time.Now().Before(m.again)
	m.mu.Unlock()
	if wait {
		return
	}
	made, err := m.keep(ctx, p)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		m.failed.Inc()
		m.server.logger.Error("backup not made", "dir", m.dir(p), "error", err)
		m.settle(fmt.Sprintf("the last backup could not be made: %v", err), made)
	default:
		m.settle("", made)
	}
}

// keep makes a backup if one is due, removes those that are too many, and tells when the
// latest was made.
func (m *backupMaker) keep(ctx context.Context, p *state.BackupPlan) (latest time.Time, err error) {
	dir, now := m.dir(p), time.Now()
	all, err := listBackups(dir)
	if err != nil {
		return latest, err
	}
	if len(all) > 0 {
		latest = time.Unix(all[0].GetMade(), 0)
	}
	if every := time.Duration(p.Every) * time.Second; len(all) > 0 && now.Before(latest.Add(every)) {
		return latest, nil
	}
	path, err := makeBackup(ctx, dir, m.server.config.Home.Accounting(), m.server.savedWhole, now)
	if err != nil {
		return latest, err
	}
	m.server.logger.Info("backup made", "dir", path)
	return now, rotate(dir, int(p.Keep))
}

func (m *backupMaker) settle(trouble string, newest time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trouble, m.newest, m.again = trouble, newest, time.Time{}
	if trouble != "" {
		m.again = time.Now().Add(backupAgain)
	}
}

// alarms tells of a backup that was not made.
func (m *backupMaker) alarms() []member.Alarm {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.trouble == "" {
		return nil
	}
	return []member.Alarm{{
		Kind: member.AlarmBackup, Text: m.trouble, Serves: true,
		Advice: "look at the folder, its owner and its room: rampart cluster snapshot list",
	}}
}

// backups tells which backups there are.
func (s *Server) backups() service.Backups {
	out := service.Backups{Dir: s.backup.dir(s.machine.View().Cluster().Backups)}
	all, err := listBackups(out.Dir)
	s.backup.mu.Lock()
	out.All, out.Trouble = all, s.backup.trouble
	s.backup.mu.Unlock()
	if err != nil && out.Trouble == "" {
		out.Trouble = err.Error()
	}
	return out
}
