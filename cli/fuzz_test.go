package cli

import (
	"strings"
	"testing"
)

func FuzzParseConf(f *testing.F) {
	f.Add("PBS_SERVER=s1,s2\n# no\nPBS_HOME=\"/var/spool/pbs\"\n=x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for key := range ParseConf(strings.NewReader(text)) {
			if strings.ContainsAny(key, "=\n") || key != strings.TrimSpace(key) {
				t.Errorf("the key %q", key)
			}
		}
	})
}
