package attr

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"rampart/fsm/pbs"
)

// MaxJobName is the greatest length of a job's name.
const MaxJobName = 230

// parseJobName takes letters, digits and -_.+.
func parseJobName(text string) (string, bool) {
	if text == "" || len(text) > MaxJobName {
		return "", false
	}
	for i := range len(text) {
		if !isAlnum(text[i]) && strings.IndexByte("-_.+", text[i]) < 0 {
			return "", false
		}
	}
	return text, true
}

func isAlnum(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// parseCheckpoint takes n, s, u, c, w, and c or w with minutes.
func parseCheckpoint(text string) (string, bool) {
	switch text {
	case "n", "s", "u", "c", "w":
		return text, true
	}
	kind, minutes, ok := strings.Cut(text, "=")
	n, err := strconv.ParseUint(minutes, 10, 31)
	return text, ok && (kind == "c" || kind == "w") && err == nil && n > 0
}

func parseHolds(text string) (string, bool) {
	h, err := pbs.ParseHolds(text)
	return h.String(), err == nil
}

func parseJoin(text string) (string, bool) {
	return text, text == "oe" || text == "eo" || text == "n"
}

// parseKeep takes o, e, oe, eo, d with any of them, and n.
func parseKeep(text string) (string, bool) { return letters('n', "oed")(text) }

// parseMailPoints takes n, or a, b, e; j besides them asks for mail per subjob.
func parseMailPoints(text string) (string, bool) {
	canonical, ok := letters('n', "abej")(text)
	return canonical, ok && text != "j"
}

// parseMailUsers takes addresses, which become arguments of the mail program: none may look
// like an option of it, nor be two words.
func parseMailUsers(text string) (string, bool) {
	canonical, ok := parseArray(text)
	if !ok {
		return "", false
	}
	for item := range strings.SplitSeq(canonical, ",") {
		if strings.HasPrefix(strings.Trim(item, "\"'"), "-") || strings.ContainsFunc(item, func(r rune) bool { return pbs.IsControl(r) || r == ' ' }) {
			return "", false
		}
	}
	return canonical, true
}

// parseMailFrom takes the sender of mails, which becomes an argument of the mail program.
func parseMailFrom(text string) (string, bool) {
	return text, !strings.HasPrefix(text, "-") && !strings.ContainsAny(text, "\r\n")
}

// parsePath takes [host:]path, and host: for the default name there.
func parsePath(text string) (string, bool) {
	_, ok := parseText(text)
	return text, ok && text != "" && text[0] != ':'
}

// parseHosted takes a list of value[@host] in which only one value is without host.
func parseHosted(text string) (string, bool) {
	list, ok := parseArray(text)
	seen := map[string]bool{}
	for item := range strings.SplitSeq(list, ",") {
		value, host, at := strings.Cut(item, "@")
		if value == "" || at && host == "" || seen[host] {
			return "", false
		}
		seen[host] = true
	}
	return list, ok
}

// parseShells takes a list of path[@host] with absolute paths.
func parseShells(text string) (string, bool) {
	list, ok := parseHosted(text)
	for item := range strings.SplitSeq(list, ",") {
		if !strings.HasPrefix(item, "/") {
			return "", false
		}
	}
	return list, ok
}

// parseUmask takes octal digits; PBS shows them without zeros in front.
func parseUmask(text string) (string, bool) {
	n, err := strconv.ParseUint(text, 8, 16)
	return strconv.FormatUint(n, 8), err == nil && n <= 0o777
}

// parseStaging takes a list of local@host:remote paths of files.
func parseStaging(text string) (string, bool) {
	list, ok := parseArray(text)
	for item := range strings.SplitSeq(list, ",") {
		_, valid := pbs.ParseStaged(item)
		ok = ok && valid
	}
	return list, ok
}

// parseProject refuses the signs that PBS keeps for the syntax of limits; blanks are
// none, but for those at the ends, which no limit could name.
func parseProject(text string) (string, bool) {
	_, ok := parseText(text)
	return text, ok && len(text) <= 256 && !strings.ContainsAny(text, "/[]\";:|<>+,?*\t") && strings.Trim(text, " ") == text
}

func parseDirectory(text string) (string, bool) {
	_, ok := parseText(text)
	return text, ok && strings.HasPrefix(text, "/")
}

// parseTolerate takes what reliable start-up knows.
func parseTolerate(text string) (string, bool) { return oneOf("none", "job_start", "all")(text) }

// parseGrant takes PROTOCOL:KEY:SCREEN, what the programs of an interactive job may use of a display; the key is in hexadecimal
// digits.
func parseGrant(text string) (string, bool) {
	f := strings.Split(text, ":")
	if len(f) != 3 || f[0] != "MIT-MAGIC-COOKIE-1" || len(f[1]) > 128 {
		return "", false
	}
	_, badKey := hex.DecodeString(f[1])
	_, badScreen := strconv.ParseUint(f[2], 10, 8)
	return text, badKey == nil && badScreen == nil
}

// parseLines takes text that may go over several lines, as an argument of a command
// may.
func parseLines(text string) (string, bool) {
	return text, text != "" && len(text) <= maxValue && strings.IndexByte(text, 0) < 0 && utf8.ValidString(text)
}

// parseIndices takes X-Y[:Z], the indices of an array.
func parseIndices(text string) (string, bool) {
	set, err := pbs.ParseIndices(text)
	return set.String(), err == nil && len(set) <= pbs.MaxRanges
}

// parseDepend takes what may be read as dependencies; what they mean is for the state,
// which knows the other jobs.
func parseDepend(text string) (string, bool) {
	_, ok := parseText(text)
	for item := range strings.SplitSeq(text, ",") {
		kind, rest, named := strings.Cut(strings.TrimSpace(item), ":")
		if kind == "singleton" && !named {
			continue
		}
		ok = ok && named && rest != "" && strings.Contains(dependKinds, " "+kind+" ")
	}
	return text, ok
}

// dependKinds are the words of -W depend=.
const dependKinds = " after afterok afternotok afterany before beforeok beforenotok beforeany on runone "

// parsePosted takes "INDEX text", a message that is posted to a job: 128 is the greatest index of LSF, and 512 bytes its longest text.
func parsePosted(text string) (string, bool) {
	index, words, _ := strings.Cut(text, " ")
	n, err := strconv.ParseUint(index, 10, 8)
	words, ok := parseText(strings.TrimSpace(words))
	return strconv.FormatUint(n, 10) + " " + words, ok && err == nil && n <= 128 && len(words) <= 512
}

// maxRequirement bounds a resource requirement (specification: reservation section 2).
const maxRequirement = 4096

// parseRequirement takes what may be a resource requirement of LSF; what it means is for the server to
// judge, which knows the resources.
func parseRequirement(text string) (string, bool) {
	_, ok := parseText(text)
	return text, ok && text != "" && len(text) <= maxRequirement
}

// maxSlots bounds the slots of a job that may have more or fewer, as those of any job of LSF are bounded.
const maxSlots = 1 << 17

// parseSlots reads how many slots a job may have: "2,6", from 2 to 6 (specification: reservation section 10.1).
func parseSlots(text string) (string, bool) {
	least, most, ok := strings.Cut(text, ",")
	a, err1 := strconv.Atoi(least)
	b, err2 := strconv.Atoi(most)
	if !ok || err1 != nil || err2 != nil || a < 1 || a >= b || b > maxSlots {
		return "", false
	}
	return strconv.Itoa(a) + "," + strconv.Itoa(b), true
}
