package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// caseVerbs are words for the cases of the specification: cmd/conformance has them, too, and they mean there the same.
func caseVerbs() map[string]verb {
	return map[string]verb{
		"ann":         {usage: "ann STATUS COMMAND [ARGUMENT...]", least: 2, most: -1, command: by("ann"), check: checkCommand(1)},
		"bob":         {usage: "bob STATUS COMMAND [ARGUMENT...]", least: 2, most: -1, command: by("bob"), check: checkCommand(1)},
		"everywhere":  {usage: "everywhere COMMAND [ARGUMENT...]", least: 1, most: -1, command: (*run).everywhere, check: checkCommand(0)},
		"twice":       {usage: "twice STATUS STATUS [as USER] COMMAND [ARGUMENT...]", least: 3, most: -1, command: (*run).twice, check: checkCommand(2)},
		"reserve":     {usage: "reserve NAME ARGUMENT...", least: 2, most: -1, command: (*run).reserve},
		"reservation": {usage: "reservation NAME", least: 1, most: 1, do: (*run).reservation},
		"times":       {usage: "times NAME=SECONDS...", least: 1, most: -1, do: (*run).times},
		"seconds":     {usage: "seconds NAME=SECONDS,SECONDS...", least: 1, most: 1, do: (*run).seconds},
		"apart":       {usage: "apart SECONDS TIME TIME", least: 3, most: 3, do: (*run).apart},
		"logged":      {usage: "logged REGEXP", least: 1, most: 1, do: (*run).logged},
		"json":        {usage: "json VALUE KEY...", least: 2, most: -1, do: (*run).json},
	}
}

// by returns the word that runs a command as somebody, and wants an exit status of it.
func by(user string) func(*run, context.Context, step, []string) error {
	return func(r *run, ctx context.Context, st step, words []string) error {
		return r.exit(ctx, st, slices.Concat(words[:1], []string{"as", user}, words[1:]))
	}
}

// everywhere runs a command that asks each of the replicas: all say the same.
func (r *run) everywhere(ctx context.Context, st step, words []string) error {
	defer func() { r.first = 0 }()
	said := ""
	for n, name := range r.world.Replicas() {
		r.first = n
		if err := r.carryOut(ctx, st, "root", words); err != nil {
			return err
		}
		if n > 0 && r.stdout != said {
			return &failure{name + " to say what those before it say", difference(said, r.stdout)}
		}
		said = r.stdout
	}
	return nil
}

// twice runs a command at two replicas at once, and wants two exit statuses of them, whichever comes to which.
func (r *run) twice(ctx context.Context, _ step, words []string) error {
	user, argv := person(words[2:])
	var both [2]caller
	var status [2]string
	var running sync.WaitGroup
	for n := range both {
		both[n] = caller{r: r, user: user, first: n, stdin: strings.NewReader("")}
		running.Go(func() { status[n] = strconv.Itoa(both[n].carryOut(ctx, argv)) })
	}
	running.Wait()
	r.stdout, r.stderr, r.last = "", "", strings.Join(argv, " ")
	for n := range both {
		r.stdout, r.stderr = r.stdout+r.files.shown(both[n].stdout.String()), r.stderr+r.files.shown(both[n].stderr.String())
	}
	r.show()
	if want := words[:2]; !slices.Equal(status[:], want) && !slices.Equal([]string{status[1], status[0]}, want) {
		return &failure{"exit statuses " + strings.Join(want, " and "), strings.Join(status[:], " and ") + "\n" + r.stdout + r.stderr}
	}
	return nil
}

// reserve asks for a reservation of ann's, which is confirmed.
func (r *run) reserve(ctx context.Context, st step, words []string) error {
	if err := r.carryOut(ctx, st, "ann", slices.Concat([]string{"pbs_rsub", "-I", "10"}, words[1:])); err != nil {
		return err
	}
	if !strings.HasSuffix(r.stdout, " CONFIRMED\n") {
		return &failure{"a confirmed reservation", r.outcome()}
	}
	return r.reservation(st, words[:1])
}

// reservation keeps the id that the last command has printed first in a variable, and the name of its queue in NAMEQ.
func (r *run) reservation(_ step, words []string) error {
	id, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(r.stdout), "Resv ID: "), " ")
	queue, _, ok := strings.Cut(id, ".")
	if !ok || !variable.MatchString(words[0]) {
		return &failure{"a name of a variable, and an id of a reservation before", words[0] + ", " + r.outcome()}
	}
	r.env[words[0]], r.env[words[0]+"Q"] = id, queue
	return nil
}

// times sets variables to times so many seconds ahead of now, as options of commands take them.
func (r *run) times(_ step, words []string) error {
	return r.ahead(words, "200601021504.05")
}

// ahead sets variables to times, with a comma between several.
func (r *run) ahead(words []string, layout string) error {
	for _, word := range words {
		name, list, ok := strings.Cut(word, "=")
		if !ok || !variable.MatchString(name) {
			return fmt.Errorf("%q is no NAME=SECONDS", word)
		}
		var texts []string
		for text := range strings.SplitSeq(list, ",") {
			seconds, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%q is no number of seconds", text)
			}
			texts = append(texts, r.now().Add(time.Duration(seconds)*time.Second).Format(layout))
		}
		r.env[name] = strings.Join(texts, ",")
	}
	return nil
}

// seconds sets a variable to the seconds within their minute of times so many seconds ahead.
func (r *run) seconds(_ step, words []string) error { return r.ahead(words, "5") }

// apart wants two times, as commands print them, to lie so far from each other.
func (r *run) apart(_ step, words []string) error {
	var at [2]time.Time
	for i, text := range words[1:] {
		var err error
		if at[i], err = time.ParseInLocation(time.ANSIC, text, r.s.begin.Location()); err != nil {
			return fmt.Errorf("%q is no time as commands print them", text)
		}
	}
	if got := strconv.Itoa(int(at[1].Sub(at[0]).Seconds())); got != words[0] {
		return &failure{words[0] + " seconds between them", got}
	}
	return nil
}

// logged waits until the logs of the replicas have a line.
func (r *run) logged(_ step, words []string) error {
	want, err := regexp.Compile("(?m)" + words[0])
	if err != nil {
		return err
	}
	for end := time.Now().Add(recordsFor); ; {
		var text strings.Builder
		for _, kind := range []string{"server", "sched"} {
			for _, name := range r.world.Replicas() {
				lines, err := r.logLines(kind, name)
				if err != nil {
					return err
				}
				for _, l := range lines {
					text.WriteString(l.text + "\n")
				}
			}
		}
		if want.MatchString(text.String()) {
			return nil
		}
		if time.Now().After(end) {
			return &failure{"a line of a log that matches " + words[0], "none"}
		}
		if err := r.until(time.Now().Add(time.Second)); err != nil {
			return err
		}
	}
}

// json wants the last command to have printed an object that holds a value, in JSON, at the path of keys.
func (r *run) json(_ step, words []string) error {
	at := json.RawMessage(r.stdout)
	for _, key := range words[1:] {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(at, &object); err != nil {
			return &failure{"an object that has " + key, string(at)}
		}
		value, ok := object[key]
		if !ok {
			return &failure{"an object that has " + key, string(at)}
		}
		at = value
	}
	var got bytes.Buffer
	if err := json.Compact(&got, at); err != nil {
		return err
	}
	if got.String() != words[0] {
		return &failure{words[0], got.String()}
	}
	return nil
}

// keep keeps what the last command has printed, or what the first group of a pattern has found in it.
func (r *run) keep(words []string) (string, error) {
	if len(words) == 1 {
		return strings.TrimSpace(r.stdout), nil
	}
	want, err := regexp.Compile("(?m)" + words[1])
	switch {
	case err != nil:
		return "", err
	case want.NumSubexp() == 0:
		return "", errors.New("want a group (...) in the pattern: what it finds is kept")
	}
	found := want.FindStringSubmatch(r.stdout)
	if found == nil {
		return "", &failure{"stdout of " + r.last + " to match " + words[1], r.stdout}
	}
	return found[1], nil
}
