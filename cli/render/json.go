package render

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"rampart/transport/api"
)

// A JSON document is written object by object, tabs and order as PBS has them.
type JSON struct {
	w       *bufio.Writer
	section string
	open    bool // the section has begun
	value   func(*api.Attribute) string

	// Skip leaves resources out of their object, which stays.
	Skip func(*api.Attribute) bool
}

// NewJSON begins a document whose objects stand under section ("Jobs", "Queue",
// "Server", "nodes"). value says how an attribute reads.
func NewJSON(w io.Writer, section string, h *api.ListHeader, value func(*api.Attribute) string) *JSON {
	j := &JSON{w: bufio.NewWriter(w), section: section, value: value}
	fmt.Fprintf(j.w, "{\n\t\"timestamp\":\t%d,\n\t\"pbs_version\":\t%s,\n\t\"pbs_server\":\t%s,\n\t%s:\t{",
		h.GetTimestamp(), quote(h.GetVersion()), quote(h.GetServer()), quote(section))
	return j
}

// begin begins an object.
func (j *JSON) begin(name string) {
	if j.open {
		j.w.WriteByte(',')
	}
	j.open = true
	fmt.Fprintf(j.w, "\n\t\t%s:\t{", quote(name))
}

// Object adds an object.
func (j *JSON) Object(o *api.Object) {
	j.begin(o.Name)
	for i, m := range members(o.Attributes) {
		if i > 0 {
			j.w.WriteByte(',')
		}
		fmt.Fprintf(j.w, "\n\t\t\t%s:\t", quote(m.name))
		j.member(m)
	}
	j.w.WriteString("\n\t\t}")
}

// End completes the document.
func (j *JSON) End() error {
	j.w.WriteString("\n\t}\n}\n")
	return j.w.Flush()
}

// A member is an attribute, or all resources of one.
type member struct {
	name  string
	parts []*api.Attribute
}

func members(attributes []*api.Attribute) []*member {
	var all []*member
	for _, a := range attributes {
		if i := slices.IndexFunc(all, func(m *member) bool { return m.name == a.Name }); i >= 0 && a.Resource != "" {
			all[i].parts = append(all[i].parts, a)
			continue
		}
		all = append(all, &member{a.Name, []*api.Attribute{a}})
	}
	return all
}

func (j *JSON) member(m *member) {
	one := m.parts[0]
	switch {
	case one.Resource != "":
		j.object(j.pairs(m.parts))
	case m.name == "Variable_List":
		j.object(Variables(one.Value))
	case m.name == "jobs":
		j.list(strings.Split(one.Value, ","))
	case texts[m.name]:
		j.w.WriteString(quote(one.Value))
	default:
		j.w.WriteString(literal(j.value(one)))
	}
}

// texts stay strings even if they look like numbers.
var texts = map[string]bool{"Job_Name": true, "project": true, "Account_Name": true}

func (j *JSON) pairs(parts []*api.Attribute) [][2]string {
	var out [][2]string
	for _, p := range parts {
		if j.Skip == nil || !j.Skip(p) {
			out = append(out, [2]string{p.Resource, p.Value})
		}
	}
	return out
}

func (j *JSON) object(pairs [][2]string) {
	j.w.WriteByte('{')
	for i, p := range pairs {
		if i > 0 {
			j.w.WriteByte(',')
		}
		fmt.Fprintf(j.w, "\n\t\t\t\t%s:\t%s", quote(p[0]), literal(p[1]))
	}
	j.w.WriteString("\n\t\t\t}")
}

func (j *JSON) list(items []string) {
	j.w.WriteByte('[')
	for i, item := range items {
		if i > 0 {
			j.w.WriteString(", ")
		}
		j.w.WriteString(quote(strings.TrimSpace(item)))
	}
	j.w.WriteByte(']')
}

// literal returns a value as a number or object if it is one, else as a string.
func literal(value string) string {
	if isNumber(value) {
		return value
	}
	if n := len(value); n > 3 && value[0] == '\'' && value[n-1] == '\'' && value[1] == '{' && json.Valid([]byte(value[1:n-1])) {
		return value[1 : n-1]
	}
	if n := len(value); n > 1 && value[0] == '{' && value[n-1] == '}' && json.Valid([]byte(value)) {
		return value
	}
	return quote(value)
}

func isNumber(s string) bool {
	if s == "" || s[0] != '-' && !isDigit(s[0]) || !isDigit(s[len(s)-1]) { // blanks around it are part of the value
		return false
	}
	return json.Valid([]byte(s))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

const hex = "0123456789abcdef"

// quote writes a JSON string as cJSON does: no more escapes than needed.
func quote(s string) string {
	if plainText(s) {
		return `"` + s + `"`
	}
	b := []byte{'"'}
	for _, r := range s { // invalid UTF-8 becomes U+FFFD, so that the document stays valid
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, control(byte(r))...)
		default:
			b = append(b, string(r)...)
		}
	}
	return string(append(b, '"'))
}

func plainText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' || s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func control(c byte) string {
	if q := strconv.QuoteRune(rune(c)); len(q) == 4 && strings.IndexByte("bfnrt", q[2]) >= 0 {
		return q[1:3]
	}
	return `\u00` + string(hex[c>>4]) + string(hex[c&15])
}

// Variables takes a Variable_List apart: NAME=VALUE with commas between, "\"
// before a comma or backslash that is meant.
func Variables(list string) [][2]string {
	var out [][2]string
	for _, item := range splitUnescaped(list) {
		name, value, _ := strings.Cut(item, "=")
		if i := slices.IndexFunc(out, func(p [2]string) bool { return p[0] == name }); i >= 0 {
			out[i][1] = value
			continue
		}
		out = append(out, [2]string{name, value})
	}
	return out
}

func splitUnescaped(list string) []string {
	if list == "" {
		return nil
	}
	items := []string{""}
	for i := 0; i < len(list); i++ {
		last := len(items) - 1
		switch {
		case list[i] == '\\' && i+1 < len(list) && (list[i+1] == ',' || list[i+1] == '\\'):
			i++
			items[last] += string(list[i])
		case list[i] == ',':
			items = append(items, "")
		default:
			items[last] += list[i : i+1]
		}
	}
	return items
}
