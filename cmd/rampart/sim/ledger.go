package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rampart/chaos/look"
)

// recordsFor is how long a ledger may take to be written.
const recordsFor = time.Minute

// records makes the accounting records of a job, or of all, the standard output.
func (r *run) records(_ step, words []string) error {
	for end := time.Now().Add(recordsFor); ; {
		lines, err := r.ledger()
		if err != nil {
			return err
		}
		if len(words) > 0 {
			lines = slices.DeleteFunc(lines, func(l string) bool { return field(l, 2) != words[0] })
		}
		r.stdout, r.stderr, r.last = "", "", strings.Join(append([]string{"records"}, words...), " ")
		types := ""
		for _, l := range lines {
			r.stdout += l + "\n"
			types += field(l, 1)
		}
		if len(words) < 2 || types == words[1] {
			r.show()
			return nil
		}
		if time.Now().After(end) {
			return &failure{fmt.Sprintf("the records %s of %s within %s", words[1], words[0], recordsFor), types + "\n" + r.stdout}
		}
		if err := r.until(time.Now().Add(time.Second)); err != nil {
			return err
		}
	}
}

func field(line string, n int) string {
	fields := strings.SplitN(line, ";", n+2)
	if len(fields) < n+1 {
		return ""
	}
	return fields[n]
}

// ledger returns the lines of the accounting files of the leader, or of the first replica.
func (r *run) ledger() ([]string, error) {
	name := r.world.Leader()
	if name == "" {
		name = r.world.Replicas()[0]
	}
	files, err := look.Ledger(accounting(r.world.Home(name)))
	if err != nil {
		return nil, err
	}
	var days []string
	for day := range files {
		days = append(days, day)
	}
	slices.Sort(days)
	var lines []string
	for _, day := range days {
		for line := range strings.Lines(string(files[day])) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines, nil
}
