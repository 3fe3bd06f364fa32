package pbs

import (
	"path/filepath"
	"strconv"
	"strings"
)

// path makes [HOST:]PATH absolute where it is on this host, and gives a folder that is there its
// slash. The server adds the host, if pbs.conf names none: it knows by which name the cluster knows it; and the name of a
// file to a host alone.
func (r *request) path(v string) (string, bool) {
	host, file, ok := strings.Cut(v, ":")
	switch {
	case !ok || strings.Contains(host, "/"):
		file = v
	case host != "":
		return v, true // relative to the user's home on that host
	}
	if file == "" {
		return "", false
	}
	file = r.absolute(file)
	if !strings.HasSuffix(file, "/") && r.isFolder(file) {
		file += "/"
	}
	if host := r.env.OutputHost(); host != "" {
		file = host + ":" + file
	}
	return file, true
}

// outputs sends what the job prints to the host that pbs.conf names, as files that are called as those on this host would be:
// by the name that the job has when hooks have seen it.
func (r *request) outputs() {
	host := r.env.OutputHost()
	if host == "" || r.interactive() {
		return
	}
	for _, f := range []struct{ name, ext string }{{"Output_Path", ".o"}, {"Error_Path", ".e"}} {
		if r.value(f.name) != "" {
			continue
		}
		path := host + ":" + strings.TrimSuffix(r.directory(), "/") + "/^job_name^" + f.ext + "^job_number^"
		if r.value("array_indices_submitted") != "" {
			path += ".^array_index^"
		}
		r.set(f.name, "", path)
	}
}

func (r *request) isFolder(path string) bool {
	if r.env.Stat == nil {
		return false
	}
	info, err := r.env.Stat(path)
	return err == nil && info.IsDir()
}

// absolute keeps the slash at the end: it says that the path is a directory.
func (r *request) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	full := filepath.Join(r.directory(), file)
	if strings.HasSuffix(file, "/") && full != "/" {
		full += "/"
	}
	return full
}

// isMailing reports whether v lists addresses: none is an option of the site's mail program,
// and none is two.
func isMailing(v string) bool {
	for item := range strings.SplitSeq(v, ",") {
		item = strings.TrimSpace(item)
		if strings.HasPrefix(item, "-") || strings.ContainsAny(item, " \t") {
			return false
		}
	}
	return true
}

// isRange reports whether v is the range of an array: X-Y[:Z][%N].
func isRange(v string) bool {
	v, limit, limited := strings.Cut(v, "%")
	v, step, stepped := strings.Cut(v, ":")
	from, to, _ := strings.Cut(v, "-")
	if !isNumber(from) || !isNumber(to) || limited && (!isNumber(limit) || strings.Trim(limit, "0") == "") || stepped && (!isNumber(step) || step == "0") {
		return false
	}
	x, errX := strconv.Atoi(from)
	y, errY := strconv.Atoi(to)
	return errX == nil && errY == nil && x < y
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isWord reports whether s may be the name of an attribute or resource.
func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// splitList splits at commas outside of quotes.
func splitList(s string) []string {
	items := []string{}
	var quote byte
	from := 0
	for i := range len(s) {
		switch {
		case quote != 0:
			if s[i] == quote {
				quote = 0
			}
		case s[i] == '"' || s[i] == '\'':
			quote = s[i]
		case s[i] == ',':
			items = append(items, s[from:i])
			from = i + 1
		}
	}
	return append(items, s[from:])
}

// unquote takes off quotes around a whole value.
func unquote(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') {
		return s[1 : n-1]
	}
	return s
}
