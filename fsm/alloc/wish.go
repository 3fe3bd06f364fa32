package alloc

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// maxKept bounds a number of chunks that are to stay, like the languages do.
const maxKept = 1 << 17

// A Wish says what is to stay besides the primary execution host.
type Wish struct {
	Chunks []spec.Chunk // each with Count 1, in the order in which they are satisfied
	Text   string       // of the select, for messages
}

// ParseWish reads the value of -k: "select=SPEC" or a number of chunks. It refuses with the
// texts of rows 7, 8 and 14 of the table of errors.
func ParseWish(text string, t resource.Table) (Wish, error) {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil && n > 0 {
		if n > maxKept {
			return Wish{}, illegal("")
		}
		w := Wish{Chunks: make([]spec.Chunk, n), Text: text}
		for i := range w.Chunks {
			w.Chunks[i].Count = 1
		}
		return w, nil
	}
	value, ok := strings.CutPrefix(text, "select=")
	if !ok {
		return Wish{}, pbs.Errorf(pbs.InvalidRequest, `only a "select=" string is valid in -k option`)
	}
	sel, err := spec.ParseSelect(value)
	if err != nil {
		if pbs.CodeOf(err) == pbs.DuplicateResource {
			return Wish{}, illegal(err.Error())
		}
		return Wish{}, illegal("")
	}
	for i, c := range sel.Chunks {
		items := slices.Clone(c.Items)
		for j, it := range items {
			if _, known := t.Resource(it.Name); !known {
				return Wish{}, pbs.Errorf(pbs.UnknownResource, "Unknown resource: %s", it.Name)
			}
			q, err := parse(it, t)
			if err != nil {
				return Wish{}, illegal("illegal value for " + it.Name)
			}
			items[j].Value = q.String()
		}
		sel.Chunks[i].Items = items
	}
	return Wish{Chunks: expand(sel).Chunks, Text: value}, nil
}

func illegal(why string) error {
	text := "illegal -k value"
	if why != "" {
		text += ": " + why
	}
	return pbs.Errorf(pbs.BadSelect, "%s", text)
}

// Unsatisfied is why a wish cannot be granted.
type Unsatisfied struct {
	Chunk resource.List // that nothing was left for
	Wish  Wish
	Have  string // exec_vnode of what there was, the primary execution host included
}

// Error returns what the user reads.
func (u *Unsatisfied) Error() string { return "Server returned error 15010 for job" }

// Unwrap makes it the refusal of row 19.
func (u *Unsatisfied) Unwrap() error { return pbs.Errorf(pbs.SystemError, "%s", u.Error()) }

// Lines returns what the server log says of it.
func (u *Unsatisfied) Lines(t resource.Table) []string {
	amount := func(name string) int64 {
		for _, it := range u.Chunk {
			if q, err := parse(it, t); err == nil && it.Name == name {
				return q.Int()
			}
		}
		return 0
	}
	first := "could not satisfy select chunk (ncpus=" + strconv.FormatInt(amount("ncpus"), 10) +
		" ssi=" + strconv.FormatInt(amount("ssinodes"), 10) + " mem=" + strconv.FormatInt(amount("mem"), 10) +
		" vmem=" + strconv.FormatInt(amount("vmem"), 10) + " naccels=" + strconv.FormatInt(amount("naccelerators"), 10) +
		" accel_mem=" + strconv.FormatInt(amount("accelerator_memory"), 10) + ")"
	lines := []string{first}
	for _, it := range u.Chunk {
		if !slices.Contains(leading[:], it.Name) {
			lines = append(lines, "("+it.Name+"="+it.Value+")")
		}
	}
	return append(lines, "NEED chunks for keep_select ("+u.Wish.Text+")", "HAVE chunks from job's exec_vnode: "+u.Have)
}
