package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rampart/chaos/world"
)

// faults are what befalls hosts and replicas of a world.
type faults struct{ world.Faults }

func (r *run) faults() faults { return faults{r.world.Faults()} }

// befall makes a word of what befalls somebody.
func befall(do func(f faults, words []string) error) func(*run, step, []string) error {
	return func(r *run, _ step, words []string) error { return do(r.faults(), words) }
}

// each does something to each of the names.
func each(do func(f faults, name string) error) func(*run, step, []string) error {
	return func(r *run, _ step, words []string) error {
		f := r.faults()
		for _, name := range words {
			known, err := f.named(name)
			if err == nil {
				err = do(f, known)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// named returns the name of who is meant.
func (f faults) named(name string) (string, error) {
	lead := f.Leader()
	switch name {
	case "leader":
		if lead == "" {
			return "", errors.New("there is no leader")
		}
		return lead, nil
	case "follower":
		for _, one := range f.Replicas() {
			if one != lead && f.Runs(one) {
				return one, nil
			}
		}
		return "", errors.New("no other replica runs")
	}
	return name, nil
}

func (f faults) up(name string) error { return errors.Join(f.Launch(name), f.Mend(name)) }

func (f faults) slow(words []string) error {
	delay := 2 * time.Second
	if len(words) > 1 {
		var err error
		if delay, err = duration(words[1]); err != nil {
			return err
		}
	}
	name, err := f.named(words[0])
	if err != nil {
		return err
	}
	return f.Slow(name, delay)
}

// load has a host measure another load.
func (f faults) load(words []string) error {
	name, err := f.named(words[0])
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
	return f.Load(name, values, gone)
}

func (f faults) restart(words []string) error {
	if len(words) == 0 {
		if !f.LaunchAll() {
			return errors.New("everything runs")
		}
		return nil
	}
	for _, name := range words {
		if f.Runs(name) {
			return fmt.Errorf("%s runs", name)
		}
		if err := f.Launch(name); err != nil {
			return err
		}
	}
	return nil
}

func (f faults) partition(words []string) error {
	var names []string
	for _, w := range words {
		name, err := f.named(w)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	return f.Split(names...)
}
