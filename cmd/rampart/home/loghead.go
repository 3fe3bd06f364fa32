package home

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"rampart/fsm/pbs"
	"rampart/transport/build"
)

// lookTime bounds how long LogHead waits for the names of the host's addresses: no daemon starts
// noticeably later because a name server does not answer.
const lookTime = 300 * time.Millisecond

// LogHead returns what a daemon says of itself and its host in each file of its log (specification: logs
// section 1): its version, its names, and a line for each address family of each network interface. An
// address that has no name, or whose name is not known in time, stands for itself.
func LogHead() []string {
	host, err := os.Hostname()
	if err != nil {
		host = "N/A"
	}
	lines := []string{
		"pbs_version=" + pbs.Version,
		"pbs_build=rampart " + build.Version(),
		fmt.Sprintf("hostname=%s;pbs_leaf_name=%s;pbs_mom_node_name=%s", host, cmp.Or(Conf("PBS_LEAF_NAME"), "N/A"), cmp.Or(Conf("PBS_MOM_NODE_NAME"), "N/A")),
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	return append(lines, interfaces(ctx)...)
}

func interfaces(ctx context.Context) []string {
	all, err := net.Interfaces()
	if err != nil {
		return []string{"interfaces of the host are not known: " + err.Error()}
	}
	var lines []string
	for _, nic := range all {
		addresses, err := nic.Addrs()
		if err != nil {
			continue
		}
		families := [2]string{"ipv4", "ipv6"}
		var names [2][]string
		for _, address := range addresses {
			prefix, ok := address.(*net.IPNet)
			if !ok {
				continue
			}
			family := 1
			if prefix.IP.To4() != nil {
				family = 0
			}
			names[family] = append(names[family], nameOf(ctx, prefix.IP.String()))
		}
		for family, names := range names {
			if len(names) > 0 {
				lines = append(lines, families[family]+" interface "+nic.Name+": "+strings.Join(names, " "))
			}
		}
	}
	return lines
}

// nameOf returns the names of an address, the address itself if it has none.
func nameOf(ctx context.Context, address string) string {
	names, err := net.DefaultResolver.LookupAddr(ctx, address)
	if err != nil || len(names) == 0 {
		return address
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".")
	}
	return strings.Join(names, " ")
}
