package ledger

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// meter is what the ledger counts.
type meter struct {
	bytes, records, failures prometheus.Counter
}

func newMeter(reg prometheus.Registerer) meter {
	with := promauto.With(reg)
	counter := func(name, help string) prometheus.Counter {
		return with.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return meter{
		bytes:    counter("rampart_ledger_written_bytes_total", "Bytes written to accounting files."),
		records:  counter("rampart_ledger_written_records_total", "Accounting records written."),
		failures: counter("rampart_ledger_failures_total", "Attempts to write, sync or fetch accounting records that failed and are repeated."),
	}
}

// gauges puts what can be asked for at any time into the registry.
func (l *Ledger) gauges(reg prometheus.Registerer) {
	with := promauto.With(reg)
	gauge := func(name, help string, f func() float64) {
		with.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	gauge("rampart_ledger_lag_records", "Records that the state counts and that are not on this replica's disk for good.", func() float64 {
		if l.opts.View == nil {
			return 0
		}
		has, synced := l.opts.View().Cluster().LastRecord, l.Synced()
		return float64(max(has, synced) - synced)
	})
	gauge("rampart_ledger_pending_events", "Events that wait for the writer; at 100,000 the log waits, too.", func() float64 {
		return float64(l.waiting())
	})
}

// Trouble tells why nothing can be written, "" if it can, and whether so much waits that
// the log is held up.
func (l *Ledger) Trouble() (why string, holdsUp bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble, l.trouble != "" && l.queued >= maxPending
}

// note keeps what became of an attempt to write.
func (l *Ledger) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.trouble = ""
		return
	}
	l.meter.failures.Inc()
	l.trouble = fmt.Sprintf("accounting is not written: %v", err)
}
