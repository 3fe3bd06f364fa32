package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/chaos/look"
)

// A verb is a word of the language that does something.
type verb struct {
	usage       string
	least, most int // words behind it; most < 0: any number
	negatable   bool
	check       func(step) error // of what can be said before anything runs
	do          func(r *run, st step, words []string) error
	command     func(r *run, ctx context.Context, st step, words []string) error
}

// verbs is set by init, for what they do may ask for them.
var verbs map[string]verb

func init() {
	verbs = map[string]verb{
		"at":     {usage: "at +DURATION, at hh:mm:ss, or at YYYY-MM-DDThh:mm:ss", least: 1, most: 1, do: (*run).at, check: checkTime},
		"settle": {usage: "settle [DURATION]", most: 1, do: (*run).settle, check: checkDuration(0)},

		"exec":   {usage: "[!] exec COMMAND [ARGUMENT...]", least: 1, most: -1, negatable: true, command: (*run).exec, check: checkCommand(0)},
		"as":     {usage: "[!] as USER COMMAND [ARGUMENT...]", least: 2, most: -1, negatable: true, command: (*run).as, check: checkCommand(1)},
		"exit":   {usage: "exit STATUS [as USER] COMMAND [ARGUMENT...]", least: 2, most: -1, command: (*run).exit, check: checkCommand(1)},
		"status": {usage: "status STATUS [as USER] COMMAND [ARGUMENT...]", least: 2, most: -1, command: (*run).exit, check: checkCommand(1)},
		"await":  {usage: "[!] await REGEXP [as USER] COMMAND [ARGUMENT...]", least: 2, most: -1, negatable: true, command: (*run).await, check: checkCommand(1)},

		"stdin":   {usage: "stdin FILE", least: 1, most: 1, do: (*run).setStdin},
		"stdout":  {usage: "[!] stdout [-count=N] REGEXP", least: 1, most: 2, negatable: true, do: (*run).matchStdout},
		"stderr":  {usage: "[!] stderr [-count=N] REGEXP", least: 1, most: 2, negatable: true, do: (*run).matchStderr},
		"grep":    {usage: "[!] grep [-count=N] REGEXP FILE", least: 2, most: 3, negatable: true, do: (*run).grep},
		"exists":  {usage: "[!] exists FILE", least: 1, most: 1, negatable: true, do: (*run).exists},
		"cmp":     {usage: "cmp FILE FILE", least: 2, most: 2, do: (*run).cmp},
		"cp":      {usage: "cp FILE FILE", least: 2, most: 2, do: (*run).cp},
		"capture": {usage: "capture NAME [REGEXP]", least: 1, most: 2, do: (*run).capture},
		"env":     {usage: "env NAME=VALUE", least: 1, most: 1, do: (*run).setEnv},
		"records": {usage: "records [JOB [TYPES]]", most: 2, do: (*run).records},
		"logs":    {usage: "logs server|sched|mom [HOST]", least: 1, most: 2, do: (*run).logs},

		"down":      {usage: "down HOST", least: 1, most: 1, do: each((*run).down)},
		"silent":    {usage: "silent HOST", least: 1, most: 1, do: (*run).partition},
		"up":        {usage: "up HOST", least: 1, most: 1, do: each((*run).up)},
		"slow":      {usage: "slow HOST [SECONDS]", least: 1, most: 2, do: (*run).slow, check: checkDuration(1)},
		"kill":      {usage: "kill leader|follower|NAME...", least: 1, most: -1, do: each((*run).kill)},
		"restart":   {usage: "restart [NAME...]", most: -1, do: (*run).restart},
		"partition": {usage: "partition leader|follower|NAME...", least: 1, most: -1, do: (*run).partition},
		"heal":      {usage: "heal", do: (*run).heal},
		"sever":     {usage: "sever HOST", least: 1, most: 1, do: each((*run).sever)},
		"in":        {usage: "in DURATION WORD...", least: 2, most: -1, do: (*run).in, check: checkIn},

		"stop": {usage: "stop", do: func(*run, step, []string) error { return errStop }},
	}
	maps.Copy(verbs, caseVerbs())
}

func checkTime(st step) error {
	text, ok := st.words[0].plain()
	if !ok {
		return nil
	}
	_, err := goal(text, time.Unix(0, 0))
	return err
}

// checkDuration checks the nth word, if there is one.
func checkDuration(n int) func(step) error {
	return func(st step) error {
		if len(st.words) <= n {
			return nil
		}
		text, ok := st.words[n].plain()
		if !ok {
			return nil
		}
		_, err := duration(text)
		return err
	}
}

// checkCommand checks the command that begins at the nth word.
func checkCommand(n int) func(step) error {
	return func(st step) error {
		words := st.words[n:]
		if first, _ := words[0].plain(); first == "as" && st.verb != "as" {
			words = words[min(2, len(words)):]
		}
		if len(words) == 0 {
			return fmt.Errorf("usage: %s", verbs[st.verb].usage)
		}
		if name, ok := words[0].plain(); ok && !isCommand(name) {
			return fmt.Errorf("there is no command %q", name)
		}
		return nil
	}
}

// A failure says what a line wanted and what it got.
type failure struct{ wanted, got string }

func (f *failure) Error() string { return "wanted " + f.wanted + ", got " + f.got }

func (r *run) exec(ctx context.Context, st step, words []string) error {
	return r.carryOut(ctx, st, "root", words)
}

func (r *run) as(ctx context.Context, st step, words []string) error {
	return r.carryOut(ctx, st, words[0], words[1:])
}

// carryOut runs a command that is to succeed, or to fail.
func (r *run) carryOut(ctx context.Context, st step, user string, argv []string) error {
	if err := r.invoke(ctx, user, argv); err != nil {
		return err
	}
	switch {
	case st.not && r.status == 0:
		return &failure{"an exit status other than 0", r.outcome()}
	case !st.not && r.status != 0:
		return &failure{"exit status 0", r.outcome()}
	}
	return nil
}

// invoke runs a command, if there is one of that name.
func (r *run) invoke(ctx context.Context, user string, argv []string) error {
	if !isCommand(argv[0]) {
		return fmt.Errorf("there is no command %q", argv[0])
	}
	r.command(ctx, user, argv)
	return nil
}

// outcome tells all that the last command has said.
func (r *run) outcome() string {
	text := fmt.Sprintf("exit status %d", r.status)
	if r.stdout != "" {
		text += "\nstdout:\n" + strings.TrimSuffix(r.stdout, "\n")
	}
	if r.stderr != "" {
		text += "\nstderr:\n" + strings.TrimSuffix(r.stderr, "\n")
	}
	return text
}

// person takes "as USER" off a command.
func person(words []string) (user string, argv []string) {
	if words[0] == "as" && len(words) > 2 {
		return words[1], words[2:]
	}
	return "root", words
}

func (r *run) exit(ctx context.Context, _ step, words []string) error {
	want, err := strconv.Atoi(words[0])
	if err != nil {
		return fmt.Errorf("%q is no exit status", words[0])
	}
	user, argv := person(words[1:])
	if err := r.invoke(ctx, user, argv); err != nil {
		return err
	}
	if r.status != want {
		return &failure{fmt.Sprintf("exit status %d", want), r.outcome()}
	}
	return nil
}

// awaitFor is how long await waits in virtual time.
const awaitFor = time.Hour

func (r *run) await(ctx context.Context, st step, words []string) error {
	want, err := regexp.Compile("(?ms)" + words[0])
	if err != nil {
		return err
	}
	user, argv := person(words[1:])
	for end := time.Now().Add(awaitFor); ; {
		if err := r.invoke(ctx, user, argv); err != nil {
			return err
		}
		if r.status == 0 && want.MatchString(r.stdout) != st.not {
			return nil
		}
		if time.Now().After(end) {
			return &failure{fmt.Sprintf("stdout of %s to match %s within %s", r.last, words[0], awaitFor), r.outcome()}
		}
		if err := r.until(time.Now().Add(time.Second)); err != nil {
			return err
		}
	}
}

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
	file, err := r.real(name)
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
	file, err := r.real(words[0])
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
	if r.o.Update && r.archived(words[1]) {
		r.updates[words[1]] = string(got)
		return nil
	}
	return &failure{words[0] + " to be as " + words[1], difference(string(want), string(got))}
}

// archived tells whether a name is that of a file of the archive.
func (r *run) archived(name string) bool {
	for _, f := range r.s.archive.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}

func (r *run) cp(_ step, words []string) error {
	data, err := r.read(words[0])
	if err != nil {
		return err
	}
	file, err := r.real(words[1])
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

// recordsFor is how long a ledger may take to be written.
const recordsFor = time.Minute

// records makes the accounting records of a job, or of all, the standard output.
func (r *run) records(_ step, words []string) error {
	for end := time.Now().Add(recordsFor); ; {
		lines, err := r.ledger()
		if err != nil {
			return err
		}
		if len(words) > 0 {
			lines = slices.DeleteFunc(lines, func(l string) bool { return field(l, 2) != words[0] })
		}
		r.stdout, r.stderr, r.last = "", "", strings.Join(append([]string{"records"}, words...), " ")
		types := ""
		for _, l := range lines {
			r.stdout += l + "\n"
			types += field(l, 1)
		}
		if len(words) < 2 || types == words[1] {
			r.show()
			return nil
		}
		if time.Now().After(end) {
			return &failure{fmt.Sprintf("the records %s of %s within %s", words[1], words[0], recordsFor), types + "\n" + r.stdout}
		}
		if err := r.until(time.Now().Add(time.Second)); err != nil {
			return err
		}
	}
}

func field(line string, n int) string {
	fields := strings.SplitN(line, ";", n+2)
	if len(fields) < n+1 {
		return ""
	}
	return fields[n]
}

// ledger returns the lines of the accounting files of the leader, or of the first replica.
func (r *run) ledger() ([]string, error) {
	name := r.world.Leader()
	if name == "" {
		name = r.world.Replicas()[0]
	}
	files, err := look.Ledger(accounting(r.world.Home(name)))
	if err != nil {
		return nil, err
	}
	var days []string
	for day := range files {
		days = append(days, day)
	}
	slices.Sort(days)
	var lines []string
	for _, day := range days {
		for line := range strings.Lines(string(files[day])) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines, nil
}

// each does something to each of the names.
func each(do func(r *run, name string) error) func(*run, step, []string) error {
	return func(r *run, _ step, words []string) error {
		for _, name := range words {
			known, err := r.named(name)
			if err == nil {
				err = do(r, known)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// named returns the name of who is meant.
func (r *run) named(name string) (string, error) {
	lead := r.world.Leader()
	switch name {
	case "leader":
		if lead == "" {
			return "", errors.New("there is no leader")
		}
		return lead, nil
	case "follower":
		for _, one := range r.world.Replicas() {
			if one != lead && r.world.Runs(one) {
				return one, nil
			}
		}
		return "", errors.New("no other replica runs")
	}
	return name, nil
}

func (r *run) kill(name string) error { return r.world.Kill(name) }

func (r *run) sever(name string) error { return r.world.Sever(name) }

func (r *run) down(name string) error { return r.world.Unplug(name) }

func (r *run) up(name string) error { return errors.Join(r.world.Launch(name), r.world.Mend(name)) }

func (r *run) slow(_ step, words []string) error {
	delay := 2 * time.Second
	if len(words) > 1 {
		var err error
		if delay, err = duration(words[1]); err != nil {
			return err
		}
	}
	name, err := r.named(words[0])
	if err != nil {
		return err
	}
	return r.world.Slow(name, delay)
}

func (r *run) restart(_ step, words []string) error {
	if len(words) == 0 {
		if !r.world.LaunchAll() {
			return errors.New("everything runs")
		}
		return nil
	}
	for _, name := range words {
		if r.world.Runs(name) {
			return fmt.Errorf("%s runs", name)
		}
		if err := r.world.Launch(name); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) partition(_ step, words []string) error {
	var names []string
	for _, w := range words {
		name, err := r.named(w)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	return r.world.Split(names...)
}

func (r *run) heal(step, []string) error {
	r.world.MendAll()
	return nil
}
