package lsf

import (
	"bytes"
	"strings"
	"testing"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/fsm/resreq"
)

func TestLoadTable(t *testing.T) {
	host := func(name, state, ncpus string, cpuf float64, load loadOf) sighted {
		j := jobOf(name, "state", state, "resources_available.ncpus", ncpus)
		return sighted{offer: offer{j.Object, number(ncpus)}, around: &around{}, load: load, row: lsf.Host{Factor: lsf.Thousandths(cpuf * 1000)}}
	}
	hosts := []sighted{
		host("hosta", "free", "4", 2, loadOf{"r15s": 8, "r1m": 1.25, "r15m": 0, "ut": 50.4, "pg": 2.5, "io": 7, "ls": 49, "it": 3, "tmp": 911, "swp": 915.9, "mem": 0, "bandwidth": 2.5}),
		host("a-host-with-a-long-name", "job-busy", "2", 1, loadOf{"r15s": 0.04}),
		host("hostc", "down", "4", 1, loadOf{"r15s": 1}),
		host("hostd", "free", "4", 1, nil),
	}
	for options, want := range map[string]string{
		"": `HOST_NAME       status  r15s   r1m  r15m   ut    pg  ls    it   tmp   swp   mem
hosta               ok   8.0   1.2   0.0  50%   2.5  49     3  911M  915M    0M
a-host-with-a-l     ok   0.0     -     -    -     -   -     -     -     -     -
hostc           unavail
hostd           unavail
`,
		"-w -I r15s:mem": `HOST_NAME               status  r15s   mem
hosta                       ok   8.0    0M
a-host-with-a-long-name     ok   0.0     -
hostc                   unavail
hostd                   unavail
`,
		"-N -I cpu:r15s": `HOST_NAME       status   r1m  r15s
hosta               ok   0.2   1.0
a-host-with-a-l     ok     -   0.0
hostc           unavail
hostd           unavail
`,
		"-E -I r15s": `HOST_NAME       status  r15s
hosta               ok   2.0
a-host-with-a-l     ok   0.0
hostc           unavail
hostd           unavail
`,
	} {
		var out bytes.Buffer
		s := testSession(&out)
		line := lsload().Grammar.Parse(strings.Fields(options))
		if len(line.Faults) > 0 {
			t.Fatal(line.Faults)
		}
		opts := cli.OptionsOf(line)
		var shown []loaded
		for _, h := range hosts {
			shown = append(shown, newLoaded(h, opts))
		}
		columns, err := loadColumns(opts, shown, resreq.Site{})
		if err == nil {
			err = s.loadTable(shown, columns, opts)
		}
		if err != nil || out.String() != want {
			t.Errorf("lsload %s: %v\n%s", options, err, out.String())
		}
	}
}
