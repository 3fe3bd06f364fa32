package lsf

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"rampart/cli"
	"rampart/cli/timeline"
	"rampart/fsm/lsf"
)

const bacctUsage = `bacct [-h] [-V] [-d] [-e] [-l [-UF]] [-w] [-n days] [-app application_name]
             [-J job_name] [-m host_name] [-P project_name] [-q queue_name]
             [-u user_name ... | -u all] [job_ID | "job_ID[index]" ...]
`

func bacct() *cli.Command {
	g := cli.Grammar{Letters: "bdelwxJ:m:q:u:n:P:f:N:C:D:S:L:U:E", Dashed: map[string]bool{"UF": false, "app": true, "sla": true, "cname": false}}
	return command("bacct", "sum up what jobs that are over have used, from accounting", bacctUsage, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "b", "x", "f", "N", "C", "D", "S", "L", "U", "E", "sla", "cname"); err != nil {
			return err
		}
		h, err := newHistory(s, opts)
		if err != nil {
			return err
		}
		h.finished, h.states = true, []string{lsf.Done, lsf.Exited}
		switch {
		case opts.Has("d") && !opts.Has("e"):
			h.states = []string{lsf.Done}
		case opts.Has("e") && !opts.Has("d"):
			h.states = []string{lsf.Exited}
		}
		return (&bill{history: h}).show(ctx, opts)
	})
}

// A bill is what bacct sums up.
type bill struct {
	*history
	done, exited         int
	cpu, wait, turn, hog spread
	first, last          time.Time // ends of jobs
}

// A spread sums numbers up.
type spread struct {
	n                int
	sum, least, most float64
}

func (s *spread) add(x float64) {
	if s.n == 0 {
		s.least, s.most = x, x
	}
	s.n, s.sum, s.least, s.most = s.n+1, s.sum+x, min(s.least, x), max(s.most, x)
}

func (s *spread) average() float64 { return s.sum / float64(max(s.n, 1)) }

func (b *bill) show(ctx context.Context, opts *cli.Options) error {
	var jobs []job
	var err error
	if len(opts.Operands) > 0 {
		jobs, err = b.operands(ctx, opts.Operands)
	} else {
		jobs, err = b.chosen(ctx)
	}
	if err != nil {
		return err
	}
	if b.long {
		if err := b.learn(ctx); err != nil {
			return err
		}
	}
	b.heading()
	lacking, err := b.each(ctx, jobs, b.charge)
	if err != nil {
		return err
	}
	b.total()
	return b.end(lacking)
}

// heading says what jobs the sums are of.
func (b *bill) heading() {
	whose := func(text, name, all string) string {
		if name == "" {
			return text + " all " + all + "."
		}
		return text + " " + all + " " + name + ","
	}
	users := "all users."
	if !b.everyone {
		users = "users " + cmp.Or(b.users, b.env.Getenv("LOGNAME")) + ","
	}
	ended := "completed normally or exited"
	if len(b.states) == 1 {
		ended = map[string]string{lsf.Done: "completed normally", lsf.Exited: "exited"}[b.states[0]]
	}
	fmt.Fprintf(b.out, "\nAccounting information about jobs that are: \n  - submitted by %s\n  - %s\n  - %s\n  - %s\n  - %s\n%s\n",
		users, whose("accounted on", b.project, "projects"), ended, whose("executed on", b.host, "hosts"), whose("submitted to", b.queue, "queues"), strings.Repeat("-", 78))
}

// charge adds a job to the sums, if it is over.
func (b *bill) charge(j job, t *timeline.Job) {
	end, state, over := ended(t)
	if !over {
		_ = b.out.Flush()
		b.complain(fmt.Sprintf("Job <%s>: No matching job found", j.id))
		return
	}
	began, cpu, mem, swap := end, int64(0), int64(0), int64(0)
	for i := range t.Runs {
		run := &t.Runs[i]
		if i == 0 {
			began = run.Start
		}
		cpu += secondsOf(run.Used["cput"])
		m, _ := megabytes(run.Used["mem"])
		s, _ := megabytes(run.Used["vmem"])
		mem, swap = max(mem, m), max(swap, s)
	}
	waited, turn, hog := 0.0, 0.0, 0.0
	b.cpu.add(float64(cpu))
	if !t.Queued.IsZero() { // else it was queued before the days that were searched
		waited, turn = began.Sub(t.Queued).Seconds(), end.Sub(t.Queued).Seconds()
		if turn > 0 {
			hog = float64(cpu) / turn
		}
		b.wait.add(waited)
		b.turn.add(turn)
		b.hog.add(hog)
	}
	if state == lsf.Done {
		b.done++
	} else {
		b.exited++
	}
	if b.first.IsZero() || end.Before(b.first) {
		b.first = end
	}
	if end.After(b.last) {
		b.last = end
	}
	if b.count++; b.long {
		if j.user == "" { // accounting alone knows it
			j.user = t.User
		}
		b.story(j, t)
		fmt.Fprintf(b.out, "\nAccounting information about this job:\n     CPU_T     WAIT     TURNAROUND   STATUS     HOG_FACTOR    MEM    SWAP\n%10.2f %8.0f %14.0f %8s %14.4f %6s %7s\n",
			float64(cpu), waited, turn, strings.ToLower(state), hog, used(mem), used(swap))
	}
}

// used writes megabytes, a dash for none.
func used(m int64) string {
	if m == 0 {
		return "-"
	}
	return fmt.Sprintf("%dM", m)
}

// ended returns when a job was over, and how; false: it is not.
func ended(t *timeline.Job) (at time.Time, state string, over bool) {
	if n := len(t.Runs); n > 0 {
		if status, over := t.Runs[n-1].Exited(); over && status == 0 {
			return t.Runs[n-1].End, lsf.Done, true
		} else if over {
			return t.Runs[n-1].End, lsf.Exited, true
		}
	}
	return t.Left, lsf.Exited, !t.Left.IsZero()
}

// total writes the sums.
func (b *bill) total() {
	if b.long && b.count > 0 {
		b.out.WriteString(strings.Repeat("-", 78) + "\n")
	}
	const two = " %-25s %10.1f      %-25s %8.1f\n"
	fmt.Fprintf(b.out, "\nSUMMARY:      ( time unit: second ) \n %-25s %8d      %-25s %6d\n", "Total number of done jobs:", b.done, "Total number of exited jobs:", b.exited)
	fmt.Fprintf(b.out, two, "Total CPU time consumed:", b.cpu.sum, "Average CPU time consumed:", b.cpu.average())
	fmt.Fprintf(b.out, two, "Maximum CPU time of a job:", b.cpu.most, "Minimum CPU time of a job:", b.cpu.least)
	fmt.Fprintf(b.out, " Total wait time in queues: %10.1f\n Average wait time in queue:%10.1f\n", b.wait.sum, b.wait.average())
	fmt.Fprintf(b.out, two, "Maximum wait time in queue:", b.wait.most, "Minimum wait time in queue:", b.wait.least)
	fmt.Fprintf(b.out, " Average turnaround time: %10.0f (seconds/job)\n", b.turn.average())
	fmt.Fprintf(b.out, " %-25s %9.0f      %-25s %8.0f\n", "Maximum turnaround time:", b.turn.most, "Minimum turnaround time:", b.turn.least)
	fmt.Fprintf(b.out, " Average hog factor of a job: %5.2f ( cpu time / turnaround time )\n", b.hog.average())
	fmt.Fprintf(b.out, " %-28s %5.2f      %-28s %5.2f\n", "Maximum hog factor of a job:", b.hog.most, "Minimum hog factor of a job:", b.hog.least)
	if hours := b.last.Sub(b.first).Hours(); hours > 0 {
		fmt.Fprintf(b.out, " Total throughput: %16.2f (jobs/hour)  during %8.2f hours\n", float64(b.count)/hours, hours)
	}
	if b.count > 0 {
		fmt.Fprintf(b.out, " Beginning time:       %s      Ending time:          %s\n", shortTime(b.first), shortTime(b.last))
	}
	b.out.WriteByte('\n')
}
