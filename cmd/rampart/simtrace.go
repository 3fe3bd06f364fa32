package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	urfave "github.com/urfave/cli/v2"

	"rampart/cmd/rampart/sim"
	"rampart/cmd/rampart/trace"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// traceFlags returns the flags of rampart sim that play workloads in place of scenarios.
func traceFlags() []urfave.Flag {
	return append(sim.TwinFlags(), []urfave.Flag{
		&urfave.StringSliceFlag{Name: "trace", Usage: "replay the workload of a `FILE` in the Standard Workload Format, or of accounting files, or a folder of them; plain or compressed by gzip; may be repeated"},
		&urfave.StringFlag{Name: "site", Usage: "folder `DIR` with the queues, limits and vnodes of a site: what qmgr prints (*.qmgr), sched_config; also one of pbs_snapshot"},
		&urfave.StringFlag{Name: "hosts", Usage: "`N:RES=VALUE,...`: hosts of a site that names none, such as 1000:ncpus=64,mem=256gb"},
		&urfave.StringFlag{Name: "csv", Usage: "write the figures to a `FILE`, - is standard output"},
		&urfave.StringFlag{Name: "json", Usage: "write everything to a `FILE`"},
		&urfave.StringFlag{Name: "svg", Usage: "draw utilisation and queue over time into a `FILE`"},
		&urfave.StringFlag{Name: "gantt", Usage: "draw the runs of a stretch into the picture, too: `FROM,UNTIL`, each YYYY-MM-DDThh:mm:ss in UTC"},
		&urfave.StringFlag{Name: "compare", Usage: "replay the workload at another site, too, and compare: its folder `DIR`"},
		&urfave.StringFlag{Name: "each", Usage: "write a line of CSV for each job to a `FILE`"},
		&urfave.StringFlag{Name: "synthetic", Usage: "draw a workload and write it to a `FILE` in the Standard Workload Format"},
		&urfave.IntFlag{Name: "jobs", Usage: "of --synthetic: `number` of jobs", Value: 10000},
		&urfave.Float64Flag{Name: "load", Usage: "of --synthetic: `part` of the cpus that is asked for, in the mean; 0: what the model gives", Value: 0.7},
		&urfave.IntFlag{Name: "widest", Usage: "of --synthetic: `cpus` of the largest job; 0: all of the hosts"},
		&urfave.IntFlag{Name: "users", Usage: "of --synthetic: `number` of users", Value: 50},
	}...)
}

// workloadFlags are the flags that mean nothing to scenarios.
var workloadFlags = []string{"site", "hosts", "csv", "json", "svg", "gantt", "compare", "each"}

// twinFlags are the flags for a copy of a cluster.
var twinFlags = []string{"down", "qmgr", "submit", "days"}

var drawingFlags = []string{"jobs", "load", "widest", "users"}

// workload does what the flags of workloads ask for; false: there are none.
func workload(c *urfave.Context) (bool, error) {
	drawing, replaying, twin := c.IsSet("synthetic"), c.IsSet("trace"), c.Bool("from-cluster") || c.IsSet("from-snapshot")
	if !drawing && !replaying && !twin {
		for _, name := range slices.Concat(workloadFlags, drawingFlags, twinFlags) {
			if c.IsSet(name) {
				return true, fmt.Errorf("sim: --%s is of --trace, --synthetic or --from-cluster", name)
			}
		}
		return false, nil
	}
	if c.Args().Present() {
		return true, fmt.Errorf("sim: %s: a scenario is played by itself", c.Args().First())
	}
	for _, name := range []string{"replicas", "update", "v"} {
		if c.IsSet(name) {
			return true, fmt.Errorf("sim: --%s is of scenarios", name)
		}
	}
	if twin {
		for _, name := range slices.Concat([]string{"synthetic", "trace", "site", "hosts", "csv", "svg", "gantt", "compare", "each", "seed"}, drawingFlags) {
			if c.IsSet(name) {
				return true, fmt.Errorf("sim: --%s is of workloads, --from-cluster is of a living cluster", name)
			}
		}
		return true, foresee(c)
	}
	for _, name := range twinFlags {
		if c.IsSet(name) {
			return true, fmt.Errorf("sim: --%s is of --from-cluster", name)
		}
	}
	var hosts trace.Hosts
	if c.IsSet("hosts") {
		var err error
		if hosts, err = readHosts(c.String("hosts")); err != nil {
			return true, fmt.Errorf("sim: --hosts: %w", err)
		}
	}
	if drawing {
		if replaying {
			return true, errors.New("sim: --synthetic writes a trace, which --trace replays when it is there")
		}
		return true, synthetic(c, hosts)
	}
	for _, name := range drawingFlags {
		if c.IsSet(name) {
			return true, fmt.Errorf("sim: --%s is of --synthetic", name)
		}
	}
	return true, replay(c, hosts)
}

// readHosts reads N:RES=VALUE,...
func readHosts(text string) (trace.Hosts, error) {
	count, list, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return trace.Hosts{}, fmt.Errorf("%q: want N:RES=VALUE,... with N from 1", text)
	}
	h := trace.Hosts{Count: n}
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok || !resource.ValidName(name) || value == "" {
			return trace.Hosts{}, fmt.Errorf("%q is not RES=VALUE", item)
		}
		def, known := resource.Lookup(name)
		if known {
			q, err := def.Parse(value)
			if err != nil {
				return trace.Hosts{}, fmt.Errorf("%s: %w", item, err)
			}
			value = q.String()
		}
		h.Each = h.Each.Set(name, value)
	}
	if n, err := strconv.Atoi(value(h.Each, "ncpus")); err != nil || n < 1 {
		return trace.Hosts{}, errors.New("want ncpus from 1 on")
	}
	return h, nil
}

func value(l resource.List, name string) string {
	v, _ := l.Get(name)
	return v
}

func synthetic(c *urfave.Context, hosts trace.Hosts) error {
	if hosts.Count == 0 {
		return errors.New("sim: --synthetic: say with --hosts N:ncpus=C which machine the workload is for")
	}
	cpus, _ := strconv.Atoi(value(hosts.Each, "ncpus"))
	o := trace.Synthetic{
		Jobs: c.Int("jobs"), Nodes: hosts.Count, CPUs: cpus, Load: c.Float64("load"), Widest: c.Int("widest"), Users: c.Int("users"), Seed: c.Uint64("seed"),
	}
	if err := o.Check(); err != nil {
		return fmt.Errorf("sim: --synthetic: %w", err)
	}
	return writeTo(c.App.Writer, c.String("synthetic"), func(w io.Writer) error { return trace.WriteSynthetic(w, o) })
}

// writeTo writes to a file, or to standard output for "-".
func writeTo(stdout io.Writer, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(stdout)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// checkOutputs refuses files that cannot be written, or are named twice, before a replay of some minutes: what is in them stays until then.
func checkOutputs(c *urfave.Context) error {
	names := map[string]string{}
	for _, flag := range []string{"csv", "json", "svg", "each"} {
		name := c.String(flag)
		if name == "" {
			continue
		}
		if other, ok := names[name]; ok {
			return fmt.Errorf("--%s: --%s is written to %s, too", flag, other, name)
		}
		names[name] = flag
		if name == "-" {
			continue
		}
		_, missing := os.Stat(name)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
		if err == nil {
			err = f.Close()
		}
		if err == nil && errors.Is(missing, os.ErrNotExist) {
			err = os.Remove(name)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
	}
	return nil
}

// A replay has little in use and makes much garbage, so it is collected less often than by default, but no more of it is left
// lying than the room that there is for it.
const (
	mostGarbage  = 400 // percent of what is in use (debug.SetGCPercent)
	leastGarbage = 50
	garbageRoom  = 64 << 20 // bytes
)

// garbageFor returns the percentage for the garbage collector where so many bytes are in use.
func garbageFor(live uint64) int {
	return int(max(leastGarbage, min(mostGarbage, 100*garbageRoom/max(1, live))))
}

// watchGarbage returns what tells the garbage collector, each time that it is called, how much garbage may lie there, and what takes
// that back.
func watchGarbage() (look, restore func()) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	last := mostGarbage
	before := debug.SetGCPercent(last)
	look = func() {
		metrics.Read(live)
		if next := garbageFor(live[0].Value.Uint64()); next != last {
			last = next
			debug.SetGCPercent(next)
		}
	}
	return look, func() { debug.SetGCPercent(before) }
}

func replay(c *urfave.Context, hosts trace.Hosts) error {
	look, restoreGarbage := watchGarbage()
	defer restoreGarbage()
	o := trace.Options{Files: c.StringSlice("trace"), Site: c.String("site"), Hosts: hosts}
	if c.IsSet("gantt") {
		if !c.IsSet("svg") {
			return errors.New("sim: --gantt is drawn into the picture of --svg")
		}
		var err error
		if o.From, o.Until, err = readStretch(c.String("gantt")); err != nil {
			return fmt.Errorf("sim: --gantt: %w", err)
		}
	}
	if c.IsSet("compare") && (c.IsSet("each") || c.IsSet("svg")) {
		return errors.New("sim: --each and --svg are of one site, --compare is of two")
	}
	if err := checkOutputs(c); err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	quit, restore := onSignal()
	defer restore()
	o.Quit = func() bool { // it is asked each few steps
		look()
		return quit()
	}
	report, err := play(c, o)
	if err != nil {
		return fmt.Errorf("sim: %w", err)
	}
	if !c.IsSet("compare") {
		return writeReport(c, report)
	}
	o.Site = c.String("compare")
	other, err := play(c, o)
	if err != nil {
		return fmt.Errorf("sim: --compare: %w", err)
	}
	return writeReport(c, comparison{trace.Comparison{One: report, Other: other}})
}

// readStretch reads FROM,UNTIL.
func readStretch(text string) (from, until pbs.Time, err error) {
	const layout = "2006-01-02T15:04:05"
	first, last, _ := strings.Cut(text, ",")
	a, err1 := time.Parse(layout, first)
	b, err2 := time.Parse(layout, last)
	if err1 != nil || err2 != nil || !b.After(a) {
		return 0, 0, fmt.Errorf("%q: want FROM,UNTIL, each YYYY-MM-DDThh:mm:ss", text)
	}
	return pbs.Time(a.UnixNano()), pbs.Time(b.UnixNano()), nil
}

// play replays a trace, and shows at a terminal how far it is.
func play(c *urfave.Context, o trace.Options) (report *trace.Report, err error) {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p := trace.NewProgress(os.Stderr)
		defer p.Done()
		o.Seen = p.Show
	}
	run := func(w io.Writer) (err error) {
		if w != nil {
			out := csv.NewWriter(w)
			defer func() {
				out.Flush()
				err = errors.Join(err, out.Error())
			}()
			_ = out.Write(trace.EachHeader) // Error tells
			o.Each = func(r trace.Result) { _ = out.Write(r.Row()) }
		}
		report, err = trace.Replay(o)
		return err
	}
	if name := c.String("each"); name != "" {
		return report, writeTo(c.App.Writer, name, run)
	}
	return report, run(nil)
}

// A result is what can be written in every form.
type result interface {
	Text(w io.Writer) error
	CSV(w io.Writer) error
	JSON(w io.Writer) error
	SVG(w io.Writer) error
	Warnings() string
}

// A comparison has no picture.
type comparison struct{ trace.Comparison }

func (comparison) SVG(io.Writer) error { return errors.ErrUnsupported }

// writeReport writes a report in every form that is wished, as text if none of them goes to standard output; else what was not taken
// as it stands is told on standard error.
func writeReport(c *urfave.Context, r result) error {
	text := c.String("each") != "-"
	for _, form := range []struct {
		name  string
		write func(io.Writer) error
	}{{"csv", r.CSV}, {"json", r.JSON}, {"svg", r.SVG}} {
		name := c.String(form.name)
		if name == "" {
			continue
		}
		text = text && name != "-"
		if err := writeTo(c.App.Writer, name, form.write); err != nil {
			return fmt.Errorf("sim: --%s: %w", form.name, err)
		}
	}
	if !text {
		_, err := io.WriteString(c.App.ErrWriter, strings.TrimPrefix(r.Warnings(), "\n"))
		return err
	}
	return r.Text(c.App.Writer)
}
