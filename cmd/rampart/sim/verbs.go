package sim

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"
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

		"down":      {usage: "down HOST", least: 1, most: 1, do: each(faults.Unplug)},
		"silent":    {usage: "silent HOST", least: 1, most: 1, do: befall(faults.partition)},
		"up":        {usage: "up HOST", least: 1, most: 1, do: each(faults.up)},
		"slow":      {usage: "slow HOST [SECONDS]", least: 1, most: 2, do: befall(faults.slow), check: checkDuration(1)},
		"load":      {usage: "load HOST INDEX=VALUE...", least: 2, most: -1, do: befall(faults.load)},
		"kill":      {usage: "kill leader|follower|NAME...", least: 1, most: -1, do: each(faults.Kill)},
		"restart":   {usage: "restart [NAME...]", most: -1, do: befall(faults.restart)},
		"partition": {usage: "partition leader|follower|NAME...", least: 1, most: -1, do: befall(faults.partition)},
		"heal":      {usage: "heal", do: all(faults.MendAll)},
		"sever":     {usage: "sever HOST", least: 1, most: 1, do: each(faults.Sever)},
		"in":        {usage: "in DURATION WORD...", least: 2, most: -1, do: (*run).in, check: checkIn},

		"stop": {usage: "stop", do: func(*run, step, []string) error { return errStop }},
	}
	maps.Copy(verbs, caseVerbs())
	maps.Copy(verbs, illVerbs())
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
