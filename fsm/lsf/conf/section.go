package conf

import (
	"slices"
	"strings"
)

// A section is what stands between Begin and End, as entries: the one of its KEY = value lines, or one for each row.
type section struct {
	path, name string
	end        int // the line of its End
	entries    []entry
}

// An entry is values by keyword. Keywords count without regard to case, and are told as they are written.
type entry []setting

type setting struct{ key, value string }

// get returns a value, empty if there is none.
func (e entry) get(key string) string {
	for _, s := range slices.Backward(e) {
		if strings.EqualFold(s.key, key) {
			return s.value
		}
	}
	return ""
}

// A line is one of a file, or several that backslashes join, by the number of the last of them.
type line struct {
	text string
	at   int
}

// lines returns what is to be read of a text: without comments and empty lines.
func lines(text string) []line {
	var all []line
	joined, at := "", 0
	for raw := range strings.SplitSeq(text, "\n") {
		at++
		raw, _, _ = strings.Cut(strings.TrimSuffix(raw, "\r"), "#")
		raw = strings.TrimSpace(raw)
		more, continued := strings.CutSuffix(raw, `\`)
		joined = strings.TrimSpace(joined + " " + strings.TrimSpace(more))
		if continued {
			continue
		}
		if joined != "" {
			all = append(all, line{joined, at})
		}
		joined = ""
	}
	if joined != "" {
		all = append(all, line{joined, at})
	}
	return all
}

// marks returns the name of a section that a line begins or ends: "Begin Queue".
func marks(l line, word string) (name string, ok bool) {
	f := strings.Fields(l.text)
	if len(f) == 0 || !strings.EqualFold(f[0], word) || len(f) > 2 {
		return "", false
	}
	if len(f) == 2 {
		name = f[1]
	}
	return name, name != "="
}

// sections reads a file of sections.
func sections(f *File, p *problems) []section {
	if f == nil {
		return nil
	}
	var all []section
	var open *section
	var inside []line
	finish := func(at int, ended bool) {
		open.end = at
		if !ended {
			p.fail(*open, "End %s is missing", open.name)
		}
		open.entries = entries(*open, inside, p)
		all = append(all, *open)
		open, inside = nil, nil
	}
	last := 0
	for _, l := range lines(f.Text) {
		last = l.at
		if name, ok := marks(l, "Begin"); ok {
			if open != nil {
				finish(l.at, false)
			}
			open = &section{path: f.Path, name: name}
			continue
		}
		name, ends := marks(l, "End")
		switch {
		case ends && open != nil && (name == "" || strings.EqualFold(name, open.name)):
			finish(l.at, true)
		case ends && open != nil:
			p.warn(section{path: f.Path, name: open.name, end: l.at}, "End %s in section %s; ignored", name, open.name)
		case open == nil:
			p.warn(section{path: f.Path}, "line %d is in no section, expected Begin and the name of one; ignored", l.at)
		default:
			inside = append(inside, l)
		}
	}
	if open != nil {
		finish(last, false)
	}
	return all
}

// entries reads the lines of a section in either form.
func entries(s section, all []line, p *problems) []entry {
	if len(all) == 0 {
		return nil
	}
	if _, _, horizontal := assignment(all[0].text); horizontal {
		return []entry{horizontalEntry(s, all, p)}
	}
	keys := cells(all[0].text)
	var rows []entry
	for _, l := range all[1:] {
		row := cells(l.text)
		if len(row) != len(keys) {
			p.warn(s, "line %d has %d values, expected %d, one for each keyword; ignored", l.at, len(row), len(keys))
			continue
		}
		var e entry
		for i, key := range keys {
			if row[i] != "" && row[i] != "-" {
				e = append(e, setting{key, row[i]})
			}
		}
		rows = append(rows, e)
	}
	return rows
}

func horizontalEntry(s section, all []line, p *problems) entry {
	var e entry
	for _, l := range all {
		key, value, ok := assignment(l.text)
		if !ok {
			p.warn(s, "line %d is %q, expected KEYWORD = value; ignored", l.at, l.text)
			continue
		}
		if value == "()" || value == "-" {
			value = ""
		}
		if at := slices.IndexFunc(e, func(o setting) bool { return strings.EqualFold(o.key, key) }); at >= 0 {
			p.warn(s, "keyword %s is there twice; the last one counts", key)
			e = slices.Delete(e, at, at+1)
		}
		e = append(e, setting{key, value})
	}
	return e
}

// assignment reads KEY = value.
func assignment(text string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if ok && (key == "" || strings.ContainsAny(key, " \t()[]")) {
		return "", "", false
	}
	return key, strings.TrimSpace(value), ok
}

// cells returns the values of a row: words, what is in parentheses counting as one, without these. Blanks in brackets
// divide nothing either.
func cells(text string) []string {
	var all []string
	depth, from := 0, -1
	for i := 0; i <= len(text); i++ {
		blank := i == len(text) || text[i] == ' ' || text[i] == '\t'
		switch {
		case i < len(text) && strings.IndexByte("([{", text[i]) >= 0:
			depth++
		case i < len(text) && strings.IndexByte(")]}", text[i]) >= 0:
			depth = max(depth-1, 0)
		}
		switch {
		case blank && from >= 0 && (depth == 0 || i == len(text)):
			all = append(all, unwrapped(text[from:i]))
			from = -1
		case !blank && from < 0:
			from = i
		}
	}
	return all
}

// unwrapped takes off the parentheses around a value.
func unwrapped(text string) string {
	inside, ok := strings.CutPrefix(text, "(")
	if !ok || !strings.HasSuffix(inside, ")") {
		return text
	}
	return strings.TrimSpace(strings.TrimSuffix(inside, ")"))
}
