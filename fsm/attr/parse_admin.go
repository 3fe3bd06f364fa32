package attr

import (
	"math"
	"sort"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// maxLimits bounds the entries of one limit attribute.
const maxLimits = 4096

// parseLimits reads [u:NAME=N],[g:NAME=N],[p:NAME=N],[o:PBS_ALL=N]; a name may stand in
// quotes. No pair of kind and name comes twice.
func parseLimits(text string, value func(string) (string, bool)) (string, bool) {
	if len(text) > maxValue {
		return "", false
	}
	var out []string
	seen := map[string]bool{}
	for rest := strings.Trim(text, " "); rest != ""; {
		entry, after, ok := strings.Cut(rest, "]")
		if !ok || !strings.HasPrefix(entry, "[") || len(out) >= maxLimits {
			return "", false
		}
		subject, limit, ok := parseLimit(entry[1:], value)
		if !ok || seen[subject] {
			return "", false
		}
		seen[subject] = true
		out = append(out, "["+subject+"="+limit+"]")
		rest = strings.Trim(after, " ")
		if rest != "" {
			if rest[0] != ',' || len(rest) == 1 {
				return "", false
			}
			rest = strings.Trim(rest[1:], " ")
		}
	}
	return strings.Join(out, ","), len(out) > 0
}

func parseLimit(entry string, value func(string) (string, bool)) (subject, limit string, ok bool) {
	at := strings.LastIndexByte(entry, '=')
	if at < 0 {
		return "", "", false
	}
	subject = strings.Trim(entry[:at], " ")
	limit, ok = value(strings.Trim(entry[at+1:], " "))
	kind, name, cut := strings.Cut(subject, ":")
	name = strings.Trim(name, `"'`)
	_, printable := parseText(name)
	if !ok || !cut || !printable || strings.ContainsAny(name, "[]=,:\t") || strings.Trim(name, ` "'`) != name {
		return "", "", false
	}
	switch {
	case kind == "o" && name == "PBS_ALL", kind == "u", kind == "g", kind == "p":
		return kind + ":" + name, limit, true
	}
	return "", "", false
}

// usersOf is parseUsers with the refusal that PBS has for a user without a host.
func usersOf(name string) func(text string) (string, error) {
	return func(text string) (string, error) {
		if list, ok := parseUsers(text); ok {
			return list, nil
		}
		list, _ := parseArray(text)
		for item := range strings.SplitSeq(list, ",") {
			if item != "" && !strings.Contains(item, "@") {
				return "", pbs.Attribute(pbs.UnknownHost, name)
			}
		}
		return "", pbs.Attribute(pbs.BadAttributeValue, name)
	}
}

// parseUsers takes a list of user@host patterns such as root@*, ann@hosta, bob@*.org.
func parseUsers(text string) (string, bool) {
	list, ok := parseArray(text)
	for item := range strings.SplitSeq(list, ",") {
		name, host, at := strings.Cut(item, "@")
		if !at || name == "" || host == "" || strings.ContainsAny(item, " \t") ||
			strings.LastIndexByte(host, '*') > 0 {
			return "", false
		}
	}
	return list, ok
}

// parseACL takes a list of names, each with + or - in front, or nothing.
func parseACL(text string) (string, bool) {
	list, ok := parseArray(text)
	for item := range strings.SplitSeq(list, ",") {
		who, host, at := strings.Cut(strings.TrimLeft(item, "+-"), "@")
		if who == "" && len(item) > 1 || at && host == "" || strings.ContainsAny(item, " \t") {
			return "", false
		}
	}
	return list, ok
}

func parseQueueType(text string) (string, bool) {
	lower := strings.ToLower(text)
	for _, kind := range []string{"Execution", "Route"} {
		if lower != "" && strings.HasPrefix(strings.ToLower(kind), lower) {
			return kind, true
		}
	}
	return "", false
}

// settableStates are the states that qmgr may give to a vnode; the others follow
// from its mom and its jobs.
var settableStates = map[string]bool{
	"free": true, "offline": true, "down": true, "busy": true, "sleep": true,
	"maintenance": true, "provisioning": true, "wait-provisioning": true,
}

func parseVnodeState(text string) (string, bool) {
	list, ok := parseArray(text)
	for item := range strings.SplitSeq(list, ",") {
		if !settableStates[item] {
			return "", false
		}
	}
	return list, ok
}

func parseType(text string) (string, bool) {
	t, err := resource.ParseType(text)
	return text, err == nil && t != resource.Time // no custom resource is a time
}

func parseFlags(text string) (string, bool) {
	f, err := resource.ParseFlags(text) // who takes them says what cannot go together
	return f.String(), err == nil
}

// parsePreemptOrder takes methods S, C, R, D, each once: "SCR"; or such words with
// percentages of the time left between them: "SCR 80 SC 50 S".
func parsePreemptOrder(text string) (string, bool) {
	words := strings.Fields(text)
	last := "100"
	for i, w := range words {
		if i%2 == 0 {
			if _, ok := letters(0, "SCRD")(w); !ok {
				return "", false
			}
			continue
		}
		n, ok := numberIn(1, 99)(w)
		if !ok || len(n) > len(last) || len(n) == len(last) && n >= last {
			return "", false
		}
		last = n
	}
	return strings.Join(words, " "), len(words)%2 == 1
}

// preemptLevels are the words of preempt_prio.
var preemptLevels = []string{
	"express_queue", "fairshare", "normal_jobs", "queue_softlimits", "server_softlimits", "starving_jobs",
}

// parsePreemptPrio takes levels, those of equal rank joined by +.
func parsePreemptPrio(text string) (string, bool) {
	levels := strings.Split(text, ",")
	for i, level := range levels {
		levels[i] = strings.Trim(level, " ")
		for word := range strings.SplitSeq(levels[i], "+") {
			word = strings.Trim(word, " ")
			if at := sort.SearchStrings(preemptLevels, word); at == len(preemptLevels) || preemptLevels[at] != word {
				return "", false
			}
		}
	}
	return strings.Join(levels, ", "), true
}

// parseQueueName takes what a queue may be called when it is made.
func parseQueueName(text string) (string, bool) {
	return text, len(text) <= pbs.MaxQueueName && pbs.QueueName(text).Valid()
}

// parseDestinations takes a list of queues, each QUEUE or QUEUE@SERVER.
func parseDestinations(text string) (string, bool) {
	list, ok := parseArray(text)
	for item := range strings.SplitSeq(list, ",") {
		queue, server, at := strings.Cut(item, "@")
		if _, valid := parseQueueName(queue); !valid || at && server == "" {
			return "", false
		}
	}
	return list, ok
}

// parseHost takes a host's name or address.
func parseHost(text string) (string, bool) {
	for i := range len(text) {
		if !isAlnum(text[i]) && strings.IndexByte("-_.:", text[i]) < 0 {
			return "", false
		}
	}
	return text, text != "" && len(text) <= 255
}

// parseZone takes the form of a name of the tz database, and not Go's name for the zone
// of the host; whether it exists is checked where the database is.
func parseZone(text string) (string, bool) {
	for i := range len(text) {
		if !isAlnum(text[i]) && strings.IndexByte("/_+-", text[i]) < 0 {
			return "", false
		}
	}
	return text, text != "" && text != "Local" && len(text) <= 64 && text[0] != '/'
}

// parseDecimal takes a number that is not negative, with three decimals at most.
func parseDecimal(text string) (string, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" || n > 1e9 {
		return "", false
	}
	return strconv.FormatFloat(math.Trunc(n*1000)/1000, 'f', -1, 64), true
}
