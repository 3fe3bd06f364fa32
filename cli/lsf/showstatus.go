package lsf

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"rampart/fsm/lsf"
	"rampart/transport/api"
)

// showStatus is badmin showstatus: hosts, jobs and users in numbers, and who leads.
func showStatus(ctx context.Context, s *session) error {
	_, hosts, err := s.hosts(ctx)
	if err != nil {
		return err
	}
	slots := 0
	states := map[string]int{}
	for _, h := range hosts {
		slots += h.slots
		states[hostStatus(h, tally{}, false, false)]++
	}
	jobs, users, total := map[string]int{}, map[string]bool{}, 0
	_, err = s.list(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Subjobs: true, History: true, Attributes: jobAttributes}, func(o *api.Object) error {
		j := newJob(o)
		if j.isArray() {
			return nil
		}
		total++
		jobs[j.state]++
		if !j.finished() {
			users[j.user] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, servers, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"server_host", "pbs_version"}})
	if err != nil {
		return err
	}
	var master string
	for _, o := range servers {
		master = value(o, "server_host")
	}
	out := bufio.NewWriter(s.env.Stdout)
	out.WriteString("LSF runtime mbatchd information\n")
	section := func(title string, rows ...any) {
		fmt.Fprintf(out, "    %s\n", title)
		for i := 0; i < len(rows); i += 2 {
			fmt.Fprintf(out, "      %-20s %v\n", fmt.Sprint(rows[i])+":", rows[i+1])
		}
		out.WriteByte('\n')
	}
	section("Available local hosts:", "Servers", len(hosts)-states["unavail"]-states["unreach"], "Slots", slots)
	section(fmt.Sprintf("Number of servers:     %d", len(hosts)), "Ok", states["ok"], "Closed", states["closed"], "Unreachable", states["unreach"], "Unavailable", states["unavail"])
	section(fmt.Sprintf("Number of jobs:        %d", total), "Running", jobs[lsf.Running], "Suspended", jobs[lsf.SysSuspended]+jobs[lsf.UserSuspended]+jobs[lsf.HeldPending],
		"Pending", jobs[lsf.Pending], "Finished", jobs[lsf.Done]+jobs[lsf.Exited])
	fmt.Fprintf(out, "    Number of active users: %d\n\n    Active mbatchd host:    %s\n", len(users), strings.TrimSpace(master))
	return out.Flush()
}
