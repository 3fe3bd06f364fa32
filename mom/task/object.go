package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"rampart/fsm/pbs"
)

// An object is a JSON object: its names in their order, with their values in canonical form.
type object struct {
	names  []string
	values map[string]string
}

func (o *object) put(name, value string) {
	if o.values == nil {
		o.values = make(map[string]string)
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *object) String() string {
	items := make([]string, len(o.names))
	for i, name := range o.names {
		items[i] = text(name) + ": " + o.values[name]
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// canonical writes a JSON object as Python's json.dumps does, in single quotes; any other
// text stays as it is (specification: resources-used section 4).
func canonical(text string) string {
	o, err := parseObject(text)
	if err != nil {
		return text
	}
	return "'" + o.String() + "'"
}

// union merges JSON objects. Of equal names the value of the mother superior, own, survives, else that of the last sister
// (specification: resources-used section 4). Values that are no objects are returned.
func union(own pbs.HostName, set []valueOf) (string, []Misfit) {
	var all, kept object
	var misfits []Misfit
	for _, v := range set {
		o, err := parseObject(v.value)
		if err != nil {
			misfits = append(misfits, Misfit{Value: v.value, Host: v.host, Why: err.Error()})
			continue
		}
		if v.host == own {
			kept = *o
		}
		for _, name := range o.names {
			if _, ok := kept.values[name]; !ok || v.host == own {
				all.put(name, o.values[name])
			}
		}
	}
	if len(misfits) > 0 {
		return "", misfits
	}
	return "'" + all.String() + "'", nil
}

var errNoObject = errors.New("it is no object")

// maxNesting bounds the depth of a value, as json.Decoder does not.
const maxNesting = 500

// parseObject reads the names of a JSON object; the last of equal ones counts.
func parseObject(s string) (*object, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	first, err := d.Token()
	if err != nil {
		return nil, parserError(err)
	}
	if first != json.Delim('{') {
		return nil, errNoObject
	}
	o, err := members(d, 0)
	if err != nil {
		return nil, parserError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return o, nil
}

func parserError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("unexpected end")
	}
	return err
}

func members(d *json.Decoder, depth int) (*object, error) {
	o := &object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := item(d, depth)
		if err != nil {
			return nil, err
		}
		o.put(fmt.Sprint(name), value)
	}
	_, err := d.Token() // the end
	return o, err
}

// item reads one value and writes it as Python does.
func item(d *json.Decoder, depth int) (string, error) {
	if depth > maxNesting {
		return "", errors.New("it is nested too deeply")
	}
	token, err := d.Token()
	if err != nil {
		return "", err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			o, err := members(d, depth+1)
			if err != nil {
				return "", err
			}
			return o.String(), nil
		}
		var items []string
		for d.More() {
			one, err := item(d, depth+1)
			if err != nil {
				return "", err
			}
			items = append(items, one)
		}
		_, err := d.Token()
		return "[" + strings.Join(items, ", ") + "]", err
	case string:
		return text(v), nil
	case json.Number:
		return numeral(v.String()), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "null", nil
}

// numeral writes a number as Python's repr: whole ones as they are, others as floats.
func numeral(s string) string {
	if s == "-0" {
		return "0" // a whole number has one zero
	}
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case err != nil:
		return s
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	out := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(out, ".") {
		out += ".0"
	}
	return out
}

// text writes a string in ASCII.
func text(s string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\b':
			b.WriteString(`\b`)
		case c == '\f':
			b.WriteString(`\f`)
		case c >= ' ' && c < 0x7f:
			b.WriteRune(c)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	b.WriteByte('"')
	return b.String()
}
