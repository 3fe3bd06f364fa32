package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"rampart/cmd/bench/bare"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	only  string
	bin   string
	dir   string
	quick bool
	large bool
	kills int

	transfers int

	bareDir, bareAddresses string
	bareSelf               int
}

func parse() options {
	var o options
	flag.StringVar(&o.only, "only", "", "comma-separated `parts`: "+strings.Join(names(), ","))
	flag.StringVar(&o.bin, "bin", "bin", "`folder` of the programs rampart and pbs")
	flag.StringVar(&o.dir, "dir", "", "`folder` for the clusters' files: it decides which disk is measured (default: the temporary one)")
	flag.BoolVar(&o.quick, "quick", false, "fewer repetitions: a look, not a measurement")
	flag.BoolVar(&o.large, "large", false, "100,000 queued jobs too, and 1,000,000 in the snapshot")
	flag.IntVar(&o.kills, "kills", 20, "how often the leader is killed")
	flag.IntVar(&o.transfers, "transfers", 20, "how often leadership is handed over")
	flag.StringVar(&o.bareDir, "bare-dir", "", "be a replica of the bare submit in this `folder` (bench starts itself so)")
	flag.StringVar(&o.bareAddresses, "bare-addresses", "", "addresses of the bare replicas")
	flag.IntVar(&o.bareSelf, "bare-self", 0, "which of them this one is")
	flag.Parse()
	return o
}

func run(ctx context.Context) error {
	o := parse()
	if o.bareDir != "" {
		return bare.Serve(bare.Until(ctx, os.Stdin), bare.Config{
			Dir: o.bareDir, Addresses: strings.Split(o.bareAddresses, ","), Self: o.bareSelf,
		})
	}
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer b.close()
	began := time.Now()
	machine := b.machine()
	var faults []error
	for _, p := range chosen {
		if ctx.Err() != nil {
			break
		}
		if err := b.measure(ctx, p); err != nil {
			faults = append(faults, err)
		}
	}
	b.closeLoaded()
	fmt.Printf("\n%s\nat the end: load %s; took %s\n\n", machine, load(), time.Since(began).Round(time.Second))
	printTable(os.Stdout, b.table)
	return errors.Join(append(faults, ctx.Err())...)
}

// A part measures some figures and notes them.
type part struct {
	name string
	run  func(*bench, context.Context) error
}

// parts are in the order in which they run: what needs many queued jobs comes together.
func parts() []part {
	return []part{
		{"submit", (*bench).submit},
		{"qsub", (*bench).qsub},
		{"failover", (*bench).failover},
		{"transfer", (*bench).transfer},
		{"slowdisk", (*bench).slowDisk},
		{"snapshot", (*bench).snapshot},
		{"bubble", (*bench).bubble},
		{"jobs", (*bench).jobs},
		{"release", (*bench).release},
		{"follower", (*bench).follower},
		{"list", (*bench).list},
		{"memory", (*bench).memory},
		{"restart", (*bench).restart},
	}
}

func names() []string {
	var all []string
	for _, p := range parts() {
		all = append(all, p.name)
	}
	return all
}

func choose(only string) ([]part, error) {
	if only == "" {
		return parts(), nil
	}
	wanted := strings.Split(only, ",")
	for _, w := range wanted {
		if !slices.Contains(names(), w) {
			return nil, fmt.Errorf("-only: no part is named %q; there are %s", w, strings.Join(names(), ", "))
		}
	}
	return slices.DeleteFunc(parts(), func(p part) bool { return !slices.Contains(wanted, p.name) }), nil
}

func (b *bench) measure(ctx context.Context, p part) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, partWithin)
	defer cancel()
	fmt.Fprintf(os.Stderr, "%s ... ", p.name)
	err := p.run(b, ctx)
	fmt.Fprintf(os.Stderr, "%s\n", time.Since(began).Round(100*time.Millisecond))
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}
