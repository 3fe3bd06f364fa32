package home

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
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
		fmt.Sprintf("hostname=%s;pbs_leaf_name=%s;pbs_mom_node_name=%s", host,
			cmp.Or(Conf("PBS_LEAF_NAME"), "N/A"), cmp.Or(Conf("PBS_MOM_NODE_NAME"), "N/A")),
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
	type family struct{ four, six []string }
	found := make([]family, len(all))
	var looks sync.WaitGroup
	for i, nic := range all {
		addresses, err := nic.Addrs()
		if err != nil {
			continue
		}
		for _, address := range addresses {
			prefix, ok := address.(*net.IPNet)
			if !ok {
				continue
			}
			names := &found[i].six
			if prefix.IP.To4() != nil {
				names = &found[i].four
			}
			*names = append(*names, prefix.IP.String())
		}
		for _, names := range [][]string{found[i].four, found[i].six} {
			for k := range names {
				looks.Go(func() { names[k] = nameOf(ctx, names[k]) })
			}
		}
	}
	looks.Wait()
	var lines []string
	for i, nic := range all {
		for _, of := range []struct {
			family string
			names  []string
		}{{"ipv4", found[i].four}, {"ipv6", found[i].six}} {
			if len(of.names) > 0 {
				lines = append(lines, of.family+" interface "+nic.Name+": "+strings.Join(of.names, " "))
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
