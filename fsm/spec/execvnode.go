package spec

import (
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// An ExecVnode tells which vnodes a job got: for each chunk, in the order of the
// select, its parts.
type ExecVnode []ExecChunk

// An ExecChunk is what one chunk got, from one or several vnodes of a host.
type ExecChunk struct{ Parts []ExecPart }

// An ExecPart is what one vnode gives to a chunk. The items stand in the order
// written.
type ExecPart struct {
	Vnode pbs.VnodeName
	Items resource.List
}

// ParseExecVnode reads "(a:ncpus=1+b:ncpus=2)+(c:ncpus=1)". What is malformed is
// refused with BadAttributeValue.
func ParseExecVnode(text string) (ExecVnode, error) {
	if len(text) > maxText {
		return nil, malformedExecVnode()
	}
	return readExecVnode(text)
}

func readExecVnode(text string) (ExecVnode, error) {
	e := make(ExecVnode, 0, min(strings.Count(text, "("), maxChunks))
	var r execReader
	for rest := text; ; {
		chunk, after, ok := cutChunk(rest)
		if !ok {
			return nil, malformedExecVnode()
		}
		parsed, ok := r.chunk(chunk)
		if !ok {
			return nil, malformedExecVnode()
		}
		e = append(e, parsed)
		if after == "" {
			return e, nil
		}
		if after[0] != '+' || len(e) >= maxChunks {
			return nil, malformedExecVnode()
		}
		rest = after[1:]
	}
}

// cutChunk takes "(...)" off the front. A parenthesis in quotes is text.
func cutChunk(s string) (chunk, rest string, ok bool) {
	if s == "" || s[0] != '(' {
		return "", "", false
	}
	var quote byte
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ')':
			return s[1:i], s[i+1:], true
		}
	}
	return "", "", false
}

// An execReader reads chunks. What they are made of lies in few blocks: an exec_vnode may
// have ten thousand of them.
type execReader struct {
	parts     blocks[ExecPart]
	items     blocks[resource.Item]
	someParts []ExecPart // of the chunk that is being read
	someItems []resource.Item
	lastText  string        // of the items of the part before
	lastItems resource.List // which alike parts share: lists are not changed in place
}

func (r *execReader) chunk(text string) (ExecChunk, bool) {
	r.someParts = r.someParts[:0]
	for more := true; more; {
		var part string
		var ok bool
		if part, text, more, ok = cutOutside(text, '+'); !ok || len(r.someParts) >= maxChunks {
			return ExecChunk{}, false
		}
		read, ok := r.part(part)
		if !ok {
			return ExecChunk{}, false
		}
		r.someParts = append(r.someParts, read)
	}
	return ExecChunk{Parts: r.parts.keep(r.someParts)}, true
}

func (r *execReader) part(text string) (ExecPart, bool) {
	name, rest, more, ok := cutOutside(text, ':')
	if !ok || !validWord(name) {
		return ExecPart{}, false
	}
	if more && len(r.lastItems) > 0 && rest == r.lastText {
		return ExecPart{Vnode: pbs.VnodeName(name), Items: r.lastItems}, true
	}
	r.lastText = rest
	r.someItems = r.someItems[:0]
	for more {
		var word string
		if word, rest, more, ok = cutOutside(rest, ':'); !ok || len(r.someItems) >= maxItems {
			return ExecPart{}, false
		}
		item, ok := parseItem(word)
		if _, twice := resource.List(r.someItems).Get(item.Name); !ok || twice {
			return ExecPart{}, false
		}
		r.someItems = append(r.someItems, item)
	}
	r.lastItems = r.items.keep(r.someItems)
	return ExecPart{Vnode: pbs.VnodeName(name), Items: r.lastItems}, true
}

// blocks keeps many short lists in few allocations: each block is twice the one before.
type blocks[T any] struct {
	free []T
	size int
}

// keep returns a list of its own with the same items, nil for none.
func (b *blocks[T]) keep(list []T) []T {
	const largest = 256
	n := len(list)
	if n == 0 {
		return nil
	}
	if n > len(b.free) {
		b.size = max(n, min(2*b.size, largest))
		b.free = make([]T, b.size)
	}
	kept := b.free[:n:n]
	b.free = b.free[n:]
	copy(kept, list)
	return kept
}

func malformedExecVnode() error { return pbs.Attribute(pbs.BadAttributeValue, "exec_vnode") }

// String prints the exec_vnode.
func (e ExecVnode) String() string {
	var b strings.Builder
	b.Grow(e.size())
	for i, c := range e {
		if i > 0 {
			b.WriteByte('+')
		}
		b.WriteByte('(')
		for j, p := range c.Parts {
			if j > 0 {
				b.WriteByte('+')
			}
			b.WriteString(string(p.Vnode))
			writeItems(&b, p.Items)
		}
		b.WriteByte(')')
	}
	return b.String()
}

// MarshalText prints the exec_vnode, which is how files have it: nothing that says as much is shorter.
func (e ExecVnode) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what MarshalText has printed.
func (e *ExecVnode) UnmarshalText(text []byte) (err error) {
	if *e = nil; len(text) > 0 {
		*e, err = readExecVnode(string(text))
	}
	return err
}

// size returns the length to which it is printed, quotes apart.
func (e ExecVnode) size() int {
	n := 0
	for _, c := range e {
		n += len("+()")
		for _, p := range c.Parts {
			n += len("+") + len(p.Vnode)
			for _, it := range p.Items {
				n += len(":=") + len(it.Name) + len(it.Value)
			}
		}
	}
	return n
}

// Vnodes returns the vnodes in the order of their first appearance.
func (e ExecVnode) Vnodes() []pbs.VnodeName {
	var names []pbs.VnodeName
	seen := map[pbs.VnodeName]bool{}
	for _, c := range e {
		for _, p := range c.Parts {
			if !seen[p.Vnode] {
				seen[p.Vnode] = true
				names = append(names, p.Vnode)
			}
		}
	}
	return names
}

// Equal reports whether two have the same vnodes with the same of each.
func (e ExecVnode) Equal(o ExecVnode) bool {
	if len(e) == len(o) && (len(e) == 0 || &e[0] == &o[0]) { // as it mostly is: nobody writes to one
		return true
	}
	return slices.EqualFunc(e, o, func(a, b ExecChunk) bool {
		return slices.EqualFunc(a.Parts, b.Parts, func(p, q ExecPart) bool { return p.Vnode == q.Vnode && slices.Equal(p.Items, q.Items) })
	})
}

// Has reports whether a vnode is one of them.
func (e ExecVnode) Has(vnode pbs.VnodeName) bool {
	for _, c := range e {
		for _, p := range c.Parts {
			if p.Vnode == vnode {
				return true
			}
		}
	}
	return false
}
