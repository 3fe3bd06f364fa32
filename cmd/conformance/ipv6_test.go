package conformance

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
)

// TestIPv6: replicas and moms that are reached at ::1, where an address has colons of its own. A
// job runs over two hosts, before and after the death of the leader.
func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip(err)
	}
	_ = l.Close()
	t.Parallel()
	c := newCluster(t, "--ipv6", "--mom", "hosta:ncpus=2,mem=2gb", "--mom", "hostb:ncpus=2,mem=2gb")
	output := func(name string, args ...string) string {
		t.Helper()
		out, err := c.Output(t.Context(), name, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if nodes := output("pbsnodes", "-a"); len(regexp.MustCompile(`(?m)^     Port = [0-9]{5}$`).FindAllString(nodes, -1)) != 2 {
		t.Errorf("the ports of the moms:\n%s", nodes)
	}
	if status := output("rampart", "cluster", "status"); strings.Count(status, " [::1]:") != 3 {
		t.Errorf("the addresses of the replicas:\n%s", status)
	}
	run := func() {
		t.Helper()
		dir := t.TempDir()
		output("qsub", "-W", "block=true", "-l", "select=2:ncpus=1", "-l", "place=scatter", "-j", "oe", "-o", dir+"/out", "--", "/bin/sh", "-c", "exec pbsdsh echo across")
		waitFor(t, patience, "the output", func() error { return grep(dir, "across\nacross") })
	}
	run()
	leader, err := c.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kill(t, c, leader)
	waitFor(t, patience, "another leader", func() error {
		now, err := c.Leader(t.Context())
		if err == nil && now == leader {
			err = fmt.Errorf("%s leads", now)
		}
		return err
	})
	run()
	restart(t, c, leader)
	run()
}
