package spec

import (
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
	var e ExecVnode
	if len(text) > maxText {
		return nil, malformedExecVnode()
	}
	for rest := text; ; {
		chunk, after, ok := cutChunk(rest)
		if !ok {
			return nil, malformedExecVnode()
		}
		parsed, err := parseExecChunk(chunk)
		if err != nil {
			return nil, err
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

func parseExecChunk(text string) (ExecChunk, error) {
	parts, ok := split(text, '+', maxChunks)
	if !ok {
		return ExecChunk{}, malformedExecVnode()
	}
	c := ExecChunk{Parts: make([]ExecPart, 0, len(parts))}
	for _, part := range parts {
		words, ok := split(part, ':', maxItems+1)
		if !ok || !validWord(words[0]) {
			return ExecChunk{}, malformedExecVnode()
		}
		items, err := parseItems(words[1:])
		if err != nil {
			return ExecChunk{}, malformedExecVnode()
		}
		c.Parts = append(c.Parts, ExecPart{Vnode: pbs.VnodeName(words[0]), Items: items})
	}
	return c, nil
}

func malformedExecVnode() error { return pbs.Attribute(pbs.BadAttributeValue, "exec_vnode") }

// String prints the exec_vnode.
func (e ExecVnode) String() string {
	var b strings.Builder
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
