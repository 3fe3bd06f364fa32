// Package raftlog lets Raft write to a slog.Logger, and repeats the same failure of the
// same peer once a minute only. Its loggers may be used from any goroutine.
package raftlog

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// logger lets Raft write to a slog.Logger.
type logger struct {
	log     *slog.Logger
	name    string
	args    []any
	repeats *repeats
}

var _ hclog.Logger = logger{}

// New returns a logger for Raft that writes to l.
func New(l *slog.Logger) hclog.Logger {
	return logger{log: l.With("part", "raft"), name: "raft", repeats: &repeats{}}
}

// repeatAfter is the time after which the same failure of the same peer is logged again. Raft
// calls a peer that is down several times a second, for days.
const repeatAfter = time.Minute

// repeats remembers which failures were logged lately.
type repeats struct {
	mu   sync.Mutex
	told map[string]time.Time // by message and peer
}

// lately reports whether the log has the message already. A message without a peer is always written.
func (r *repeats) lately(msg string, args []any) bool {
	i := slices.Index(args, any("peer"))
	if i < 0 || i+1 == len(args) {
		return false
	}
	key := fmt.Sprint(msg, " ", args[i+1])
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.told[key]; ok && time.Since(at) < repeatAfter {
		return true
	}
	if r.told == nil {
		r.told = make(map[string]time.Time)
	}
	r.told[key] = time.Now()
	return false
}

var slogLevels = map[hclog.Level]slog.Level{
	hclog.Trace: slog.LevelDebug - 4,
	hclog.Debug: slog.LevelDebug,
	hclog.Info:  slog.LevelInfo,
	hclog.Warn:  slog.LevelWarn,
	hclog.Error: slog.LevelError,
}

func (l logger) Log(level hclog.Level, msg string, args ...any) {
	if level == hclog.Error && l.repeats.lately(msg, args) {
		return
	}
	if at := slogLevels[level]; l.log.Enabled(context.Background(), at) {
		l.log.Log(context.Background(), at, msg, readable(args)...)
	}
}

// readable turns hclog's lazy formats into text.
func readable(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
		if f, ok := a.(hclog.Format); ok && len(f) > 0 {
			out[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
	}
	return out
}

func (l logger) Trace(msg string, args ...any) { l.Log(hclog.Trace, msg, args...) }
func (l logger) Debug(msg string, args ...any) { l.Log(hclog.Debug, msg, args...) }
func (l logger) Info(msg string, args ...any)  { l.Log(hclog.Info, msg, args...) }
func (l logger) Warn(msg string, args ...any)  { l.Log(hclog.Warn, msg, args...) }
func (l logger) Error(msg string, args ...any) { l.Log(hclog.Error, msg, args...) }

func (l logger) enabled(level slog.Level) bool {
	return l.log.Enabled(context.Background(), level)
}

func (l logger) IsTrace() bool { return l.enabled(slogLevels[hclog.Trace]) }
func (l logger) IsDebug() bool { return l.enabled(slog.LevelDebug) }
func (l logger) IsInfo() bool  { return l.enabled(slog.LevelInfo) }
func (l logger) IsWarn() bool  { return l.enabled(slog.LevelWarn) }
func (l logger) IsError() bool { return l.enabled(slog.LevelError) }

func (l logger) ImpliedArgs() []any { return l.args }

func (l logger) With(args ...any) hclog.Logger {
	l.log, l.args = l.log.With(readable(args)...), append(l.args[:len(l.args):len(l.args)], args...)
	return l
}

func (l logger) Name() string { return l.name }

func (l logger) Named(name string) hclog.Logger { return l.ResetNamed(l.name + "." + name) }

func (l logger) ResetNamed(name string) hclog.Logger {
	l.name = name
	return l
}

// SetLevel does nothing: the slog handler decides.
func (l logger) SetLevel(hclog.Level) {}

func (l logger) GetLevel() hclog.Level { return hclog.Debug }

func (l logger) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return slog.NewLogLogger(l.log.Handler(), slog.LevelInfo)
}

func (l logger) StandardWriter(o *hclog.StandardLoggerOptions) io.Writer {
	return l.StandardLogger(o).Writer()
}
