package spool

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"rampart/fsm/pbs"
	"rampart/transport/own"
)

// Options say where a spool lies and how it treats the disk.
type Options struct {
	Home string // PBS_HOME
	// Checkpoints is the folder of the checkpoints of jobs; empty: checkpoint in Home.
	Checkpoints string
	Random      io.Reader // of the spool's id; nil: the system's
	NoSync      bool      // for tests: a crash of the host may lose what was saved
	// Fault, when it is set, may fail any step of a change and so leave what a crash or
	// a full disk would.
	Fault func(step Step, path string) error
}

// A Spool is the memory of one mom.
type Spool struct {
	home        string
	checkpoints string
	disk        disk

	journal *journal // of whoever writes, see writing

	mu      sync.Mutex
	memory  memory
	facts   []Fact // not acknowledged, rising
	lastSeq uint64
	queue   []waiting
	writing bool               // somebody takes the queue to the journal
	tasks   map[string]taskLog // by the path of the file
	changed chan struct{}
}

// memory is spool.json, and orders.log, which is newer.
type memory struct {
	Version    int                 `json:"version"`
	ID         string              `json:"id"`
	Epoch      uint64              `json:"epoch"`
	Term       uint64              `json:"term"`
	LowestOpen uint64              `json:"lowest_open"`
	Highest    uint64              `json:"highest"` // order that was answered
	Answers    map[uint64]*Refusal `json:"answers"` // nil: accepted
}

const version = 1

// A TaskKey names one run of a job on this host.
type TaskKey struct {
	Job pbs.JobID
	Run pbs.RunCount
}

// String returns the name of the task's folder.
func (k TaskKey) String() string { return fmt.Sprintf("%s@%d", k.Job, k.Run) }

// parseKey reads the name of a task's folder; another spelling of it ("@01") is no task's.
func parseKey(name string) (TaskKey, bool) {
	job, run, _ := strings.Cut(name, "@")
	n, err := strconv.ParseUint(run, 10, 32)
	k := TaskKey{Job: pbs.JobID(job), Run: pbs.RunCount(n)}
	return k, err == nil && job != "" && k.String() == name
}

// folders are made with the modes that PBS gives them, but nobody else may write into any:
// PBS leaves spool and undelivered open to everybody, who could then wait there for the
// output of others. Those of the mom's own files are closed to everybody else.
var folders = []struct {
	path string
	mode os.FileMode
}{
	{"mom_priv", 0o751},
	{"mom_priv/jobs", 0o711},
	{"mom_priv/reports", 0o700},
	{"spool", 0o755},
	{"undelivered", 0o755},
	{"aux", 0o755},
}

// Open makes or reads the spool below home.
func Open(o Options) (*Spool, error) {
	s := &Spool{home: o.Home, checkpoints: cmp.Or(o.Checkpoints, filepath.Join(o.Home, "checkpoint")), disk: disk{noSync: o.NoSync, fault: o.Fault}, changed: make(chan struct{}), tasks: make(map[string]taskLog)}
	for _, f := range folders {
		if err := own.Folder(filepath.Join(o.Home, f.path), f.mode); err != nil {
			return nil, fmt.Errorf("open spool: %w", err)
		}
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if err := s.openMemory(o.Random); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	s.journal = &journal{dir: filepath.Join(o.Home, "mom_priv", "reports"), disk: &s.disk}
	var err error
	if s.facts, s.lastSeq, err = s.journal.open(); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	return s, nil
}

func (s *Spool) openMemory(random io.Reader) error {
	ok, err := readJSON(s.memoryPath(), &s.memory)
	if err != nil {
		return err
	}
	if ok {
		if s.memory.Version != version {
			return fmt.Errorf("%s has version %d, not %d", s.memoryPath(), s.memory.Version, version)
		}
		s.recall()
		return nil
	}
	var id [16]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return fmt.Errorf("make spool id: %w", err)
	}
	s.memory = memory{Version: version, ID: hex.EncodeToString(id[:])}
	return s.disk.putJSON(s.memoryPath(), s.memory)
}

func (s *Spool) memoryPath() string { return memoryPath(s.home) }

func memoryPath(home string) string { return filepath.Join(home, "mom_priv", "spool.json") }

// Exists reports whether there is a spool below home; if not, Open makes one.
func Exists(home string) bool {
	_, err := os.Stat(memoryPath(home))
	return !errors.Is(err, fs.ErrNotExist)
}

// ID returns the random name that the spool got when it was made.
func (s *Spool) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.ID
}

// TasksDir returns the folder of the tasks' folders, of a spool below home.
func TasksDir(home string) string { return filepath.Join(home, "mom_priv", "jobs") }

// TaskDir returns the folder of a task.
func (s *Spool) TaskDir(k TaskKey) string { return filepath.Join(TasksDir(s.home), k.String()) }

// Close closes the files that are kept open. Nothing may be in hand any more.
func (s *Spool) Close() error { return s.journal.close() }

// Output returns the file that collects a job's output, for kind "OU" or "ER".
func (s *Spool) Output(job pbs.JobID, kind string) string { return Output(s.home, job, kind) }

// Output is Spool.Output of the mom in a folder.
func Output(home string, job pbs.JobID, kind string) string {
	return filepath.Join(home, "spool", string(job)+"."+kind)
}

// Head returns the file of what is said before a run's program, for kind "OU" or "ER". It goes with the task.
func (s *Spool) Head(k TaskKey, kind string) string {
	return filepath.Join(s.TaskDir(k), "prologue."+kind)
}

// Undelivered returns where output goes that could not be delivered.
func (s *Spool) Undelivered(job pbs.JobID, kind string) string {
	return filepath.Join(s.home, "undelivered", string(job)+"."+kind)
}

// NodeFile returns the path of a job's node file.
func (s *Spool) NodeFile(job pbs.JobID) string { return filepath.Join(s.home, "aux", string(job)) }

// SaveNodeFile writes the world readable node file of a job. It is made again with
// every start, so it is not synced.
func (s *Spool) SaveNodeFile(job pbs.JobID, text string) error {
	if err := s.disk.unsynced().put(s.NodeFile(job), []byte(text), 0o644); err != nil {
		return fmt.Errorf("save node file of %s: %w", job, err)
	}
	return nil
}

// Script returns the path of a task's script, which keeps PBS's name for it.
func (s *Spool) Script(k TaskKey) string { return ScriptPath(TasksDir(s.home), k) }

// ScriptPath returns that path below a folder of tasks.
func ScriptPath(dir string, k TaskKey) string {
	return filepath.Join(dir, k.String(), string(k.Job)+".SC")
}

// ErrDisk means that it was the disk of this host that failed.
var ErrDisk = errors.New("not saved")

// SaveScript stores what fetch writes as a task's script, as it comes: some have megabytes. An error of fetch is
// returned as it is; one of the disk has ErrDisk in its chain.
func (s *Spool) SaveScript(k TaskKey, fetch func(io.Writer) error) error {
	failed, err := s.disk.unsynced().stream(s.Script(k), 0o700, fetch) // after a crash of the host it is fetched again
	if failed {
		return fmt.Errorf("save script of %s: %w", k, &diskError{err})
	}
	return err
}

// A diskError says what the disk said, and is ErrDisk.
type diskError struct{ error }

// Is implements errors.Is.
func (e *diskError) Is(target error) bool { return target == ErrDisk }

// Unwrap returns what the disk said.
func (e *diskError) Unwrap() error { return e.error }

// probeBytes is about what the order of a job takes.
const probeBytes = 16 << 10

// Probe reports whether the disk would take an order now: it writes as much, and removes
// it again.
func (s *Spool) Probe() error {
	return s.probe(".probe", func(path string) error {
		if err := s.disk.at(Write, path); err != nil {
			return err
		}
		return os.WriteFile(path, make([]byte, probeBytes), 0o600)
	})
}

// Prove does with a file what saving a task does: it is written, synced and renamed.
func (s *Spool) Prove() error {
	return s.probe(".proved", func(path string) error {
		err := s.disk.put(path, make([]byte, probeBytes), 0o600)
		if err != nil {
			_ = os.Remove(path + ".tmp")
		}
		return err
	})
}

func (s *Spool) probe(name string, write func(path string) error) error {
	path := filepath.Join(TasksDir(s.home), name)
	err := write(path)
	if gone := os.Remove(path); err == nil {
		err = gone
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err // the path would tell users nothing
	}
	return err
}
