package home

import (
	"net"
	"os"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// TestLogHead names version, host and each interface that has an address.
func TestLogHead(t *testing.T) {
	t.Setenv("PBS_LEAF_NAME", "leaf1")
	t.Setenv("PBS_MOM_NODE_NAME", "10.0.0.7")
	head := "\n" + strings.Join(LogHead(), "\n") + "\n"
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{"\npbs_version=" + pbs.Version + "\n", "\npbs_build=", "\nhostname=" + host + ";pbs_leaf_name=leaf1;pbs_mom_node_name=10.0.0.7\n"}
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, nic := range all {
		if addresses, err := nic.Addrs(); err == nil && len(addresses) > 0 {
			wanted = append(wanted, " interface "+nic.Name+": ")
		}
	}
	for _, want := range wanted {
		if !strings.Contains(head, want) {
			t.Errorf("%q lacks %q", head, want)
		}
	}
}
