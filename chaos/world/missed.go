package world

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"rampart/chaos/check"
)

// Lines that moms write about starts: that one goes on without a host, and that hosts have joined. The fields are time, event,
// daemon, class, object and text.
var (
	badLine  = regexp.MustCompile(`^[^;]*;[^;]*;[^;]*;Node;([^;]*);job node_list_fail: node (\S+)$`)
	joinLine = regexp.MustCompile(`^[^;]*;[^;]*;[^;]*;Job;([^;]*);JOIN_JOB as node `)
)

// missed reads from the logs of all moms which starts went on without which hosts.
func (w *World) missed() ([]check.Missed, error) {
	type part struct{ job, host string }
	bad, joined := map[part]bool{}, map[part]bool{}
	for _, m := range w.moms {
		files, err := filepath.Glob(filepath.Join(w.home(m.name), "mom_logs", "*"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSuffix(line, "\n")
				if f := badLine.FindStringSubmatch(line); f != nil {
					bad[part{f[1], f[2]}] = true
				} else if f := joinLine.FindStringSubmatch(line); f != nil {
					joined[part{f[1], m.name}] = true
				}
			}
		}
	}
	var all []check.Missed
	for p := range bad {
		all = append(all, check.Missed{Job: p.job, Host: p.host, Late: joined[p]})
	}
	return all, nil
}
