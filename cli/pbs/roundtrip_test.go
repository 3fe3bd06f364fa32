package pbs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rampart/cli/render"
	"rampart/fsm/attr"
	"rampart/transport/api"
)

// awkward are values that something between a user and the job could take apart.
func awkward() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.RuneFrom([]rune("ab ,;#=\\'\"\n\t|%$`{}007ä€𝄞"))),
		rapid.SampledFrom([]string{"", "007", "1e5", "it's", `say "so"`, "a,b", "one\ntwo", `back\slash`, `{"a": 1}`, " edge ", "# no comment"}),
	).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) }) // the kernel takes none
}

// What -v of qsub and qalter says arrives, however many variables there are.
func TestVariables_ArriveAsGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(awkward(), 0, 300).Draw(t, "values")
		var given []string
		for i, v := range values {
			quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
			given = append(given, fmt.Sprintf("V%d=%s", i, quoted))
		}
		if len(given) == 0 {
			return
		}
		r := &request{env: fuzzEnv(), variables: strings.Join(given, ",")}
		list, err := r.variableList()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if got, ok := attr.Variable(list, fmt.Sprintf("V%d", i)); !ok || got != v {
				t.Fatalf("%s: the job has %q, want %q", given[i], got, v)
			}
		}
	})
}

// What qmgr prints of a value, it reads as that value. A value with quotes of both kinds,
// or with a backslash at the end of a line, nobody can write in a directive.
func TestPrintedValues_AreReadAsTheyWere(t *testing.T) {
	server, _ := managedBy("server")
	rapid.Check(t, func(t *rapid.T) {
		value := awkward().Filter(func(s string) bool {
			return s != "" && s != `""` && !strings.Contains(s, "\\\n") && !(strings.Contains(s, `"`) && strings.Contains(s, "'"))
		}).Draw(t, "value")
		var out bytes.Buffer
		render.PrintServer(&out, server.render, &api.Object{Attributes: []*api.Attribute{{Name: "comment", Value: value}}}, nil)
		lines := splitDirectives(out.String())
		if len(lines) != 1 {
			t.Fatalf("%q is printed as %q", value, out.String())
		}
		d, err := parseDirective(lines[0])
		if err != nil || len(d.changes) != 1 || d.changes[0].GetValue() != value {
			t.Fatalf("%q is printed as %s and read as %v, %v", value, lines[0], d, err)
		}
	})
}
