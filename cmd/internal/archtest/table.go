package archtest

import "strings"

// A Rule says what a package may import of this module, and why no more.
type Rule struct {
	Package string // path below the module; "X/*" is X and all below it
	May     string // patterns separated by blanks; "*" is anything
	Why     string
}

// Rules is the whole truth: a package without a rule fails, and what a rule does
// not name is forbidden. The most exact pattern wins.
var Rules = []Rule{
	{"fsm/pbs", "", "the words of the domain are the root of everything"},
	{"fsm/resource", "fsm/pbs", "arithmetic on quantities knows words only"},
	{"fsm/spec", "fsm/pbs fsm/resource", "languages are parsed without any state"},
	{"fsm/resreq", "fsm/pbs", "requirements are read and merged without any state, by what a site has defined"},
	{"fsm/rusage", "fsm/resreq", "arithmetic on requirements only"},
	{"fsm/lsf", "fsm/pbs fsm/resource fsm/spec fsm/resreq fsm/rusage", "translates between languages, without any state"},
	{"fsm/lsf/conf", "fsm/pbs fsm/resource fsm/resreq fsm/rusage fsm/lsf fsm/attr", "judges the contents of files, without a disk and without the state"},
	{"fsm/attr", "fsm/pbs fsm/resource fsm/spec", "the attribute table is data, the same for commands and replicas"},
	{"fsm/alloc", "fsm/pbs fsm/resource fsm/spec", "arithmetic on assignments knows neither jobs nor the state"},
	{"fsm/state", "fsm/pbs fsm/resource fsm/spec fsm/attr fsm/alloc fsm/resreq fsm/rusage fsm/lsf", "records and laws do not know the commands that change them"},
	{"fsm/command", "fsm/pbs fsm/resource fsm/spec fsm/resreq fsm/lsf fsm/attr fsm/alloc fsm/state", "a command is data and a pure Apply"},
	{"fsm/snapshot/attached", "fsm/pbs", "a file format that knows no tables"},
	{"fsm/snapshot", "fsm/pbs fsm/resource fsm/spec fsm/attr fsm/alloc fsm/state fsm/command", "a file form of the state, nothing else"},
	{"fsm/acct", "fsm/pbs fsm/resource fsm/spec fsm/attr fsm/alloc fsm/state fsm/command", "which event writes which record is decided without I/O"},
	{"fsm/recur", "fsm/pbs fsm/acct", "rules of recurrence are arithmetic on times, with the zones that records are dated in"},
	{"fsm", "fsm/*", "a thin adapter to raft.FSM"},

	{"cluster", "fsm/* transport/* cluster/gossip cluster/identity cluster/member cluster/patience cluster/raftlog cluster/recovery cluster/store cluster/term", "a replica does not know the duties that it runs"},
	{"cluster/member", "fsm/command fsm/pbs fsm/state cluster/store", "rules read what replicas tell and return verdicts, without a Raft that runs"},
	{"cluster/identity", "fsm/pbs fsm/state cluster/member cluster/store", "decides from what a disk has on record of its cluster"},
	{"cluster/recovery", "fsm/pbs fsm/state cluster/member cluster/store", "a plan and an entry at the end of a log, while no Raft runs"},
	{"cluster/store", "cluster/patience cluster/raftlog transport/disk", "keeps what it is given, and does not know what that means"},
	{"cluster/raftlog", "", "formats Raft's log lines, and knows nothing else"},
	{"cluster/blob", "fsm/* transport/*", "contents that the state names, from disk to disk"},
	{"cluster/gossip", "", "gossip is a hint (L13): it knows names, not the domain"},
	{"cluster/patience", "", "a deadline is the same for disks and for moms"},
	{"cluster/term", "", "one context for each term; it does not know the work"},
	{"cluster/sched", "fsm/* cluster/sched/calendar", "Plan is pure; its loop proposes through an interface"},
	{"cluster/sched/calendar", "fsm/pbs", "arithmetic on times only"},
	{"cluster/dispatch", "fsm/* transport/* cluster/patience", "orders come from the state and go to moms"},
	{"cluster/load", "fsm/pbs fsm/resreq", "the present load of hosts, which is in no state"},
	{"cluster/mail", "fsm/*", "mails are in the state; how one is handed on is a function"},
	{"cluster/ledger", "fsm/* transport/*", "accounting comes from the committed log (L10)"},
	{"cluster/service", "cluster cluster/blob cluster/identity cluster/load cluster/member cluster/recovery fsm/* transport/* mom/hook", "methods: parse, permit, propose or read, reply"},

	{"transport", "fsm/pbs transport/api/* transport/own transport/known", "identity and routing do not know the state"},
	{"transport/api/*", "transport/api", "definitions and generated code"},
	{"transport/client", "transport transport/api/* fsm/pbs", "finding replicas knows no state"},
	{"transport/daylog", "fsm/pbs transport/own", "the form of a log line is every daemon's"},
	{"transport/directory", "transport transport/known fsm/pbs", "looks accounts up, and knows no permissions"},
	{"transport/known", "", "keeps answers of any service"},
	{"transport/login", "transport fsm/pbs", "only daemons make and read login tokens; the user commands do not carry the code"},
	{"transport/memnet", "", "a network in memory"},
	{"transport/build", "", "a version is the same for every program"},
	{"transport/head", "", "one bound for the output of any program"},
	{"transport/pause", "", "a wait is the same for every daemon"},
	{"transport/streams", "", "shared by both ends of joined streams, so it knows neither"},
	{"transport/x11", "", "shared by both ends of a forwarded display, so it knows neither"},
	{"transport/disk", "", "a disk is the same for every daemon"},
	{"transport/own", "", "locks and permissions, the same for every daemon"},
	{"transport/meter", "", "shared by the metrics of all daemons, so it knows none of them"},

	{"mom", "mom/* transport/* fsm/pbs fsm/resource fsm/spec", "the mom never sees the tables or the log"},
	{"mom/task", "fsm/pbs fsm/resource fsm/spec transport/pause mom/proc mom/spool mom/files", "a job's life on one host: decide, then do"},
	{"mom/proc/*", "fsm/pbs fsm/resource mom/proc transport/disk transport/streams transport/x11", "processes; the shim is part of the lean binary"},
	{"mom/cgroup", "fsm/pbs fsm/resource mom/proc", "the resources of a host and who has them; the states of jobs are mom/task's"},
	{"mom/hook", "fsm/pbs fsm/resource fsm/spec fsm/attr mom/proc transport/own", "the hook runtime serves moms and replicas, and knows neither"},
	{"mom/files", "fsm/pbs mom/proc", "files of a host, with the rights of the caller; the network is mom/mover's"},
	{"mom/load", "transport/head transport/pause", "measures a host, and does not know who asks"},
	{"mom/mover", "mom/files mom/proc transport/* fsm/pbs", "files of jobs between hosts, for moms and for every daemon that others' jobs write to"},
	{"mom/spool", "fsm/pbs transport/disk transport/own", "keeps what it is given, and does not know what that means"},

	{"cli/*", "cli/* transport transport/client transport/pause transport/streams transport/x11 transport/api/* fsm/pbs fsm/attr fsm/resource fsm/spec fsm/resreq fsm/lsf fsm/lsf/conf fsm/snapshot/attached", "commands know words and messages, never the tables"},

	{"chaos/*", "*", "tests that inject faults may import anything"},
	{"cmd/*", "*", "programs wire everything together"},
}

// Nobody lists packages that only the named folders may import.
var Nobody = []struct{ Package, But, Why string }{
	{"chaos/*", "chaos/* cmd/*", "the product does not carry its fault injection"},
	{"cmd/*", "cmd/* chaos/*", "programs are the top of the tree; the bubble runs their wiring"},
}

// Bans lists what must not be used under fsm: a replica whose Apply depended on anything else than the state and the entry
// would differ from the others (L4).
var Bans = []struct{ Import, Name, Why string }{
	{"time", "Now", "the time of an entry is in the entry"},
	{"time", "Since", "the time of an entry is in the entry"},
	{"time", "Until", "the time of an entry is in the entry"},
	{"math/rand", "", "chance differs between replicas"},
	{"math/rand/v2", "", "chance differs between replicas"},
	{"crypto/rand", "", "chance differs between replicas"},
	{"os", "", "files and environment differ between replicas"},
	{"net", "", "a network call in Apply would never be the same twice"},
	{"log", "", "an outcome is returned, not written down"},
	{"log/slog", "", "an outcome is returned, not written down"},
}

// Unraced are packages with goroutines that the Makefile leaves out of the race detector all the same, and why.
var Unraced = map[string]string{
	"cmd/bench":             "its tests are of its arithmetic, and start none of them",
	"cmd/internal/exported": "it reads a channel that a library writes to",
	"cmd/rampart/dev":       "its tests are of what it reads and writes, and start none of them",
	"cmd/rampart/sim":       "a scenario is played on one processor, and chaos's tests race the world that it plays in",
	"fsm/snapshot":          "replicas of cluster's tests read and write snapshots, which are raced",
}

// Lean lists what the binary of the user commands must not carry, because people
// start it thousands of times.
var Lean = []struct{ Package, Why string }{
	{"github.com/hashicorp/raft", "the log belongs to the daemon"},
	{"github.com/hashicorp/raft-boltdb/v2", "stores belong to the daemon"},
	{"go.etcd.io/bbolt", "stores belong to the daemon"},
	{"github.com/hashicorp/memberlist", "gossip belongs to the daemon"},
	{"github.com/prometheus/client_golang/prometheus", "metrics belong to the daemon"},
	{"github.com/klauspost/compress/zstd", "snapshots belong to the daemon"},
	{"rampart/fsm", "the state belongs to the replica"},
	{"rampart/fsm/state", "the state belongs to the replica"},
	{"rampart/fsm/command", "the log belongs to the replica"},
	{"rampart/cluster", "the replica is another program"},
	{"rampart/cluster/store", "stores belong to the daemon"},
	{"rampart/mom", "the mom is another program; the shim is mom/proc alone"},
	{"rampart/mom/task", "the mom is another program; the shim is mom/proc alone"},
}

// match reports whether the pattern ("X", "X/*" or "*") covers path.
func match(pattern, path string) bool {
	if pattern == "*" {
		return true
	}
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	return path == pattern
}

// matchAny reports whether one of the patterns in list covers path.
func matchAny(list, path string) bool {
	for p := range strings.FieldsSeq(list) {
		if match(p, path) {
			return true
		}
	}
	return false
}

// ruleFor returns the most exact rule for a package.
func ruleFor(path string) (Rule, bool) {
	var best Rule
	for _, r := range Rules {
		if match(r.Package, path) && len(r.Package) > len(best.Package) {
			best = r
		}
	}
	return best, best.Package != ""
}
