package hook

import (
	"os"
	"path/filepath"
	"testing"
)

// A manifest that a crash has spoilt makes a store of less, never one that cannot be asked.
func FuzzOpenStore(f *testing.F) {
	for _, text := range []string{
		`{"generation":3,"hooks":[{"name":"h","seq":1,"attrs":{"event":"execjob_begin","order":"5","enabled":"true"},"script":"00"}],"resources":[{"name":"foo","type":"long"}]}`,
		`{"hooks":[{}]}`, `{"hooks":null}`, `{"hooks":[null]}`, `null`, `[]`, `{`, ``, `{"hooks":[{"name":"../x","attrs":{"event":"execjob_begin","alarm":"-1","freq":"x"}}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, manifestFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"execjob_begin", "exechost_periodic"} {
			for _, h := range s.At(event) {
				if _, _, err := s.Script(&h); err == nil && len(h.Script) != 64 {
					t.Errorf("%+v has a script", h)
				}
				h.Seconds("alarm")
				h.Fails("offline_vnodes")
			}
		}
		again, err := OpenStore(dir)
		if err != nil || again.Manifest().Generation != s.Manifest().Generation {
			t.Error(err)
		}
	})
}
