package mom

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/protobuf/proto"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/transport/api"
	"rampart/transport/head"
	"rampart/transport/own"
)

const (
	// amountsEvery is how often commands are asked how much the host has.
	amountsEvery = 10 * time.Second
	// amountWithin bounds one command, as PBS does.
	amountWithin = 10 * time.Second
	// measured is the attribute of a reported vnode that has an amount of mom_priv/config.
	measured = "resources_measured"
)

// An amount is a line NAME VALUE or NAME !COMMAND of mom_priv/config: how much the host has of a resource, or a command
// that prints it.
type amount struct{ name, value, command string }

// amount reads such a line. A line that is no amount, or of one that the mom finds out by itself, is ignored.
func (s *settings) amount(line string) {
	name, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	if _, builtin := resource.Lookup(name); builtin || !resource.ValidName(name) || strings.Trim(rest, "!") == "" {
		return
	}
	if command, dynamic := strings.CutPrefix(rest, "!"); dynamic {
		s.amounts = append(s.amounts, amount{name: name, command: command})
		return
	}
	s.amounts = append(s.amounts, amount{name: name, value: rest})
}

// amounts is how much the host has of what mom_priv/config names.
type amounts struct {
	named func() []amount // by the present configuration
	lines lines
	again chan struct{} // the configuration may name others
	last  atomic.Pointer[[]*api.Attribute]
}

// keep measures until ctx ends, and calls changed whenever the host has more or less of something.
func (s *amounts) keep(ctx context.Context, changed func()) {
	for {
		if s.measure(ctx) {
			changed()
		}
		var due <-chan time.Time
		if slices.ContainsFunc(s.named(), func(a amount) bool { return a.command != "" }) {
			due = time.After(amountsEvery)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.again:
		case <-due:
		}
	}
}

// measure finds out all amounts, and reports whether they have changed. The amount is 0 if its command fails.
func (s *amounts) measure(ctx context.Context) bool {
	var now []*api.Attribute
	for _, a := range s.named() {
		value := a.value
		if a.command != "" {
			var err error
			if err = closedCommand(a.command); err != nil {
				s.lines.system(pbs.LogSecurity, "mom_resources", err.Error())
				continue
			}
			if value, err = printed(ctx, a.command); err != nil || value == "" {
				s.lines.system(pbs.LogError, "mom_resources", fmt.Sprintf("%s: %s says nothing: %v", a.name, a.command, err))
				continue
			}
		}
		now = append(now, &api.Attribute{Name: measured, Resource: a.name, Value: value})
	}
	before := s.last.Swap(&now)
	same := func(a, b *api.Attribute) bool { return proto.Equal(a, b) }
	return before == nil && len(now) > 0 || before != nil && !slices.EqualFunc(*before, now, same)
}

// closedCommand refuses, in PBS's words, a command whose program others than root could change: the mom runs it as root.
func closedCommand(command string) error {
	program := command
	if words := strings.Fields(command); len(words) > 0 {
		program = words[0]
	}
	path, err := exec.LookPath(program)
	if err == nil {
		err = own.Program(path)
	}
	if err == nil {
		return nil
	}
	errno := syscall.ENOENT
	if errors.Is(err, own.ErrForeign) {
		errno = syscall.EPERM
	}
	return fmt.Errorf("error: %s %w, errno: %d", program, own.ErrForeign, errno)
}

// printed runs a command by a shell and returns the first line that it prints.
func printed(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, amountWithin, fmt.Errorf("no end after %s", amountWithin))
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // what it leaves behind holds nobody
	var out head.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", err
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	return strings.TrimSpace(line), nil
}

// addTo adds to the natural vnode what there is beside what it says by itself.
func (s *amounts) addTo(vnodes []*api.VnodeReport) []*api.VnodeReport {
	all := s.last.Load()
	if all == nil || len(*all) == 0 || len(vnodes) == 0 {
		return vnodes
	}
	vnodes = slices.Clone(vnodes)
	vnodes[0] = &api.VnodeReport{Name: vnodes[0].GetName(), Attributes: slices.Concat(vnodes[0].GetAttributes(), *all)}
	return vnodes
}
