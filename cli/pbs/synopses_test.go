package pbs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGetopt_KnowsTheSynopses: each command takes the options that its synopses name, with a
// value or without as they say, and no others.
func TestGetopt_KnowsTheSynopses(t *testing.T) {
	text, err := os.ReadFile("testdata/getopt/synopses.txt")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]map[string]bool{} // by command: whether an option wants a value
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		options := synopsis(line)
		if words[0] == "also" {
			words, options = words[1:], optionsOf(words[2])
		}
		all := named[words[0]]
		if all == nil {
			all = map[string]bool{}
			named[words[0]] = all
		}
		for letter, wants := range options {
			if said, known := all[letter]; known && said != wants {
				t.Errorf("the synopses of %s differ about -%s", words[0], letter)
			}
			all[letter] = wants
		}
	}
	for _, c := range Commands() {
		want, ok := named[c.Name]
		if !ok {
			t.Errorf("%s has no synopsis", c.Name)
			continue
		}
		flags, valued := letters(c.Grammar)
		for letter, wants := range want {
			if wants && !slices.Contains(valued, letter) || !wants && !slices.Contains(flags, letter) {
				t.Errorf("%s -%s: a value is wanted: %v; the command's options are %q", c.Name, letter, wants, c.Grammar.Letters)
			}
		}
		for _, letter := range slices.Concat(flags, valued) {
			if _, ok := want[letter]; !ok {
				t.Errorf("%s -%s is in no synopsis", c.Name, letter)
			}
		}
		delete(named, c.Name)
	}
	for name := range named {
		t.Errorf("there is no command %s", name)
	}
}

var (
	joined  = regexp.MustCompile(`(-\w)((?:\[\w\])+)`) // -S[j][L]
	either  = regexp.MustCompile(`\|\s*-`)             // -a|-H
	bracket = regexp.MustCompile(`[][{}]`)
	option  = regexp.MustCompile(`^-\w$`)
)

// synopsis returns the options of a synopsis, and whether each wants a value: the word behind
// it within its brackets, unless that is a list of operands.
func synopsis(line string) map[string]bool {
	line = joined.ReplaceAllStringFunc(line, func(s string) string {
		return s[:2] + " [-" + strings.NewReplacer("][", "] [-").Replace(s[3:])
	})
	line = either.ReplaceAllString(line, " | -")
	line = bracket.ReplaceAllStringFunc(line, func(s string) string { return " " + s + " " })
	words := strings.Fields(line)
	found := map[string]bool{}
	for i, w := range words {
		if !option.MatchString(w) {
			continue
		}
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		operands := strings.HasSuffix(next, "...") && next != "..." && !strings.Contains(next, "=")
		none := next == "" || next == "|" || bracket.MatchString(next) || operands || strings.HasPrefix(next, "-") && next != "-"
		found[w[1:]] = !none
	}
	return found
}

// optionsOf reads letters as getopt takes them.
func optionsOf(letters string) map[string]bool {
	found := map[string]bool{}
	for i := range len(letters) {
		if letters[i] != ':' {
			found[letters[i:i+1]] = strings.HasPrefix(letters[i+1:], ":")
		}
	}
	return found
}

// What the test reads out of synopses is what they say.
func TestGetopt_ReadsSynopses(t *testing.T) {
	for line, want := range map[string]string{
		"x -a|-H|-u users [-G|-M] [-1] [-w] ...":     "-1 -G -H -M -a -u: -w",
		"x -a[v] [-S[j][L]] [-F json|dsv [-D d]]":    "-D: -F: -L -S -a -j -v",
		"x [-o|-r] [-C comment] host...":             "-C: -o -r",
		"x -v vnode...":                              "-v",
		"x [-h ...] id...":                           "-h:",
		"x -H - id...":                               "-H:",
		"x -R <s> {-E <e>|-D <d>} -l a=... -l b=...": "-D: -E: -R: -l:",
		"x [-I [-X]] [-s] [--] program [args]":       "-I -X -s",
	} {
		var words []string
		for letter, wants := range synopsis(line) {
			if wants {
				letter += ":"
			}
			words = append(words, "-"+letter)
		}
		slices.Sort(words)
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s\n got %s\nwant %s", line, got, want)
		}
	}
}
