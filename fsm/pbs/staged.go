package pbs

import "strings"

// A Staged is one item of stagein or stageout: a path on the execution host, and one on the
// host that has the file before, or gets it after, the job.
type Staged struct {
	Local, Host, Remote string
}

// ParseStaged reads local@host:remote. The host is what follows the last @ in front of the
// first colon behind it, so that paths may hold either.
func ParseStaged(text string) (Staged, bool) {
	at := strings.IndexByte(text, '@')
	if at < 0 {
		return Staged{}, false
	}
	colon := strings.IndexByte(text[at:], ':')
	if colon < 0 {
		return Staged{}, false
	}
	colon += at
	at = strings.LastIndexByte(text[:colon], '@')
	s := Staged{Local: text[:at], Host: text[at+1 : colon], Remote: text[colon+1:]}
	if s.Local == "" || s.Remote == "" || !ValidHost(s.Host) || strings.ContainsAny(text, "\x00\n") {
		return Staged{}, false
	}
	return s, true
}

// ParseStagedList reads a whole attribute; what is malformed in it is left out, for the
// attribute's parser has refused it.
func ParseStagedList(text string) []Staged {
	var all []Staged
	for item := range strings.SplitSeq(text, ",") {
		if s, ok := ParseStaged(item); ok {
			all = append(all, s)
		}
	}
	return all
}

// ValidHost tells whether the text can be the name or the address of a host: no option of a
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
// with its domain, or with more of it. It is the one rule for host names.
func SameHost(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" && strings.EqualFold(a, b[:len(a)]) && (len(a) == len(b) || b[len(a)] == '.')
}
