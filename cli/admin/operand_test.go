package admin

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestOperands_SayWhatIsWrong: nothing is asked of anybody before the words of the command are
// what it wants.
func TestOperands_SayWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		"cluster snapshot save":               "cluster snapshot save: name one file",
		"cluster snapshot save a b":           `cluster snapshot save: "b" is one word too many`,
		"cluster snapshot save a --server s1": `cluster snapshot save: --server stands behind "a": options come first`,
		"cluster snapshot restore a --look":   `cluster snapshot restore: --look stands behind "a": options come first`,
		"cluster remove":                      "cluster remove: name one replica",
		"cluster remove s1 --server=s2":       `cluster remove: --server=s2 stands behind "s1": options come first`,
		"cluster transfer s1 s2":              `cluster transfer: "s2" is one word too many`,
		"cluster rtt-class lan --server s1":   `cluster rtt-class: --server stands behind "lan": options come first`,
		"host forget n1 --server s1":          `host forget: --server stands behind "n1": options come first`,
		"token revoke":                        "token revoke: name one token",
		"cert revoke n1 --role mom":           `cert revoke: --role stands behind "n1": options come first`,
		"cluster recover --lost s1 s2 --look": "cluster recover: name the replicas that are lost for good: --lost NAME,...; --look tells what would be done",
	} {
		app := &cli.App{Name: "rampart", Commands: Commands(&Env{}), ExitErrHandler: func(*cli.Context, error) {}}
		if err := app.Run(append([]string{"rampart"}, strings.Fields(line)...)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
