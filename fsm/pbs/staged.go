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
