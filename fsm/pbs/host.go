package pbs

import (
	"net/netip"
	"slices"
	"strings"
)

// ValidHost reports whether the text can be the name or the address of a host: no option of a
// command, no path, nothing that a shell takes apart.
func ValidHost(text string) bool {
	if text == "" || len(text) > 255 || text[0] == '-' || text[0] == '.' {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

// SameHost reports whether two names mean one host: they are equal in any case of letters, or one is the other
// with its domain, or with more of it. An address means a host only as a whole. It is the one rule for the names
// that people and configurations give hosts; what a daemon calls itself (HostName) is compared as it is.
func SameHost(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == "" || !strings.EqualFold(a, b[:len(a)]) {
		return false
	}
	return len(a) == len(b) || b[len(a)] == '.' && !isAddress(b)
}

// AnyHost reports whether one of the names means the host.
func AnyHost(names []string, host string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return SameHost(name, host) })
}

// ThisHost reports whether the name means the host that reads it, whatever that is called.
func ThisHost(name string) bool {
	return strings.EqualFold(name, "localhost") || name == "127.0.0.1" || name == "::1"
}

// ShortHost returns a host's name without its domain; an address has none.
func ShortHost[S ~string](name S) string {
	short, _, dotted := strings.Cut(string(name), ".")
	if dotted && isAddress(string(name)) {
		return string(name)
	}
	return short
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
