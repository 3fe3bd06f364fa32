package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	urfave "github.com/urfave/cli/v2"

	"rampart/cmd/rampart/sim"
)

func simCommand() *urfave.Command {
	return &urfave.Command{
		Name:      "sim",
		Usage:     "play scenarios, which are whole clusters in virtual time, and tell the line that does not do what it says; or replay a workload",
		ArgsUsage: "FILE... | --trace FILE | --synthetic FILE",
		Flags: append([]urfave.Flag{
			&urfave.IntFlag{Name: "replicas", Usage: "1 to 7 `replicas`, whatever the files say"},
			&urfave.Uint64Flag{Name: "seed", Usage: "`number` from which raft and gossip draw how long they wait, and --synthetic its jobs", Value: 1},
			&urfave.BoolFlag{Name: "update", Usage: "write what cmp got into the files"},
			&urfave.BoolFlag{Name: "v", Usage: "show each line as it is played, and what commands print"},
		}, traceFlags()...),
		Action: func(c *urfave.Context) error {
			if some, err := workload(c); some || err != nil {
				return err
			}
			if c.NArg() == 0 {
				return errors.New("sim: name the files of scenarios")
			}
			if n := c.Int("replicas"); c.IsSet("replicas") && (n < 1 || n > 7) {
				return fmt.Errorf("sim: --replicas: %d, want 1 to 7", n)
			}
			if err := sim.Calm(); err != nil {
				fmt.Fprintf(os.Stderr, "rampart: sim: %v: on a busy machine the same seed may give something else\n", err)
			}
			quit, restore := onSignal()
			defer restore()
			return playAll(c.App.Writer, os.Stderr, c.Args().Slice(), sim.Options{
				Replicas: c.Int("replicas"), Seed: c.Uint64("seed"), Update: c.Bool("update"), Verbose: c.Bool("v"), Out: c.App.Writer, Quit: quit,
			})
		},
	}
}

// quitFor is how long a scenario may take to end: a command may wait, and the clock stands while a hook runs.
const quitFor = 10 * time.Second

// ends are the signals after which nothing is to be left behind: whoever reads the output may have read enough, and the terminal may be gone.
var ends = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// onSignal returns a function that reports whether a signal has come that ends the process: the folders of a scenario are to be removed
// then, and a channel from outside would hold up the clock of its bubble. A second one, and a line that does not end, leave
// no time for more.
func onSignal() (quit func() bool, restore func()) {
	signals, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, heard(ends)...)
	var come atomic.Bool
	go func() {
		var patience <-chan time.Time
		for {
			select {
			case s := <-signals:
				if !come.Swap(true) {
					patience = time.After(quitFor)
				} else if s != syscall.SIGPIPE { // each line that is written brings one more
					giveUp("interrupted again")
				}
			case <-patience:
				giveUp("interrupted, and the line does not end")
			case <-over:
				return
			}
		}
	}()
	return come.Load, func() {
		signal.Stop(signals)
		close(over)
	}
}

// giveUp ends the process.
func giveUp(why string) {
	sim.Clear()
	fmt.Fprintln(os.Stderr, "rampart: sim: "+why)
	os.Exit(1)
}

// errScenarios is the end of a run in which not every scenario was good; what was wrong has been told.
var errScenarios = errors.New("scenarios failed")

func playAll(out, stderr io.Writer, files []string, o sim.Options) error {
	bad := false
	for _, file := range files {
		report, err := sim.Play(file, o)
		if err != nil {
			fmt.Fprintln(stderr, err)
			if bad = true; errors.Is(err, sim.ErrInterrupted) {
				break
			}
			continue
		}
		more := ""
		if report.Updated {
			more = ", file updated"
		}
		// What is printed is the same each time, and the time that it took is not.
		fmt.Fprintf(out, "ok %s: %s%s\n", file, report.Virtual.Round(time.Second), more)
		if o.Verbose {
			fmt.Fprintf(stderr, "%s: in %s\n", file, report.Took.Round(10*time.Millisecond))
		}
	}
	if bad {
		return errScenarios
	}
	return nil
}
