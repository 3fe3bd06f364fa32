package admin

import (
	"io"
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
		"cluster snapshot save -- a --server": `cluster snapshot save: "--server" is one word too many`,
		"cluster snapshot restore a --look b": `cluster snapshot restore: "b" is one word too many`,
		"cluster remove":                      "cluster remove: name one replica",
		"cluster remove s1 --server=s2 s3":    `cluster remove: "s3" is one word too many`,
		"cluster transfer s1 s2":              `cluster transfer: "s2" is one word too many`,
		"cluster rtt-class lan --server s1 x": `cluster rtt-class: "x" is one word too many`,
		"host forget n1 --nosuch":             "flag provided but not defined: -nosuch",
		"token revoke":                        "token revoke: name one token",
		"cert revoke n1 --role":               "flag needs an argument: -role",
		"cluster recover --lost s1 s2 --look": "cluster recover: name the replicas that are lost for good: --lost NAME,...; --look tells what would be done",
	} {
		app := &cli.App{Name: "rampart", Writer: io.Discard, Commands: Commands(&Env{}), ExitErrHandler: func(*cli.Context, error) {}}
		if err := app.Run(Arrange(app, append([]string{"rampart"}, strings.Fields(line)...))); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
