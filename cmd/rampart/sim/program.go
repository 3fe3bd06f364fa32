package sim

import (
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"rampart/fsm/resource"
	"rampart/mom/proc"
)

// forEver is how long a program runs that does not end by itself.
const forEver = mostTime

// programs are the programs of the jobs: what was declared, and which of them end.
type programs struct {
	mu     sync.Mutex
	ending map[string]bool // jobs
	fault  error           // of the first declaration that cannot be understood
}

// of is proc.NewFake's: what a job's program does.
func (p *programs) of(spec proc.Spec) proc.Program {
	program, ends, err := declared(proc.Lines(spec))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending == nil {
		p.ending = make(map[string]bool)
	}
	p.ending[spec.Job] = ends
	if ends {
		program.Runs += behind(spec.Job)
	}
	if err != nil && p.fault == nil {
		p.fault = fmt.Errorf("program of job %s: %w", spec.Job, err)
	}
	return program
}

// behind returns how long after its time a program ends: of several that end at the same moment, the job says which one is first.
func behind(job string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(job))
	return time.Duration(h.Sum32()%100_000) * time.Nanosecond
}

// ends reports whether the program of a job ends by itself.
func (r *run) ends(job string) bool {
	r.programs.mu.Lock()
	defer r.programs.mu.Unlock()
	return r.programs.ending[job]
}

// badProgram returns what was declared wrongly.
func (r *run) badProgram() error {
	r.programs.mu.Lock()
	defer r.programs.mu.Unlock()
	err := r.programs.fault
	r.programs.fault = nil
	return err
}

// errDeclaration tells the form of a declaration.
var errDeclaration = errors.New("want sim TIME|ever [exit=STATUS] [mem=SIZE] [cput=TIME] [term=ignore]")

// declared reads lines of a program: sim declares what it does, for so long and then for the next one's time;
// sleep SECONDS is sim SECONDS, true is sim 0, and echo TEXT writes. What declares nothing runs for ever.
func declared(lines []string) (p proc.Program, ends bool, err error) {
	var cpu float64
	stages := 0
	endless := false
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		switch filepath.Base(fields[0]) {
		case "sim":
			var s stage
			if s, err = parseStage(fields[1:]); err != nil {
				return proc.Program{Runs: forEver}, false, fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
			}
			p.Runs, p.Status, p.RSS, cpu = p.Runs+s.runs, s.exit, max(p.RSS, s.mem), cpu+s.cput
			p.IgnoresTerm, endless = p.IgnoresTerm || s.ignores, endless || s.ever
			stages++
		case "sleep", "pbs_sleep":
			if len(fields) != 2 {
				continue
			}
			if seconds, err := strconv.ParseFloat(fields[1], 64); err == nil && seconds >= 0 && seconds < mostTime.Seconds() {
				p.Runs += time.Duration(seconds * float64(time.Second))
				stages++
			}
		case "true":
			stages++
		case "echo":
			p.Output += strings.Join(fields[1:], " ") + "\n"
		}
	}
	if stages == 0 || endless {
		p.Runs, ends = forEver, false
	} else {
		ends = true
	}
	if cpu > 0 && p.Runs > 0 {
		p.CPU = cpu / p.Runs.Seconds()
	}
	return p, ends, nil
}

// A stage is one declaration.
type stage struct {
	runs    time.Duration
	ever    bool
	exit    int
	mem     int64 // bytes
	cput    float64
	ignores bool
}

func parseStage(words []string) (s stage, err error) {
	if len(words) == 0 {
		return s, errDeclaration
	}
	if s.ever = words[0] == "ever"; !s.ever {
		if s.runs, err = duration(words[0]); err != nil {
			return s, err
		}
	}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "exit":
			if s.exit, err = strconv.Atoi(value); err != nil || s.exit < 0 || s.exit > 255 {
				return s, fmt.Errorf("exit=%s is no exit status", value)
			}
		case "mem":
			q, err := resource.Parse(resource.Size, value)
			if err != nil {
				return s, fmt.Errorf("mem=%s is no size", value)
			}
			s.mem = q.InKB().Int() << 10
		case "cput":
			d, err := duration(value)
			if err != nil {
				return s, fmt.Errorf("cput: %w", err)
			}
			s.cput = d.Seconds()
		case "term":
			if s.ignores = value == "ignore"; !s.ignores {
				return s, errDeclaration
			}
		default:
			return s, errDeclaration
		}
	}
	if s.ever && s.cput > 0 {
		return s, errors.New("cput is used in the time of a program, and this one has no end")
	}
	return s, nil
}
