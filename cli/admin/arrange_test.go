package admin

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestArrange_OptionsBehindOperands: an option counts wherever it stands, and takes the word behind it only if it has a value.
func TestArrange_OptionsBehindOperands(t *testing.T) {
	app := &cli.App{Name: "rampart", Commands: Commands(&Env{})}
	for line, want := range map[string]string{
		"rampart":                                      "rampart",
		"rampart why 4 --when":                         "rampart why --when 4",
		"rampart why --when 4 --days 3":                "rampart why --when --days 3 4",
		"rampart why 4.srv --days=3 --json":            "rampart why --days=3 --json 4.srv",
		"rampart why --days 3 4":                       "rampart why --days 3 4",
		"rampart cluster snapshot save a --server s1":  "rampart cluster snapshot save --server s1 a",
		"rampart cluster snapshot restore --look a":    "rampart cluster snapshot restore --look a",
		"rampart cert revoke n1 --role mom":            "rampart cert revoke --role mom n1",
		"rampart cluster remove s1 --nosuch s2":        "rampart cluster remove --nosuch s1 s2",
		"rampart host forget -- --server":              "rampart host forget -- --server",
		"rampart host forget a --server s1 -- --json":  "rampart host forget --server s1 -- a --json",
		"rampart host forget -":                        "rampart host forget -",
		"rampart host forget host":                     "rampart host forget host",
		"rampart why 4 --days":                         "rampart why --days",
		"rampart nosuch why --when":                    "rampart --when nosuch why",
		"rampart why 4 --generate-bash-completion":     "rampart why 4 --generate-bash-completion",
		"rampart cluster --generate-bash-completion x": "rampart cluster --generate-bash-completion x",
	} {
		words := strings.Fields(line)
		if got := strings.Join(Arrange(app, words), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
		if !slices.Equal(words, strings.Fields(line)) {
			t.Errorf("%s: the caller's words have become %q", line, words)
		}
	}
}
