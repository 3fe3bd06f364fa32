package pbs

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"rampart/cli"
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

const qselectUsage = `usage: qselect [-a [op]date_time] [-A account_string] [-c [op]interval]
	[-h hold_list] [-H] [-J] [-l resource_list] [-N name] [-p [op]priority]
	[-P project] [-q destination] [-r y|n] [-s states] [-t suboption[op]date_time]
	[-T] [-u user_list] [-x]
       qselect --version
`

func qselect() *cli.Command {
	c := &cli.Command{
		Name: "qselect", Summary: "list the identifiers of jobs that meet criteria", Usage: qselectUsage, UsageStatus: 2,
		Grammar: own("a:A:c:h:HJl:N:p:P:q:r:s:t:Tu:x", "stale"),
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		r, server, faults := selection(env, opts)
		if len(faults) > 0 || len(opts.Operands) > 0 {
			return c.Misuse(faults...)
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		if err := s.mean(server); err != nil {
			return err
		}
		err = s.list(ctx, r, nil, func(o *api.Object) error {
			_, err := fmt.Fprintln(env.Stdout, o.Name)
			return err
		})
		if err != nil {
			s.fail(err, nil)
		}
		return s.end()
	}
	return c
}

// selection turns the options into a listing; faults names the values that mean nothing.
func selection(env *cli.Env, opts *cli.Options) (r *api.ListRequest, server string, faults []string) {
	r = &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: []string{"job_state"},
		History: opts.Has("x") || opts.Has("H"), Stale: opts.Has("stale"),
		Arrays: opts.Has("J"), Subjobs: opts.Has("T"),
	}
	if opts.Has("H") {
		r.Where = append(r.Where, &api.Criterion{Name: "job_state", Value: "FM"})
	}
	for _, option := range selectors() {
		for _, value := range opts.All(option.letter) {
			criteria, ok := option.read(env, value)
			if !ok {
				faults = append(faults, "illegal -"+option.letter+" value")
			}
			r.Where = append(r.Where, criteria...)
		}
	}
	if opts.Has("q") {
		queue, at, _ := strings.Cut(opts.Last("q"), "@")
		server = at
		switch {
		case len(queue) > pbs.MaxQueueName:
			faults = append(faults, "illegally formed destination: "+opts.Last("q"))
		case queue != "":
			r.Queues = []string{queue}
		case at == "":
			faults = append(faults, "illegal -q value")
		}
	}
	return r, server, faults
}

// A selector is one option of qselect.
type selector struct {
	letter string
	read   func(env *cli.Env, value string) ([]*api.Criterion, bool)
}

func selectors() []selector {
	return []selector{
		{"a", func(env *cli.Env, v string) ([]*api.Criterion, bool) { return selectMoment(env, "Execution_Time", v) }},
		{"A", selectText("Account_Name", math.MaxInt)},
		{"c", selectOrdered("Checkpoint", isInterval)},
		{"h", selectHolds},
		{"l", selectResources},
		{"N", selectText("Job_Name", attr.MaxJobName)},
		{"p", selectOrdered("Priority", isPriority)},
		{"P", selectText("project", math.MaxInt)},
		{"r", selectRerunable},
		{"s", selectStates},
		{"t", selectTimes},
		{"u", selectOwner},
	}
}

func one(name, resource string, relation api.Relation, value string) []*api.Criterion {
	return []*api.Criterion{{Name: name, Resource: resource, Relation: relation, Value: value}}
}

func selectText(name string, most int) func(*cli.Env, string) ([]*api.Criterion, bool) {
	return func(_ *cli.Env, v string) ([]*api.Criterion, bool) {
		return one(name, "", api.Relation_RELATION_EQUAL, v), v != "" && len(v) <= most
	}
}

func selectOwner(_ *cli.Env, v string) ([]*api.Criterion, bool) {
	for item := range strings.SplitSeq(v, ",") {
		if user, host, _ := strings.Cut(item, "@"); len(user) > maxUser || len(host) > maxUser {
			return nil, false
		}
	}
	return one("Job_Owner", "", api.Relation_RELATION_EQUAL, v), v != ""
}

// maxUser is how long the name of a user, or of a host, may be.
const maxUser = 256

// relations are the words that may stand before a value.
var relations = map[string]api.Relation{
	"eq": api.Relation_RELATION_EQUAL, "ne": api.Relation_RELATION_NOT_EQUAL,
	"ge": api.Relation_RELATION_GREATER_OR_EQUAL, "gt": api.Relation_RELATION_GREATER,
	"le": api.Relation_RELATION_LESS_OR_EQUAL, "lt": api.Relation_RELATION_LESS,
}

// related cuts a relation such as ".gt." off; without one equality is meant.
func related(v string) (api.Relation, string, bool) {
	if !strings.HasPrefix(v, ".") {
		return api.Relation_RELATION_EQUAL, v, true
	}
	word, rest, ok := strings.Cut(v[1:], ".")
	r, known := relations[word]
	return r, rest, ok && known
}

func selectOrdered(name string, legal func(string) bool) func(*cli.Env, string) ([]*api.Criterion, bool) {
	return func(_ *cli.Env, v string) ([]*api.Criterion, bool) {
		r, value, ok := related(v)
		return one(name, "", r, value), ok && legal(value)
	}
}

func isPriority(v string) bool {
	n, err := strconv.Atoi(v)
	return err == nil && n >= -1024 && n <= 1023
}

// isInterval reports whether v is a checkpoint interval: n, s, c, c=MINUTES, w, w=MINUTES, u.
func isInterval(v string) bool {
	letter, minutes, given := strings.Cut(v, "=")
	switch letter {
	case "n", "s", "u":
		return !given
	case "c", "w":
		return !given || isNumber(minutes)
	}
	return false
}

func selectHolds(_ *cli.Env, v string) ([]*api.Criterion, bool) {
	for i := range len(v) {
		if strings.IndexByte("uosnp", v[i]) < 0 || v[i] == 'n' && len(v) > 1 {
			return nil, false
		}
	}
	return one("Hold_Types", "", api.Relation_RELATION_EQUAL, v), v != ""
}

func selectRerunable(_ *cli.Env, v string) ([]*api.Criterion, bool) {
	value, ok := map[string]string{"y": "True", "n": "False"}[v]
	return one("Rerunable", "", api.Relation_RELATION_EQUAL, value), ok
}

func selectStates(_ *cli.Env, v string) ([]*api.Criterion, bool) {
	for i := range len(v) {
		if strings.IndexByte("BEFHMQRSTUWX", v[i]) < 0 {
			return nil, false
		}
	}
	return one("job_state", "", api.Relation_RELATION_EQUAL, v), v != ""
}

// selectResources reads NAME.op.VALUE, or NAME=VALUE, with commas between.
func selectResources(_ *cli.Env, v string) ([]*api.Criterion, bool) {
	var all []*api.Criterion
	for _, item := range splitList(v) {
		i := strings.IndexAny(item, ".=")
		if i <= 0 || !isWord(item[:i]) {
			return nil, false
		}
		r, value, ok := related(item[i:])
		if item[i] == '=' {
			r, value, ok = api.Relation_RELATION_EQUAL, item[i+1:], true
		}
		if !ok || value == "" {
			return nil, false
		}
		all = append(all, one("Resource_List", item[:i], r, unquote(value))...)
	}
	return all, true
}

// selectTimes reads -t: a letter for the moment, a relation, and the moment.
func selectTimes(env *cli.Env, v string) ([]*api.Criterion, bool) {
	if v == "" {
		return nil, false
	}
	name, ok := map[byte]string{
		'a': "Execution_Time", 'c': "ctime", 'e': "obittime", 'g': "eligible_time", 'm': "mtime", 'q': "qtime", 's': "stime",
		't': "estimated",
	}[v[0]]
	switch {
	case !ok:
		return nil, false
	case name == "eligible_time":
		r, value, ok := related(v[1:])
		return one(name, "", r, value), ok && value != ""
	case name == "estimated":
		all, ok := selectMoment(env, name, v[1:])
		for _, c := range all {
			c.Resource = "start_time"
		}
		return all, ok
	}
	return selectMoment(env, name, v[1:])
}

func selectMoment(env *cli.Env, name, v string) ([]*api.Criterion, bool) {
	r, value, ok := related(v)
	at, legal := moment(env, value)
	return one(name, "", r, strconv.FormatInt(at, 10)), ok && legal
}
