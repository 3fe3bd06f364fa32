package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

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

// load has a host measure another load.
func (r *run) load(_ step, words []string) error {
	name, err := r.named(words[0])
	if err != nil {
		return err
	}
	values, gone := map[string]float64{}, []string{}
	for _, w := range words[1:] {
		index, text, _ := strings.Cut(w, "=")
		if text == "-" {
			gone = append(gone, index)
			continue
		}
		if values[index], err = strconv.ParseFloat(text, 64); err != nil || index == "" {
			return fmt.Errorf("%q is no INDEX=VALUE", w)
		}
	}
	return r.world.Load(name, values, gone)
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
