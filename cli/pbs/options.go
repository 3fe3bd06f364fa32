package pbs

import (
	"slices"
	"strconv"
	"strings"

	"rampart/cli"
	"rampart/fsm/attr"
	"rampart/transport/api"
)

// A request collects what options say about a job. What is said later counts, so
// directives are read before the command line.
type request struct {
	env     *cli.Env
	qalter  bool
	changes []*api.Attribute

	destination string
	prefix      string // of directives, if -C was given
	prefixed    bool
	silent      bool // -z
	graphic     bool // -X
	export      bool // -V
	variables   string
	hasName     bool // Job_Name is set, with whatever was said

	most        byte     // where max_run_subjobs was said
	faults      []string // "illegal -N value"
	unsupported bool     // something of a feature that is yet to come
}

// The options that say max_run_subjobs: -J X-Y%N and -W.
const (
	mostOfRange = 1 << iota
	mostOfW
)

// submitLetters and alterLetters are the getopt option strings.
const (
	submitLetters = "a:A:c:C:e:fGhIj:J:k:l:m:M:N:o:p:P:q:r:R:S:u:v:VW:Xz"
	alterLetters  = "a:A:c:e:h:j:k:l:m:M:N:o:p:P:r:R:S:u:W:"
)

// set makes an attribute, or a resource of one, what was said last. Without a
// value qalter unsets it.
func (r *request) set(name, resource, value string) {
	op := api.Op_OP_SET
	if r.qalter && value == "" {
		op = api.Op_OP_UNSET
	}
	for _, a := range r.changes {
		if a.Name == name && a.Resource == resource {
			a.Value, a.Op = value, op
			return
		}
	}
	r.changes = append(r.changes, &api.Attribute{Name: name, Resource: resource, Value: value, Op: op})
}

// value returns what the attribute was set to.
func (r *request) value(name string) string {
	for _, a := range r.changes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

func (r *request) illegal(letter string) { r.faults = append(r.faults, "illegal -"+letter+" value") }

// read takes over what opts say; what is wrong with it goes to faults.
func (r *request) read(opts *cli.Options) {
	for _, letter := range attr.OptionLetters() {
		o, _ := attr.OptionOf(byte(letter))
		for _, v := range opts.All(string(letter)) {
			r.option(o, v)
		}
	}
	for _, v := range opts.All("l") {
		if !r.resources(v) {
			r.illegal("l")
		}
	}
	for _, v := range opts.All("W") {
		if !r.extended(v) {
			r.illegal("W")
		}
	}
	r.others(opts)
}

// option reads one value of an option that sets an attribute.
func (r *request) option(o attr.Option, v string) {
	def, known := attr.Lookup(attr.Job, o.Attribute)
	if !known {
		r.unsupported = true
		return
	}
	if o.Letter == 'N' && !r.qalter {
		r.rename(v)
		return
	}
	if v == "" && o.Unsets || o.Letter == 'm' && v == "j" && !r.qalter { // of j checkArray judges
		r.set(o.Attribute, "", v)
		return
	}
	value, ok := r.prepare(o, v)
	if ok {
		value, ok = parse(def, value)
	}
	if !ok {
		r.illegal(string(o.Letter))
		return
	}
	r.set(o.Attribute, "", value)
}

// prepare completes what the user may leave out.
func (r *request) prepare(o attr.Option, v string) (string, bool) {
	switch {
	case o.Flag && !(r.qalter && o.Letter == 'h'):
		return o.Value, true
	case o.Letter == 'o' || o.Letter == 'e':
		return r.path(v)
	case o.Letter == 'a':
		at, ok := moment(r.env, v)
		return strconv.FormatInt(at, 10), ok
	case o.Letter == 'M':
		return v, isMailing(v)
	case o.Letter == 'J':
		span, most, limited := strings.Cut(v, "%")
		if limited && isRange(v) {
			r.set("max_run_subjobs", "", most)
			r.most |= mostOfRange
		}
		return span, isRange(v)
	}
	return v, true
}

func parse(def *attr.Def, value string) (string, bool) {
	canonical, err := def.Parse(value)
	return canonical, err == nil
}

// others reads the options that are more, or less, than one attribute.
func (r *request) others(opts *cli.Options) {
	r.silent = r.silent || opts.Has("z")
	r.export = r.export || opts.Has("V")
	r.unsupported = r.unsupported || opts.Has("G")
	r.graphic = r.graphic || opts.Has("X")
	if opts.Has("v") {
		r.variables = opts.Last("v")
	}
	if opts.Has("C") {
		r.prefix, r.prefixed = opts.Last("C"), true
	}
	if !opts.Has("q") {
		return
	}
	r.destination = opts.Last("q")
	queue, server, at := strings.Cut(r.destination, "@")
	if queue == "" && server == "" || at && server == "" {
		r.illegal("q")
	}
}

// resources reads -l. The items of preempt_targets that follow the first one belong to it: they are no resources
// (specification: breadth section 1, rule 22).
func (r *request) resources(v string) bool {
	targets := ""
	items := splitList(v)
	split := -1 // the item that white space has separated from the one before: what it names the server judges
	for i := 0; i < len(items); i++ {
		word := i != split
		name, value, ok := strings.Cut(items[i], "=")
		name = strings.TrimSpace(name)
		value = strings.TrimSpace(value)
		if end := strings.IndexAny(value, " \t\r\n\v\f"); end > 0 && value[0] != '"' && value[0] != '\'' { // as a comma
			items, split = slices.Insert(items, i+1, value[end:]), i+1
			value = value[:end]
		}
		value = unquote(value)
		if targets != "" && ok && value != "" && isTarget(name) {
			targets += "," + name + "=" + value
			r.set("Resource_List", preemptTargets, targets)
			continue
		}
		if !ok || name == "" || word && !isWord(name) || value == "" && !r.qalter {
			return false
		}
		targets = ""
		if name == preemptTargets {
			targets = value
		}
		r.set("Resource_List", name, value)
	}
	return v != ""
}

// preemptTargets names the resource that lists whom a job may preempt.
const preemptTargets = "preempt_targets"

// isTarget reports whether entries of preempt_targets may have the name.
func isTarget(name string) bool {
	list, _, dotted := strings.Cut(name, ".")
	return !dotted && strings.EqualFold(name, "queue") || dotted && strings.EqualFold(list, "Resource_List")
}

// extended reads -W.
func (r *request) extended(v string) bool {
	pairs, ok := pairsOf(v)
	for _, p := range pairs {
		if !r.extendedOne(p.name, p.value) {
			return false
		}
	}
	return ok
}

// A pair is one item of -W.
type pair struct{ name, value string }

// pairsOf splits the value of -W. An item without "=" goes on with the value before it.
func pairsOf(v string) (pairs []pair, ok bool) {
	for _, item := range splitList(v) {
		name, value, given := strings.Cut(item, "=")
		switch {
		case given:
			pairs = append(pairs, pair{strings.TrimSpace(name), value})
		case len(pairs) == 0:
			return nil, false
		default:
			pairs[len(pairs)-1].value += "," + item
		}
	}
	for i := range pairs {
		pairs[i].value = unquote(strings.TrimSpace(pairs[i].value))
	}
	return pairs, len(pairs) > 0
}

// extendedOne sets one attribute of -W, or unsets it: qalter -W depend=. Names that the command does not know are for the server to judge,
// as in PBS.
func (r *request) extendedOne(name, value string) bool {
	attribute, resource, _ := strings.Cut(name, ".")
	if !isWord(attribute) || value == "" && !r.qalter {
		return false
	}
	if def, ok := attr.Additional(name); ok && value != "" {
		if value, ok = parse(def, value); !ok {
			return false
		}
	}
	r.set(attribute, resource, value)
	if attribute == "max_run_subjobs" {
		r.most |= mostOfW
	}
	return true
}
