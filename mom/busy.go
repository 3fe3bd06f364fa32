package mom

import (
	"fmt"
	"strconv"

	"rampart/fsm/pbs"
)

// loadBounds are $max_load and $ideal_load: from a load average of the last minute on, and below which one, a host is busy, and free again.
// Of two that are not both set each stands for the other; 0: neither is.
type loadBounds struct{ most, ideal float64 }

func (b *loadBounds) read(directive, text string) error {
	const highest = 1e6
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= highest) {
		return fmt.Errorf("%s %q is no load average", directive, text)
	}
	into, other := &b.most, &b.ideal
	if directive == "$ideal_load" {
		into, other = other, into
	}
	if *into = n; *other == 0 {
		*other = n
	}
	return nil
}

// busy reports whether a host with a load is busy that was, or was not, before.
func (b loadBounds) busy(load float64, before bool) bool {
	if before {
		return b.most > 0 && load >= min(b.ideal, b.most)
	}
	return b.most > 0 && load >= b.most
}

// judgeLoad finds out whether the host has too much to do for new jobs, and has the servers hear of it if that has changed. While nothing is
// known of its load it stays as it is.
func (m *Mom) judgeLoad(l *life) {
	bounds := m.settings.Load().load
	now, known := l.loads.of("r1m")
	before := l.busy.Load()
	busy := bounds.busy(now, before)
	if !known && bounds.most > 0 || busy == before || !l.busy.CompareAndSwap(before, busy) {
		return
	}
	word := "free"
	if busy {
		word = "busy"
	}
	m.lines.system(pbs.LogSystem, string(m.config.Host), fmt.Sprintf("load average %.2f, $ideal_load %g, $max_load %g: the host is %s", now, bounds.ideal, bounds.most, word))
	l.renewSoon()
}
