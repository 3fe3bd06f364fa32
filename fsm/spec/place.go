package spec

import "strings"

// An Arrangement says how chunks are spread over hosts.
type Arrangement string

// The arrangements; an empty one is not said, and means free.
const (
	Free     Arrangement = "free"
	Pack     Arrangement = "pack"
	Scatter  Arrangement = "scatter"
	VScatter Arrangement = "vscatter"
)

// A Sharing says who else may use the vnodes of a job.
type Sharing string

// The ways of sharing; an empty one is not said, and the vnode decides.
const (
	Exclusive     Sharing = "excl"
	ExclusiveHost Sharing = "exclhost"
	Shared        Sharing = "shared"
)

// A Place says where the chunks of a select go.
type Place struct {
	Arrangement Arrangement
	Sharing     Sharing
	Group       string // the resource whose value all vnodes must share
}

// ParsePlace reads arrangement, sharing and group=resource, separated by colons,
// each once at most and at least one of them.
func ParsePlace(text string) (Place, error) {
	var p Place
	for part := range strings.SplitSeq(text, ":") {
		if !p.take(part) {
			return Place{}, malformedPlace()
		}
	}
	return p, nil
}

func (p *Place) take(part string) bool {
	switch word := part; {
	case isArrangement(word) && p.Arrangement == "":
		p.Arrangement = Arrangement(word)
	case isSharing(word) && p.Sharing == "":
		p.Sharing = Sharing(word)
	case strings.HasPrefix(word, "group=") && p.Group == "":
		p.Group = word[len("group="):]
		return validResource(p.Group)
	default:
		return false
	}
	return true
}

func isArrangement(s string) bool {
	a := Arrangement(s)
	return a == Free || a == Pack || a == Scatter || a == VScatter
}

func isSharing(s string) bool {
	v := Sharing(s)
	return v == Exclusive || v == ExclusiveHost || v == Shared
}

// String prints what was said, in PBS's order; a Place in which nothing was said
// is "free".
func (p Place) String() string {
	var parts []string
	if p.Arrangement != "" {
		parts = append(parts, string(p.Arrangement))
	}
	if p.Sharing != "" {
		parts = append(parts, string(p.Sharing))
	}
	if p.Group != "" {
		parts = append(parts, "group="+p.Group)
	}
	if len(parts) == 0 {
		return string(Free)
	}
	return strings.Join(parts, ":")
}
