package attr

import (
	"regexp"
	"strings"
)

// A Dynamic is an entry of server_dyn_res: a resource, and the command that says how much there is of it.
type Dynamic struct{ Resource, Command string }

// dynamicEntry is the beginning of an entry, the comma before it included.
var dynamicEntry = regexp.MustCompile(`(?:^|,)\s*([A-Za-z][A-Za-z0-9_-]*)\s*!\s*`)

// DynamicOf returns the entries of a value, RESOURCE !COMMAND, with commas between them.
func DynamicOf(value string) []Dynamic {
	var all []Dynamic
	at := dynamicEntry.FindAllStringSubmatchIndex(value, -1)
	for i, m := range at {
		end := len(value)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		all = append(all, Dynamic{value[m[2]:m[3]], strings.TrimSpace(value[m[1]:end])})
	}
	return all
}

// parseDynamic takes entries whose commands are absolute paths, with arguments.
func parseDynamic(text string) (string, bool) {
	text = strings.TrimSpace(text)
	all := DynamicOf(text)
	ok := len(all) > 0 && dynamicEntry.FindStringIndex(text)[0] == 0 && !strings.ContainsAny(text, "\x00\n")
	for _, d := range all {
		ok = ok && strings.HasPrefix(d.Command, "/")
	}
	return text, ok
}
