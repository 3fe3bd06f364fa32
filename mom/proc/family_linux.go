package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Family is a process, its root, with all that is below it, and with the session of one of its children. A root
// that is a subreaper has below it whatever detaches itself, for as long as it lives.
type Family struct {
	root    process
	session int
	holds   bool
}

// FamilyOf returns the family of a process that its parent has not reaped yet; of one that is gone all the same the
// session is left. The session is the process id of the child that leads it; holds says that the root is a subreaper.
func FamilyOf(pid, session int, holds bool) Family {
	root, ok := readProcess(pid)
	if !ok {
		root = process{pid: pid}
	}
	return Family{root: root, session: session, holds: holds}
}

// familyEnds is within what time a family is dead that was killed. What cannot be killed (a program
// of another account, one that waits for a disk) is left behind.
const familyEnds = 10 * time.Second

// Kill stops all of the family, so that nobody forks any more, and kills it; the root dies last, for whom it
// leaves behind would be lost.
func (f Family) Kill() error { return f.end(nil) }

// Leave kills the processes of the session, then the root. The rest lives on and is nobody's family.
func (f Family) Leave() error {
	if f.holds && f.alone() {
		return f.endRoot()
	}
	return f.end(func(p process) bool { return p.session == f.session })
}

// looks is how often nobody is to be found before nobody is there: a process that forks and ends all the time is
// never where it was seen.
const looks = 3

// end ends the processes that are meant, nil for all, and the root.
func (f Family) end(of func(process) bool) error {
	if f.root.pid <= 1 || f.session <= 1 {
		return fmt.Errorf("process %d with session %d is no root of a family", f.root.pid, f.session)
	}
	var err error
	stopped := map[int]uint64{}
	for none, deadline := 0, time.Now().Add(familyEnds); none < looks; {
		if none == 0 && time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("processes below process %d do not die", f.root.pid), err, f.endRoot())
		}
		var left, fresh []process
		for _, p := range f.members() {
			if p.zombie || of != nil && !of(p) {
				continue
			}
			left = append(left, p)
			if stopped[p.pid] != p.start {
				fresh = append(fresh, p)
				stopped[p.pid] = p.start
			}
		}
		switch {
		case len(left) > 0 && len(fresh) == 0:
			err = signalAll(left, syscall.SIGKILL)
			time.Sleep(time.Millisecond)
			none = 0
		case len(fresh) > 0:
			_ = signalAll(fresh, syscall.SIGSTOP) // who cannot be stopped may yet be killed
			none = 0
		case f.holds && f.alone():
			none = looks
		case f.holds && of == nil && f.crowded():
			none = 0
		default:
			none++
		}
	}
	return f.endRoot()
}

// members returns the processes of the family but for its root, as far as they are seen.
func (f Family) members() []process {
	if f.holds && f.lives() {
		if found, told := below(f.root.pid); told {
			return found
		}
	}
	t, err := readTable()
	if err != nil {
		return nil
	}
	return t.family(f)
}

func (f Family) lives() bool {
	now, ok := readProcess(f.root.pid)
	return ok && !now.zombie && now.start == f.root.start
}

// alone reports whether the root lives and has no child, which is exact: who is below it is below one of its children.
func (f Family) alone() bool {
	pids, told := childrenOf(f.root.pid)
	return told && len(pids) == 0
}

// crowded reports whether the root has a child, seen or not.
func (f Family) crowded() bool {
	pids, _ := childrenOf(f.root.pid)
	return len(pids) > 0
}

// below walks down from a process; told is false on a kernel that does not know its children.
func below(root int) (found []process, told bool) {
	seen := map[int]bool{root: true}
	for next := []int{root}; len(next) > 0; next = next[1:] {
		pids, ok := childrenOf(next[0])
		if !ok && next[0] == root {
			return nil, false
		}
		for _, pid := range pids {
			if p, ok := readProcess(pid); ok && !seen[pid] {
				seen[pid] = true
				found = append(found, p)
				next = append(next, pid)
			}
		}
	}
	return found, true
}

// childrenOf asks the kernel (CONFIG_PROC_CHILDREN). It does not tell all while they come and go, but always some.
func childrenOf(pid int) (pids []int, told bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "task")
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil, false
	}
	for _, thread := range threads {
		text, err := os.ReadFile(filepath.Join(dir, thread.Name(), "children"))
		if err != nil {
			continue
		}
		told = true
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids, told
}

// family returns the processes of a family but for its root. Of a root that has died the session is left.
func (t table) family(f Family) []process {
	children := t.children()
	seen := map[int]bool{f.root.pid: true}
	var found []process
	add := func(pid int) {
		if !seen[pid] {
			seen[pid] = true
			found = append(found, t[pid])
		}
	}
	if t[f.root.pid].start == f.root.start {
		for _, pid := range children[f.root.pid] {
			add(pid)
		}
	}
	for pid, p := range t {
		if p.session == f.session && p.start >= f.root.start {
			add(pid)
		}
	}
	for i := 0; i < len(found); i++ { // found grows while we walk
		for _, pid := range children[found[i].pid] {
			add(pid)
		}
	}
	return found
}

func (f Family) endRoot() error {
	if err := signalOne(f.root, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end process %d: %w", f.root.pid, err)
	}
	return nil
}
