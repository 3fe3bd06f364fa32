package archtest

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rampart/chaos/planted"
)

const root = "../../.."

var (
	law     = regexp.MustCompile(`\bL[0-9]+\b`)
	heading = regexp.MustCompile(`^##+ ([0-9]+(?:\.[0-9]+)*)`)
	item    = regexp.MustCompile(`^([0-9]+)\. `) // of a section's list: the third of section 9 is cited as 9.3
	number  = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)*`)
	// chapterCited is a chapter with sections, as in "ramp-down section 6", "suspend-release sections 2 to 4" or
	// "[hooks](spec/hooks.md) section 4".
	chapterCited = regexp.MustCompile("\\b([A-Z]?[a-z]+(?:-[a-z]+)*)(?:\\.md)?`?(?:\\]\\([^)]*\\))?,? sections? ([0-9][0-9., and to]*)")
	caseNumber   = regexp.MustCompile(`\b([A-Z]{2,3})-([0-9]+)\b`)
	testName     = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	lawCheck     = regexp.MustCompile("`check\\.([A-Za-z]+)`")
)

// noChapters are words before "section N" that mean a section of the text itself, and noCases are prefixes of
// other things than cases.
var (
	noChapters = map[string]bool{"of": true, "by": true, "in": true}
	noCases    = map[string]bool{"SHA": true, "UTF": true}
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"ls-files", "--cached", "--others", "--exclude-standard", "--"}, patterns...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("this is no checkout: %v", err)
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(path string) bool {
		_, err := os.Stat(filepath.Join(root, path))
		return err != nil
	})
}

// chapters returns the sections of each chapter of the specification and, as "design", of the design.
func chapters(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	for _, path := range append(tracked(t, "docs/spec/*.md"), "docs/design.md") {
		sections := map[string]bool{}
		section := ""
		for line := range strings.Lines(read(t, path)) {
			if m := heading.FindStringSubmatch(line); m != nil {
				section = m[1]
				sections[section] = true
			} else if m := item.FindStringSubmatch(line); m != nil {
				sections[section+"."+m[1]] = true
			}
		}
		all[strings.TrimSuffix(filepath.Base(path), ".md")] = sections
	}
	return all
}

// caseNumbers returns the cases that the specification states.
func caseNumbers(t *testing.T) map[string]bool {
	t.Helper()
	cases := map[string]bool{}
	for _, path := range tracked(t, "docs/spec/*.md") {
		for _, row := range regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(read(t, path), -1) {
			if m := caseNumber.FindStringSubmatch(strings.SplitN(row, "|", 3)[1]); m != nil {
				cases[m[0]] = true
			}
		}
	}
	return cases
}

// comments returns the comments of a Go file, each with its position, as one line each.
func comments(t *testing.T, path string) map[token.Position]string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.Join(root, path), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	all := map[token.Position]string{}
	for _, group := range file.Comments {
		all[fset.Position(group.Pos())] = strings.Join(strings.Fields(group.Text()), " ")
	}
	return all
}

// misquoted returns what a text cites that leads nowhere: a case, a chapter or a section of one.
func misquoted(text string, cases map[string]bool, sections map[string]map[string]bool) (wrong []string) {
	for _, m := range caseNumber.FindAllStringSubmatch(text, -1) {
		if !cases[m[0]] && !noCases[m[1]] {
			wrong = append(wrong, "no chapter of docs/spec states case "+m[0])
		}
	}
	for _, m := range chapterCited.FindAllStringSubmatch(text, -1) {
		chapter := strings.ToLower(m[1])
		known, isChapter := sections[chapter]
		if !isChapter && !noChapters[chapter] {
			wrong = append(wrong, "docs/spec has no chapter "+chapter)
		}
		for _, n := range number.FindAllString(m[2], -1) {
			if isChapter && !known[n] {
				wrong = append(wrong, chapter+" has no section "+n)
			}
		}
	}
	return wrong
}

func TestMisquoted(t *testing.T) {
	cases, sections := map[string]bool{"RD-6": true}, map[string]map[string]bool{"ramp-down": {"6": true}}
	for text, want := range map[string]int{
		"ramp-down section 6, case RD-6, SHA-256, the end of section 9": 0,
		"foo section 6": 1, "ramp-down sections 6 and 7": 1, "[foo](spec/foo.md) section 6": 1, "`foo` section 6": 1, "RD-7": 1, "QQ-6": 1,
	} {
		if got := misquoted(text, cases, sections); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// What a document cites can be read, too. A chapter may mean its own sections without its name.
func TestDocumentsLeadSomewhere(t *testing.T) {
	cases := caseNumbers(t)
	sections := chapters(t)
	for _, path := range tracked(t, "*.md") {
		if strings.HasPrefix(path, "docs/spec/") {
			continue
		}
		text := strings.Join(strings.Fields(read(t, path)), " ")
		for _, wrong := range misquoted(text, cases, sections) {
			t.Errorf("%s: %s", path, wrong)
		}
	}
}

// What a comment cites can be read in this repository: laws, cases, chapters and their sections.
func TestCitationsLeadSomewhere(t *testing.T) {
	laws, sections := read(t, "docs/laws.md"), chapters(t)
	cases := caseNumbers(t)
	if len(cases) < 200 || len(sections) < 10 {
		t.Fatalf("the specification was not read: %d cases, %d chapters", len(cases), len(sections))
	}
	cited := 0
	for _, path := range tracked(t, "*.go") {
		if strings.Contains(path, "/api/") {
			continue
		}
		for pos, text := range comments(t, path) {
			for _, l := range law.FindAllString(text, -1) {
				if cited++; !strings.Contains(laws, "\n## "+l+"\n") {
					t.Errorf("%s: docs/laws.md has no %s", pos, l)
				}
			}
			for _, wrong := range misquoted(text, cases, sections) {
				t.Errorf("%s: %s", pos, wrong)
			}
		}
	}
	if cited < 200 {
		t.Errorf("%d laws were cited: the comments were not read", cited)
	}
}

// Each planted bug has its place in the source as it is.
func TestPlantedBugsFit(t *testing.T) {
	if _, err := planted.Sources(root); err != nil {
		t.Error(err)
	}
}

// The page of the laws names tests, judges and planted bugs that exist, and every planted bug.
func TestLawsNameWhatThereIs(t *testing.T) {
	laws := read(t, "docs/laws.md")
	var source strings.Builder
	for _, path := range tracked(t, "*_test.go", "chaos/check/*.go") {
		source.WriteString(read(t, path))
	}
	for _, m := range testName.FindAllStringSubmatch(laws, -1) {
		if !strings.Contains(source.String(), "func "+m[1]+"(") {
			t.Errorf("docs/laws.md names %s, which is gone", m[1])
		}
	}
	for _, m := range lawCheck.FindAllStringSubmatch(laws, -1) {
		if !strings.Contains(source.String(), "var "+m[1]+" = Law{") {
			t.Errorf("docs/laws.md names check.%s, which is gone", m[1])
		}
	}
	bugs := planted.Bugs()
	for _, bug := range bugs {
		if !strings.Contains(laws, "`"+bug+"`") {
			t.Errorf("docs/laws.md does not name the planted bug %s", bug)
		}
	}
	for _, line := range regexp.MustCompile(`(?m)^- Planted: (.*)$`).FindAllStringSubmatch(laws, -1) {
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(line[1], -1) {
			if !slices.Contains(bugs, m[1]) {
				t.Errorf("docs/laws.md names the bug %s, which nobody plants", m[1])
			}
		}
	}
}
