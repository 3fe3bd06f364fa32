package lsf

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"rampart/fsm/attr"
)

// variables returns the environment of the job: as in LSF all of it, but for what belongs to the
// submitting shell or job, or is not UTF-8; with -env what that says.
func (s *submission) variables() string {
	words := []string{"all"}
	if s.exported != nil {
		words = strings.Split(*s.exported, ",")
	}
	var b strings.Builder
	seen := map[string]bool{}
	add := func(name, value string) {
		if name == "" || seen[name] || !utf8.ValidString(value) {
			return
		}
		seen[name] = true
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name + "=" + attr.EscapeVariable(value))
	}
	for _, name := range []string{"HOME", "LANG", "LOGNAME", "PATH", "MAIL", "SHELL", "TZ"} {
		if value, ok := s.env.Lookup(name); ok {
			add("PBS_O_"+name, value)
		}
	}
	add("PBS_O_WORKDIR", cmp.Or(s.cwd, s.folder()))
	add("PBS_O_SYSTEM", "Linux")
	all := false
	for _, word := range words {
		name, value, given := strings.Cut(strings.TrimSpace(word), "=")
		switch {
		case given:
			add(name, value)
		case name == "all":
			all = true
		case name == "none":
		default:
			if value, ok := s.env.Lookup(strings.TrimPrefix(name, "~")); ok && !strings.HasPrefix(name, "~") {
				add(name, value)
			} else {
				seen[strings.TrimPrefix(name, "~")] = true
			}
		}
	}
	if all {
		for _, kv := range s.env.Environ() {
			name, value, ok := strings.Cut(kv, "=")
			if ok && !ownVariable(name) {
				add(name, value)
			}
		}
	}
	return b.String()
}

// ownVariable tells of a variable that belongs to the command, the shell or a job that submits.
func ownVariable(name string) bool {
	return name == "_" || name == "PBS_ENVIRONMENT" || name == "PBS_REQUEST_ID" || strings.HasPrefix(name, "PBS_O_") || strings.HasPrefix(name, "LSB_")
}
