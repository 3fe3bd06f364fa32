package state

import (
	"bytes"
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// An interner lets jobs that say the same have one text of it in memory: of 100,000 jobs most
// have owner, variables and request of others. Each place of its tables has what was seen there
// last, so what nobody else says costs nothing. Scripts and remembered requests are alike, too.
// It belongs to the writer of a store.
type interner struct {
	texts  [sharedTexts]string
	lists  [sharedLists]resource.List
	names  [sharedLists][]string
	bodies [sharedBodies][]byte
	waits  [sharedWaits]*Wait
}

const (
	sharedTexts = 1 << 12
	sharedLists = 1 << 10
	sharedWaits = 1 << 8

	// Of scripts only the short ones are shared: those that were seen last stay in memory.
	sharedBodies = 1 << 8
	longestBody  = 16 << 10 // in bytes
)

// slot hashes the length, the beginning and the end of a text: FNV-1a.
func slot[T string | []byte](h uint32, text T) uint32 {
	const some = 24
	mix := func(part T) {
		for i := range len(part) {
			h = (h ^ uint32(part[i])) * 16777619
		}
	}
	h = (h ^ uint32(len(text))) * 16777619
	mix(text[:min(some, len(text))])
	mix(text[max(0, len(text)-some):])
	return h
}

const noHash = 2166136261

func (s *interner) text(t string) string {
	if t == "" {
		return t
	}
	at := &s.texts[slot(noHash, t)%sharedTexts]
	if *at != t {
		*at = t
	}
	return *at
}

func (s *interner) list(l resource.List) resource.List {
	if len(l) == 0 {
		return l
	}
	h := uint32(noHash)
	for _, it := range l {
		h = slot(slot(h, it.Name), it.Value)
	}
	at := &s.lists[h%sharedLists]
	if !slices.Equal(*at, l) {
		next := make(resource.List, len(l))
		for i, it := range l {
			next[i] = resource.Item{Name: s.text(it.Name), Value: s.text(it.Value)}
		}
		*at = next
	}
	return *at
}

func (s *interner) strings(l []string) []string {
	if len(l) == 0 {
		return l
	}
	h := uint32(noHash)
	for _, name := range l {
		h = slot(h, name)
	}
	at := &s.names[h%sharedLists]
	if !slices.Equal(*at, l) {
		next := make([]string, len(l))
		for i, name := range l {
			next[i] = s.text(name)
		}
		*at = slices.Clip(next)
	}
	return *at
}

// wait returns the one copy of a reason: very many jobs have the same.
func (s *interner) wait(w Wait) *Wait {
	h := slot(slot(noHash^uint32(w.Code), w.Resource), w.Free)
	for _, part := range [...]string{w.Request, w.Subject.Name, w.Words} {
		h = slot(h, part)
	}
	at := &s.waits[h%sharedWaits]
	if *at == nil || **at != w {
		*at = &w
	}
	return *at
}

// body is for scripts: a sweep submits the same one thousands of times.
func (s *interner) body(b []byte) []byte {
	if len(b) == 0 || len(b) > longestBody {
		return b
	}
	at := &s.bodies[slot(noHash, b)%sharedBodies]
	if !bytes.Equal(*at, b) {
		*at = b
	}
	return *at
}

func (s *interner) user(u pbs.User) pbs.User {
	return pbs.User{Name: s.text(u.Name), Host: pbs.HostName(s.text(string(u.Host)))}
}

// assignment returns one that is the same, with the lists and names of others. The chunks of a wide one share theirs already.
func (s *interner) assignment(a alloc.Assignment) alloc.Assignment {
	const wide = 16
	if len(a.ExecVnode) > wide || len(a.ExecHost) > wide {
		return a
	}
	next := alloc.Assignment{ExecVnode: make(spec.ExecVnode, len(a.ExecVnode)), ExecHost: slices.Clone(a.ExecHost)}
	for i, c := range a.ExecVnode {
		parts := make([]spec.ExecPart, len(c.Parts))
		for k, p := range c.Parts {
			parts[k] = spec.ExecPart{Vnode: pbs.VnodeName(s.text(string(p.Vnode))), Items: s.list(p.Items)}
		}
		next.ExecVnode[i].Parts = parts
	}
	for i, h := range next.ExecHost {
		next.ExecHost[i].Host = s.text(h.Host)
	}
	return next
}

func (s *interner) attrs(l attr.List) attr.List {
	next := make(attr.List, len(l))
	for i, e := range l {
		next[i] = attr.Entry{Name: s.text(e.Name), Resource: s.text(e.Resource), Value: s.text(e.Value)}
	}
	return next
}

// Intern makes a new job, which nobody reads yet, use the texts and lists of jobs before it. It
// changes nothing that can be seen.
func (tx *Tx) Intern(j *Job) { tx.interner.job(j) }

// InternAssignment is Intern for what a new run has.
func (tx *Tx) InternAssignment(a alloc.Assignment) alloc.Assignment { return tx.interner.assignment(a) }

func (s *interner) job(j *Job) {
	j.Name, j.SchedSelect = s.text(j.Name), s.text(j.SchedSelect)
	j.Owner = s.user(j.Owner)
	j.Queue = pbs.QueueName(s.text(string(j.Queue)))
	if j.Wait != nil {
		j.Wait = s.wait(*j.Wait)
	}
	if j.Run != nil {
		j.EditRun().Assignment = s.assignment(j.Run.Assignment)
	}
	j.Attrs, j.Resources, j.Defaults = s.attrs(j.Attrs), s.list(j.Resources), s.strings(j.Defaults)
}
