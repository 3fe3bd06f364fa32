package conformance

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// numbered are the chapters of the specification whose cases are all shown by tests, and how
// many each has. The test of a case names it: a script in its file name or its text, a Go test
// in its comment or its table.
var numbered = map[string]int{"AC": 8, "CL": 13, "LG": 6, "RD": 42, "RK": 15, "RG": 5, "RU": 12, "HK": 11, "RS": 21, "RC": 2, "RV": 79, "RSV": 62}

// simulated are the folders of the scenarios that rampart sim plays with three replicas, by the chapter of which they have every case.
var simulated = map[string][]string{
	"RV": {"sim", "reservations"}, "RSV": {"sim"}, "RS": {"sim"}, "RD": {"sim"}, "RK": {"sim"}, "RU": {"sim"}, "HK": {"sim"}, "RG": {"sim"},
}

// elsewhere are the cases of such chapters that no scenario shows yet, by what shows them meanwhile. A case leaves the list with its scenario.
var elsewhere = map[string][]string{
	// A job's files pass in no time in a scenario.
	"TestRampDown_StageOut": {"RD1", "RD2", "RD3", "RD4", "RD5", "RD6"},
	// Programs of scenarios ask nobody for anything.
	"TestRampDown_Names": {"RD15"},
	"TestReleaseNodes":   {"RD35"},
	"TestRampDown_Keep":  {"RK14"},
	// There are no cgroups.
	"TestCgroups": {"RG1", "RG2", "RG3", "RG4", "RG5"},
}

// TestCases_EachHasATest fails for a case of the specification that no test names.
func TestCases_EachHasATest(t *testing.T) {
	named := casesNamed(t, filepath.Join("..", ".."), "_test.go", ".txtar")
	for chapter, cases := range numbered {
		for n := 1; n <= cases; n++ {
			if !named[fmt.Sprint(chapter, n)] {
				t.Errorf("no test names %s-%d", chapter, n)
			}
		}
	}
}

// kindsOfReservations are the kinds of cases of reservations, by the numbers of their first and last one: options and times; answers;
// rights and rules; what is shown; queues; lives; jobs outside; vnodes that are lost; alterations; maintenance; standing ones; those
// made of jobs; hooks; outages.
var kindsOfReservations = [][2]int{{1, 7}, {8, 15}, {16, 20}, {21, 27}, {28, 30}, {31, 34}, {35, 41}, {42, 45}, {46, 56}, {57, 59}, {60, 63}, {64, 69}, {70, 72}, {74, 79}}

// TestCases_Real fails unless the short tests play a third of the cases of reservations, of either kind, on real clusters, and one of each
// sort of advance ones.
func TestCases_Real(t *testing.T) {
	endings := []string{"reservationoutage_test.go"}
	for _, names := range realReservations {
		for _, name := range names {
			endings = append(endings, filepath.Join("reservations", name+".txtar"))
		}
	}
	advance := casesNamed(t, ".", endings...)
	for _, kind := range kindsOfReservations {
		if count(advance, "RV", kind[0], kind[1]) == 0 {
			t.Errorf("no real cluster plays any of RV-%d to RV-%d", kind[0], kind[1])
		}
	}
	reserving := casesNamed(t, "testdata", filepath.Join("reserving", "now.txtar"), filepath.Join("testdata", "lsf.txtar"))
	for chapter, named := range map[string]map[string]bool{"RV": advance, "RSV": reserving} {
		all := numbered[chapter]
		sum := count(named, chapter, 1, all)
		if 3*sum < all {
			t.Errorf("real clusters play %d of %d cases %s", sum, all, chapter)
		}
		t.Logf("%s: %d cases", chapter, sum)
	}
}

// count returns how many of the cases of a chapter between these numbers are named.
func count(named map[string]bool, chapter string, first, last int) int {
	sum := 0
	for n := first; n <= last; n++ {
		if named[fmt.Sprint(chapter, n)] {
			sum++
		}
	}
	return sum
}

// TestCases_Simulated fails for a case of a chapter that is to be simulated as a whole, and that no scenario names; and for one that has a
// scenario and is still said to have none.
func TestCases_Simulated(t *testing.T) {
	missing := map[string]bool{}
	for _, cases := range elsewhere {
		for _, c := range cases {
			missing[c] = true
		}
	}
	for chapter, folders := range simulated {
		named := map[string]bool{}
		for _, folder := range folders {
			maps.Copy(named, casesNamed(t, filepath.Join("testdata", folder), ".txtar"))
		}
		for n := 1; n <= numbered[chapter]; n++ {
			c := fmt.Sprint(chapter, n)
			switch {
			case !named[c] && !missing[c]:
				t.Errorf("no scenario names %s-%d", chapter, n)
			case named[c] && missing[c]:
				t.Errorf("a scenario names %s-%d, which is said to have none", chapter, n)
			}
			delete(missing, c)
		}
	}
	if len(missing) > 0 {
		t.Errorf("there are no such cases: %v", missing)
	}
}

// casesNamed returns the cases that files with these endings name, without their hyphens.
func casesNamed(t *testing.T, root string, endings ...string) map[string]bool {
	t.Helper()
	named := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		ends := func(ending string) bool { return strings.HasSuffix(path, ending) }
		if err != nil || d.IsDir() || d.Name() == "cases_test.go" || !slices.ContainsFunc(endings, ends) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range caseID.FindAllString(filepath.Base(path)+"\n"+string(text), -1) {
			chapter, number, _ := strings.Cut(name, "-")
			named[chapter+strings.TrimLeft(number, "0")] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return named
}

var caseID = regexp.MustCompile(`\b[A-Z]{2,3}-?[0-9]+\b`)
