package cli

import (
	"testing"
	"testing/fstest"
	"time"
)

func TestBudget_IsWhatTheEnvironmentOrPbsConfSays(t *testing.T) {
	const bad = -1
	for _, test := range []struct {
		conf, variable string
		want           time.Duration
	}{
		{"", "", 0},
		{"PBS_TIMEOUT=60\n", "", time.Minute},
		{"PBS_TIMEOUT=60\n", "7", 7 * time.Second},
		{"", "5", 5 * time.Second},
		{"", "86400", 24 * time.Hour},
		{"", "4", bad},
		{"", "0", bad},
		{"", "-30", bad},
		{"", "86401", bad},
		{"", "30s", bad},
		{"", "1e3", bad},
		{"PBS_TIMEOUT=soon\n", "", bad},
	} {
		files := fstest.MapFS{"etc/pbs.conf": {Data: []byte(test.conf)}}
		env, _, _ := testEnv(files, "PBS_TIMEOUT="+test.variable)
		got, err := env.Target("").Budget()
		if err != nil {
			got = bad
		}
		if got != test.want {
			t.Errorf("%+v: %s, %v", test, got, err)
		}
	}
}
