package pbs

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"rampart/fsm/attr"
)

var errEnvironment = errors.New("cannot send environment with the job")

// origin returns the variables of the submitter that a job finds as PBS_O_NAME.
func origin() []string { return []string{"HOME", "LANG", "LOGNAME", "PATH", "MAIL", "SHELL", "TZ"} }

// variableList builds the job's Variable_List: the PBS_O_ variables, then those of
// -v, then with -V the whole environment; what came first counts. PBS_O_QUEUE and
// PBS_O_HOST the server adds: it knows the default queue, and by which name it knows
// this host.
func (r *request) variableList() (string, error) {
	v := variables{seen: map[string]bool{}}
	for _, name := range origin() {
		if value, ok := r.env.Lookup(name); ok {
			v.add("PBS_O_"+name, value)
		}
	}
	v.add("PBS_O_WORKDIR", r.directory())
	v.add("PBS_O_SYSTEM", "Linux")
	if err := r.named(&v); err != nil {
		return "", err
	}
	if term, ok := r.env.Lookup("TERM"); ok && r.interactive() {
		v.add("TERM", term)
	}
	if r.export {
		r.environment(&v)
	}
	return v.list.String(), nil
}

// named adds the variables of -v: NAME=VALUE, or NAME for the present value.
func (r *request) named(v *variables) error {
	if r.variables == "" {
		return nil
	}
	for _, item := range splitVariables(r.variables) {
		name, value, given := strings.Cut(item, "=")
		if !given {
			present := false
			if value, present = r.env.Lookup(name); !present {
				return errEnvironment
			}
		}
		if name == "" {
			return errEnvironment
		}
		v.add(name, value)
	}
	return nil
}

// environment adds all there is, but for what belongs to the submitting shell or
// to a job that submits, or is not UTF-8, which no attribute holds: the job goes without it.
func (r *request) environment(v *variables) {
	for _, kv := range r.env.Environ() {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || name == "_" || name == "PBS_ENVIRONMENT" || name == "PBS_REQUEST_ID" || strings.HasPrefix(name, "PBS_O_") {
			continue
		}
		if !utf8.ValidString(kv) {
			fmt.Fprintf(r.env.Stderr, "qsub: variable %q is not UTF-8: it does not go with the job\n", name)
			continue
		}
		v.add(name, value)
	}
}

type variables struct {
	list strings.Builder
	seen map[string]bool
}

func (v *variables) add(name, value string) {
	if v.seen[name] {
		return
	}
	v.seen[name] = true
	if v.list.Len() > 0 {
		v.list.WriteByte(',')
	}
	v.list.WriteString(name)
	v.list.WriteByte('=')
	v.list.WriteString(attr.EscapeVariable(value))
}

// splitVariables splits -v at commas; quotes keep a value together and are taken
// off, a backslash takes a comma, a quote or another backslash as it is, and else is one.
func splitVariables(s string) []string {
	items := []string{""}
	var quote byte
	for i := 0; i < len(s); i++ {
		last := len(items) - 1
		switch {
		case s[i] == '\\' && i+1 < len(s) && quote != '\'' && strings.IndexByte(`,"'\`, s[i+1]) >= 0:
			i++
			items[last] += s[i : i+1]
		case quote != 0 && s[i] == quote:
			quote = 0
		case quote != 0:
			items[last] += s[i : i+1]
		case s[i] == '"' || s[i] == '\'':
			quote = s[i]
		case s[i] == ',':
			items = append(items, "")
		default:
			items[last] += s[i : i+1]
		}
	}
	return items
}

// directory returns where the command runs, by the name the user knows it by. PWD alone does not
// tell: a program that changes its folder without a shell hands on that of its parent.
func (r *request) directory() string {
	d, err := r.env.Getwd()
	if err != nil {
		return "/"
	}
	return d
}
