package main

import (
	"bytes"
	"strings"
	"testing"

	"rampart/cli/admin"
)

// TestUsage_IsRefusedWithoutResults: what reads a command's standard output never takes
// a help text for a result.
func TestUsage_IsRefusedWithoutResults(t *testing.T) {
	for line, want := range map[string]string{
		"rampart token create":                     "token create: --role is missing",
		"rampart token create --role mom --ttl 5x": `invalid value "5x" for flag -ttl`,
		"rampart token create --nosuch":            "-nosuch",
		"rampart server join --replica a:1":        "server join: --token-file is missing",
		"rampart mom join --token x":               "mom join: --replica is missing",
		"rampart mom --nosuch":                     "-nosuch",
		"rampart cluster nosuch":                   `"nosuch" is no command`,
		"rampart --nosuch":                         "-nosuch",
		"rampart links":                            "links: --dir is missing",
		"rampart cluster status s1":                `cluster status: "s1" is one word too many`,
		"rampart token list mom":                   `token list: "mom" is one word too many`,
		"rampart why 4 --when --days 0":            "why: --days: 0, want 1 to 366",
		"rampart sim x --replicas 8":               "sim: --replicas: 8, want 1 to 7",
		"rampart version 2":                        `version: "2" is one word too many`,
	} {
		var out bytes.Buffer
		a := app()
		a.Writer, a.ErrWriter = &out, &out
		err := a.Run(admin.Arrange(a, strings.Fields(line)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
		if out.Len() > 0 {
			t.Errorf("%s: printed %q", line, out.String())
		}
	}
}
