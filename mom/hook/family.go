package hook

import (
	"log/slog"
	"maps"
	"slices"
	"sync"

	"rampart/mom/proc"
)

// A family is a root, which the interpreter has forked, with the script's process and all that this has
// started. It ends once, in one of two ways.
type family struct {
	worker *worker
	logger *slog.Logger
	forked forked
	below  proc.Family
	once   sync.Once
}

func (r *Runtime) family(w *worker, f forked) *family {
	born := &family{worker: w, logger: r.opts.Logger, forked: f, below: proc.FamilyOf(f.PID, f.Session, f.Holds)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.families[born] = true
	return born
}

// kill ends all of the family, what has detached itself included.
func (f *family) kill() { f.end(proc.Family.Kill) }

// leave ends the script's session; what has a session of its own lives on, as with PBS.
func (f *family) leave() { f.end(proc.Family.Leave) }

func (f *family) end(how func(proc.Family) error) {
	f.once.Do(func() {
		if err := how(f.below); err != nil {
			f.logger.Warn("processes of a hook not ended", "err", err)
		}
		f.worker.reap(f.forked.PID)
		f.worker.mu.Lock()
		defer f.worker.mu.Unlock()
		delete(f.worker.families, f)
	})
}

// killAll ends all families of an interpreter.
func (w *worker) killAll() {
	w.mu.Lock()
	all := slices.Collect(maps.Keys(w.families))
	w.mu.Unlock()
	for _, f := range all {
		f.kill()
	}
}
