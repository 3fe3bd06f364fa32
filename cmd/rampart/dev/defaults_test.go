package dev

import (
	"os"
	"path/filepath"
	"testing"
)

// Tools that read sched_config find one in the homes of a development cluster; one that was changed
// stays.
func TestDefaults(t *testing.T) {
	c := &cluster{layout: layout{dir: t.TempDir()}, plan: plan{Replicas: []string{"s1", "s2"}}}
	changed := filepath.Join(c.home("s2"), "sched_priv", "sched_config")
	if err := provide(changed, []byte("strict_ordering: true\n")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.defaults(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	installed, err := os.ReadFile(filepath.Join(c.dir, "etc", "pbs_sched_config"))
	if err != nil || len(installed) == 0 {
		t.Fatalf("%d bytes, %v", len(installed), err)
	}
	for path, want := range map[string]string{
		filepath.Join(c.home("s1"), "sched_priv", "sched_config"): string(installed), changed: "strict_ordering: true\n",
	} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
