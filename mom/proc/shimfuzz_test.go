//go:build linux

package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// A record of a shim that a crash has spoilt never names all processes of the host, or the daemon's own group: signals
// go to whom it names.
func FuzzReadShim(f *testing.F) {
	for _, text := range []string{
		`{"pid":77,"start":5,"boot_id":"b","cookie":"c"}` + "\n" + `{"session":78}`, `{"pid":77,"start":5}` + "\n" + `{"sess`,
		`{"pid":-1,"start":0}`, `{"pid":77}` + "\n" + `{"session":-1}`, `{"pid":77}` + "\n" + `{"session":1}`, `{"pid":0,"session":1}`, `null`, ``, "\n{}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), shimFile)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		h, ok, err := readShim(path)
		if err == nil && (!ok || h.PID < 0 || h.PID == 1 || h.Session < 0 || h.Session == 1) {
			t.Errorf("%q is read as %+v, %v", text, h, ok)
		}
	})
}
