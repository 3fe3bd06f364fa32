package lsf

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/cli"
)

// A knownColumn is one that -o may ask for.
type knownColumn struct {
	name, alias string
	width       int
}

// An askedColumn is one as it was asked for.
type askedColumn struct {
	name  string
	width int
	right bool
}

// askedColumns reads "field[:[-]width] ... [delimiter='character']" of -o of a command.
func askedColumns(command, text string, known []knownColumn) (columns []askedColumn, delimiter string, err error) {
	if before, after, ok := strings.Cut(text, "delimiter="); ok {
		delimiter = strings.Trim(strings.TrimSpace(after), `'"`)
		if len(delimiter) != 1 {
			return nil, "", told(command + ": delimiter must be one character")
		}
		text = before
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = k.name
	}
	for word := range strings.FieldsSeq(text) {
		name, width, given := strings.Cut(word, ":")
		i := slices.IndexFunc(known, func(k knownColumn) bool {
			return strings.EqualFold(k.name, name) || k.alias != "" && strings.EqualFold(k.alias, name)
		})
		if i < 0 {
			return nil, "", told(fmt.Sprintf("%s: %s: no such field. Fields are: %s", command, name, strings.Join(names, " ")))
		}
		c := askedColumn{name: known[i].name, width: known[i].width}
		if given && width != "" {
			n, err := strconv.Atoi(width)
			if err != nil || n == 0 || n < -4096 || n > 4096 {
				return nil, "", told(fmt.Sprintf("%s: %s: the width of a field is a number, with a minus it is aligned to the right", command, word))
			}
			c.right, c.width = n < 0, max(n, -n)
		}
		columns = append(columns, c)
	}
	if len(columns) == 0 {
		return nil, "", told(command + ": -o names no field. Fields are: " + strings.Join(names, " "))
	}
	return columns, delimiter, nil
}

// A sheet is what -o of bqueues and bhosts prints: rows of the columns that are asked for, or with -json a document.
type sheet struct {
	command, rows string // of the document
	columns       []askedColumn
	delimiter     string
	json, header  bool
	records       []map[string]string
}

// add takes a row, of all columns that there are.
func (t *sheet) add(values map[string]string) { t.records = append(t.records, values) }

// write prints the rows: in columns, of which a value that is too long keeps its end behind a star, or with the delimiter between values that are whole.
func (t *sheet) write(out *bufio.Writer) {
	if t.json {
		t.document(out)
		return
	}
	row := func(of func(askedColumn) string) {
		words := make([]string, len(t.columns))
		for i, c := range t.columns {
			words[i] = of(c)
			switch {
			case t.delimiter != "":
			case c.right:
				words[i] = fmt.Sprintf("%*s", c.width, tail(words[i], c.width))
			default:
				words[i] = fmt.Sprintf("%-*s", c.width, tail(words[i], c.width))
			}
		}
		sign := t.delimiter
		if sign == "" {
			sign = " "
		}
		out.WriteString(strings.Join(words, sign) + "\n")
	}
	if t.header {
		row(func(c askedColumn) string { return strings.ToUpper(c.name) })
	}
	for _, r := range t.records {
		row(func(c askedColumn) string {
			if r[c.name] == "" {
				return "-"
			}
			return r[c.name]
		})
	}
}

// document prints what -json asks for.
func (t *sheet) document(out *bufio.Writer) {
	fmt.Fprintf(out, "{\n  \"COMMAND\":%q,\n  %q:%d,\n  \"RECORDS\":[", t.command, t.rows, len(t.records))
	for i, r := range t.records {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n    {")
		for k, c := range t.columns {
			if k > 0 {
				out.WriteByte(',')
			}
			text, _ := json.Marshal(r[c.name]) // a string can always be written
			fmt.Fprintf(out, "\n      %q:%s", strings.ToUpper(c.name), text)
		}
		out.WriteString("\n    }")
	}
	out.WriteString("\n  ]\n}\n")
}

// sheetOptions refuses what does not go with -o.
func sheetOptions(command string, opts *cli.Options) error {
	switch {
	case opts.Has("json") && !opts.Has("o"):
		return told(command + ": -json is an option of -o: say which fields are wanted")
	case opts.Has("o") && (opts.Has("l") || opts.Has("w") || opts.Has("s")):
		return told(command + ": -o goes with none of -l, -w and -s")
	}
	return nil
}

// newSheet returns what -o asks for, nil if it does not.
func newSheet(command, rows string, opts *cli.Options, known []knownColumn) (*sheet, error) {
	if !opts.Has("o") {
		return nil, nil
	}
	columns, delimiter, err := askedColumns(command, opts.Last("o"), known)
	return &sheet{command: command, rows: rows, columns: columns, delimiter: delimiter, json: opts.Has("json"), header: !opts.Has("noheader")}, err
}
