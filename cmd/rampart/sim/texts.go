package sim

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

func (r *run) setStdin(_ step, words []string) (err error) {
	r.stdin, err = r.read(words[0])
	return err
}

// read returns a file, or what the last command has printed.
func (r *run) read(name string) ([]byte, error) {
	switch name {
	case "stdout":
		return []byte(r.stdout), nil
	case "stderr":
		return []byte(r.stderr), nil
	}
	file, err := r.files.real(name)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", name)
	}
	return data, err
}

func (r *run) matchStdout(st step, words []string) error {
	return match(st, words, r.stdout, "stdout of "+r.last)
}

func (r *run) matchStderr(st step, words []string) error {
	return match(st, words, r.stderr, "stderr of "+r.last)
}

func (r *run) grep(st step, words []string) error {
	name := words[len(words)-1]
	text, err := r.read(name)
	if err != nil {
		return err
	}
	return match(st, words[:len(words)-1], string(text), name)
}

// match looks for [-count=N] REGEXP in a text.
func match(st step, words []string, text, what string) error {
	count := -1
	if n, ok := strings.CutPrefix(words[0], "-count="); ok {
		var err error
		if count, err = strconv.Atoi(n); err != nil || count < 1 || st.not {
			return fmt.Errorf("usage: %s", verbs[st.verb].usage)
		}
		words = words[1:]
	}
	if len(words) != 1 {
		return fmt.Errorf("usage: %s", verbs[st.verb].usage)
	}
	want, err := regexp.Compile("(?m)" + words[0])
	if err != nil {
		return err
	}
	n := len(want.FindAllStringIndex(text, -1))
	switch {
	case st.not && n > 0:
		return &failure{what + " not to match " + words[0], text}
	case count >= 0 && n != count:
		return &failure{fmt.Sprintf("%s to match %s %d times", what, words[0], count), fmt.Sprintf("%d matches in\n%s", n, text)}
	case !st.not && n == 0:
		return &failure{what + " to match " + words[0], text}
	}
	return nil
}

func (r *run) exists(st step, words []string) error {
	file, err := r.files.real(words[0])
	if err == nil {
		_, err = os.Stat(file)
	}
	switch {
	case st.not && err == nil:
		return &failure{"no file " + words[0], "one"}
	case !st.not && err != nil:
		return &failure{"a file " + words[0], "none"}
	}
	return nil
}

func (r *run) cmp(_ step, words []string) error {
	got, err := r.read(words[0])
	if err != nil {
		return err
	}
	want, err := r.read(words[1])
	if err != nil || string(got) == string(want) {
		return err
	}
	if r.o.Update && r.files.archived(words[1]) {
		r.files.updates[words[1]] = string(got)
		return nil
	}
	return &failure{words[0] + " to be as " + words[1], difference(string(want), string(got))}
}

func (r *run) cp(_ step, words []string) error {
	data, err := r.read(words[0])
	if err != nil {
		return err
	}
	file, err := r.files.real(words[1])
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o755)
}

func (r *run) capture(_ step, words []string) error {
	if !variable.MatchString(words[0]) {
		return fmt.Errorf("%q is no name of a variable", words[0])
	}
	text, err := r.keep(words)
	if err == nil {
		r.env[words[0]] = text
	}
	return err
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (r *run) setEnv(_ step, words []string) error {
	name, value, ok := strings.Cut(words[0], "=")
	if !ok || !variable.MatchString(name) {
		return fmt.Errorf("usage: %s", verbs["env"].usage)
	}
	r.env[name] = value
	return nil
}
