package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rampart/fsm/attr"
)

// An attribute that people can set and nobody reads would be a promise that is not kept: the page of
// differences names each of them, and says why (specification: breadth section 4).
func TestAttributes_ReadOrExplained(t *testing.T) {
	const root = "../../.."
	var code strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		table := strings.HasPrefix(entry.Name(), "table_") && filepath.Base(filepath.Dir(path)) == "attr" || entry.Name() == "_constants.py" // names alone
		if err != nil || entry.IsDir() || table || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".py") {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/pbs-differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Attributes that are kept and decide nothing\n")
	section, _, _ = strings.Cut(section, "\n## ")
	read := func(name string) bool {
		return strings.Contains(code.String(), `"`+name+`"`) || strings.Contains(code.String(), "'"+name+"'")
	}
	for _, object := range []attr.Object{attr.Server, attr.Queue, attr.Vnode, attr.Sched, attr.Hook, attr.Resource, attr.Job, attr.Reservation} {
		for _, def := range attr.All(object) {
			explained := strings.Contains(section, "`"+def.Name+"`")
			// The scheduler joins "prime_" to the names of the others.
			switch known := read(def.Name) || read(strings.TrimPrefix(def.Name, "prime_")); {
			case !known && !explained:
				t.Errorf("nothing reads %s of %s, and docs/pbs-differences.md does not say why", def.Name, object)
			case known && explained:
				t.Errorf("docs/pbs-differences.md says that nothing reads %s of %s", def.Name, object)
			}
		}
	}
}

// absent are attributes of PBS's guides that have no constant in its programming interface.
const absent = `cred_id credential_validity cred_renew_cache_period cred_renew_enable cred_renew_period cred_renew_tool pcap_accelerator pcap_node
	pgov pstate sw_index lictype hpcbp_enable hpcbp_stage_protocol hpcbp_user_name hpcbp_webservice_address
	webapi_auth_issuers webapi_enable webapi_oidc_clientid webapi_oidc_provider_url`

// constant is a name of PBS's programming interface with the attribute that it is.
var constant = regexp.MustCompile(`"\w+": "(\w+)"`)

// An attribute for which hooks have a name is one, or docs/pbs-differences.md says why there is none.
func TestAttributes_ThereOrExplained(t *testing.T) {
	const root = "../../.."
	there := map[string]bool{"destination": true, "Additional_Attributes": true, "node_name": true} // words of requests
	for _, object := range []attr.Object{attr.Server, attr.Queue, attr.Vnode, attr.Sched, attr.Hook, attr.Resource, attr.Job, attr.Reservation} {
		for _, def := range attr.All(object) {
			there[def.Name] = true
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "docs/pbs-differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Attributes that are not there\n")
	section, _, _ = strings.Cut(section, "\n## ")
	explained := map[string]bool{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for name := range strings.SplitSeq(cells[1], ",") {
				explained[strings.Trim(name, " `")] = true
			}
		}
	}
	source, err := os.ReadFile(filepath.Join(root, "mom/hook/python/pbs/_constants.py"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(source), "\nATTRS = {\n")
	table, _, _ = strings.Cut(table, "\n}\n")
	names := strings.Fields(absent)
	for _, found := range constant.FindAllStringSubmatch(table, -1) {
		names = append(names, found[1])
	}
	if len(names) < 200 {
		t.Errorf("only %d names", len(names))
	}
	for _, name := range names {
		if there[name] == explained[name] {
			t.Errorf("%s is there: %v; docs/pbs-differences.md says why it is not: %v", name, there[name], explained[name])
		}
	}
}
