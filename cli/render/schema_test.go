package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"rampart/fsm/attr"
	"rampart/transport/api"
)

// The schema of qstat -f -F json and pbsnodes -F json (specification: cli-contract
// section 3): one object with the time, version and server, and a section that holds an
// object for each name. Resource lists and Variable_List are objects, jobs of a node are a
// list; what is a number or an object in JSON stands as such, all else as a string, and so
// do names, projects and accounts whatever they look like.
type document struct {
	Timestamp int64                                 `json:"timestamp"`
	Version   string                                `json:"pbs_version"`
	Server    string                                `json:"pbs_server"`
	Jobs      map[string]map[string]json.RawMessage `json:"Jobs"`
}

func parseDocument(text []byte) (document, error) {
	var d document
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&d); err != nil {
		return d, err
	}
	if in.More() {
		return d, fmt.Errorf("more than one document")
	}
	return d, nil
}

// awkward draws values that break careless writers.
func awkward() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"", "007", "0", "-0", "-", "1e5", "1.50", "12345678901234567890123", "+1", "0x10", "NaN", "true", "null",
			`{"a": 1}`, `'{"a": 1}'`, `'{"a": 1'`, `{`, `[1]`, `'`, `"`, `\`, `\n`, "a\nb", "tab\there", "\x00\x01\x7f", "\xff\xfe", "ä€𝄞", "</script>", "0 ", "12\n", "{} ", " 7",
			"a,b", `a\,b`, "a|b", "a=b", "=", ",", strings.Repeat("long ", 500),
		}),
	)
}

// valueIn returns what a raw JSON value says: of a string its text, else its literal.
func valueIn(t *rapid.T, raw json.RawMessage) (text string, isString bool) {
	if raw[0] != '"' {
		return string(raw), false
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return text, true
}

func wantValue(t *rapid.T, name, value string, raw json.RawMessage) {
	got, isString := valueIn(t, raw)
	inner := strings.TrimSuffix(strings.TrimPrefix(value, "'"), "'")
	switch {
	case isString && got == strings.ToValidUTF8(value, "\uFFFD"), isString && !utf8.ValidString(value):
	case !isString && got == value && json.Valid([]byte(value)):
	case !isString && got == inner && strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)):
	default:
		t.Fatalf("%s = %q became %s", name, value, raw)
	}
	if slices.Contains([]string{"Job_Name", "project", "Account_Name"}, name) && !isString {
		t.Fatalf("%s = %q is no string: %s", name, value, raw)
	}
	if len(value) > 1 && value[0] == '0' && !isString && value[1] != '.' && value[1] != 'e' && value[1] != 'E' {
		t.Fatalf("%s = %q lost its zeros: %s", name, value, raw)
	}
}

func TestProperty_JSONKeepsEveryValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"Job_Name", "project", "Account_Name", "comment", "Priority", "session_id", "Submit_arguments", "Output_Path",
		}), 1, 8, rapid.ID).Draw(t, "names")
		o := &api.Object{Name: "12.srv"}
		for _, name := range names {
			o.Attributes = append(o.Attributes, &api.Attribute{Name: name, Value: awkward().Draw(t, name)})
		}
		resources := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z_]{1,8}`), 0, 4, rapid.ID).Draw(t, "resources")
		for _, r := range resources {
			o.Attributes = append(o.Attributes, &api.Attribute{Name: "Resource_List", Resource: r, Value: awkward().Draw(t, r)})
		}
		var out bytes.Buffer
		j := NewJSON(&out, "Jobs", &api.ListHeader{Server: `s"r`, Version: "1", Timestamp: 5}, Dated(time.UTC))
		j.Object(o)
		if err := j.End(); err != nil {
			t.Fatal(err)
		}
		d, err := parseDocument(out.Bytes())
		if err != nil || d.Server != `s"r` || d.Timestamp != 5 || len(d.Jobs) != 1 {
			t.Fatalf("%v\n%s", err, out.String())
		}
		got := d.Jobs["12.srv"]
		for _, a := range o.Attributes {
			if a.Resource == "" {
				wantValue(t, a.Name, a.Value, got[a.Name])
				continue
			}
			var list map[string]json.RawMessage
			if err := json.Unmarshal(got["Resource_List"], &list); err != nil || len(list) != len(resources) {
				t.Fatalf("Resource_List: %v: %s", err, got["Resource_List"])
			}
			wantValue(t, a.Resource, a.Value, list[a.Resource])
		}
	})
}

func TestProperty_JSONKeepsEveryVariable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z_][A-Z0-9_]{0,6}`), 0, 200, rapid.ID).Draw(t, "names")
		want, list := map[string]string{}, []string{}
		for _, name := range names {
			want[name] = awkward().Draw(t, name)
			list = append(list, name+"="+attr.EscapeVariable(want[name]))
		}
		if len(list) == 0 {
			return
		}
		var out bytes.Buffer
		j := NewJSON(&out, "Jobs", new(api.ListHeader), Plain)
		j.Object(&api.Object{Name: "1.srv", Attributes: []*api.Attribute{{Name: "Variable_List", Value: strings.Join(list, ",")}}})
		if err := j.End(); err != nil {
			t.Fatal(err)
		}
		d, err := parseDocument(out.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(d.Jobs["1.srv"]["Variable_List"], &got); err != nil || len(got) != len(want) {
			t.Fatalf("%v: %d of %d variables", err, len(got), len(want))
		}
		for name, value := range want {
			wantValue(t, "variable", value, got[name])
		}
	})
}

// undsv takes a line of -F dsv apart: a backslash keeps the delimiter, and itself, in the value.
func undsv(line, delimiter string) []string {
	items := []string{""}
	for line != "" {
		last := len(items) - 1
		switch {
		case strings.HasPrefix(line, `\`+delimiter):
			items[last] += delimiter
			line = line[1+len(delimiter):]
		case strings.HasPrefix(line, `\\`):
			items[last] += `\`
			line = line[2:]
		case strings.HasPrefix(line, `\n`):
			items[last] += "\n"
			line = line[2:]
		case strings.HasPrefix(line, delimiter):
			items = append(items, "")
			line = line[len(delimiter):]
		default:
			items[last] += line[:1]
			line = line[1:]
		}
	}
	return items
}

func TestProperty_DSVComesApartAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delimiter := rapid.SampledFrom([]string{"|", "%", ";", ",", "~"}).Draw(t, "delimiter")
		value := awkward().Draw(t, "value")
		o := &api.Object{Attributes: []*api.Attribute{{Name: "Job_Name", Value: value}, {Name: "queue", Value: "workq"}}}
		var out bytes.Buffer
		Wide(&out, "Job Id: 1.srv", o, delimiter, Plain)
		line, rest, _ := strings.Cut(out.String(), "\n")
		items := undsv(line, delimiter)
		want := []string{"Job Id: 1.srv", "Job_Name=" + Printable(value), "queue=workq"}
		if rest != "" || !slices.Equal(items, want) {
			t.Fatalf("%q, want %q", items, want)
		}
	})
}

func TestProperty_LongUnfoldsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := strings.NewReplacer("\n", "", "\t", "").Replace(awkward().Draw(t, "value"))
		if !utf8.ValidString(value) {
			return
		}
		var out bytes.Buffer
		Long(&out, "Job Id: 1.srv", &api.Object{Attributes: []*api.Attribute{{Name: "comment", Value: value}}}, false, time.UTC)
		if got := strings.ReplaceAll(out.String(), "\n\t", ""); got != "Job Id: 1.srv\n    comment = "+Printable(value)+"\n\n" {
			t.Fatalf("got %q", got)
		}
		for line := range strings.Lines(out.String()) {
			if n := len(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "        ")); n > 79 {
				t.Fatalf("%d columns: %q", n, line)
			}
		}
	})
}

func FuzzVariables(f *testing.F) {
	f.Add(`A=1,B=a\,b,C`)
	f.Fuzz(func(t *testing.T, list string) {
		for _, p := range Variables(list) {
			if strings.Contains(p[0], "=") {
				t.Errorf("%q: the name %q", list, p[0])
			}
		}
	})
}
