package resreq

import "strings"

// A Kind says what values of a resource look like.
type Kind uint8

// The kinds.
const (
	Numeric Kind = iota + 1
	Text
	Boolean
)

// A Resource is what a requirement may name: a load index, or what a site has defined.
type Resource struct {
	Name       string
	Kind       Kind
	Increasing bool // a larger value is more load
	Dynamic    bool // its value is reported at run time
	Consumable bool // may be reserved
	Shared     bool // has instances of several hosts, not one of each host
	Builtin    bool
}

// builtin are the indices that every host has (specification: reservation section 1.2).
var builtin = func() map[string]Resource {
	all := map[string]Resource{}
	for name := range strings.FieldsSeq("r15s r1m r15m ut pg io ls") {
		all[name] = Resource{Name: name, Kind: Numeric, Increasing: true, Dynamic: true, Consumable: true, Builtin: true}
	}
	for name := range strings.FieldsSeq("it tmp swp mem") {
		all[name] = Resource{Name: name, Kind: Numeric, Dynamic: true, Consumable: true, Builtin: true}
	}
	for name := range strings.FieldsSeq("ncpus ndisks maxmem maxswp maxtmp cpuf") {
		all[name] = Resource{Name: name, Kind: Numeric, Builtin: true}
	}
	for name := range strings.FieldsSeq("type model status hname") {
		all[name] = Resource{Name: name, Kind: Text, Builtin: true}
	}
	return all
}()

var aliases = map[string]string{"swap": "swp", "login": "ls", "logins": "ls", "idle": "it", "cpu": "r1m"}

// sized reports whether a resource is an amount of megabytes.
func sized(name string) bool { return name == "mem" || name == "swp" || name == "tmp" }

// A Site is what a cluster has defined beside the built-in resources. The zero value has nothing.
type Site struct {
	Resources map[string]Resource // by name; none has the name of a built-in one
	UnitTypes []string            // of compute units
	Strict    bool                // LSF_STRICT_RESREQ: what cannot be reserved is refused, not ignored
}

// Resource returns the resource of a name or alias.
func (s Site) Resource(name string) (Resource, bool) {
	if full, ok := aliases[name]; ok {
		name = full
	}
	if r, ok := builtin[name]; ok {
		return r, true
	}
	if reserved(name) {
		return Resource{}, false
	}
	r, ok := s.Resources[name]
	return r, ok
}

// idle is the time for which nobody has typed, which no job takes of: rusage may name it so that what asks for some of it
// is told what to ask for instead, and a limit on it bounds nothing, unless the site has a resource of that name.
const idle = "it"

// Reservable reports whether jobs can hold some of a resource.
func (s Site) Reservable(r Resource) bool {
	own, has := s.Resources[r.Name]
	return r.Consumable && (r.Name != idle || has && own.Consumable)
}

// maxName bounds the name of a resource.
const maxName = 39

// ValidName reports whether a site may define a resource with the name.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || isDigit(name[0]) {
		return false
	}
	for i := range len(name) {
		if !isName(name[i]) {
			return false
		}
	}
	_, taken := Site{}.Resource(name)
	return !taken && !reserved(name)
}

// reserved reports whether the language itself has the word where resources are named.
func reserved(name string) bool { return name == "duration" || name == "decay" || name == "defined" }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isName reports whether names have the character: what neither is a sign of the language nor blank.
func isName(c byte) bool {
	return c > ' ' && c < 0x7f && strings.IndexByte(`:.()[]{}+-*/!&|<>@=,'"`, c) < 0
}
