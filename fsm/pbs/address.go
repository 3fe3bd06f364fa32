package pbs

import "strings"

// SplitAddress splits HOST:PORT. A HOST with colons of its own, an IPv6 address, stands in
// brackets, and is returned without them. Without a port all is HOST.
func SplitAddress(address string) (host, port string) {
	host = address
	if i := strings.LastIndexByte(address, ':'); i > strings.LastIndexByte(address, ']') && (strings.HasPrefix(address, "[") || strings.IndexByte(address, ':') == i) {
		host, port = address[:i], address[i+1:]
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), port
}
