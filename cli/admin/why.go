package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/urfave/cli/v2"

	"rampart/cli/terminal"
	"rampart/fsm/lsf"
	"rampart/transport/api"
)

// WhyOptions says which job is asked about.
type WhyOptions struct {
	Server, Job string
	JSON        bool
	When        bool // play the cluster on until the job starts
	Days        uint // but not further than this
}

// Foreseen is when a job that waits starts if every job takes its walltime, as `rampart sim --from-cluster` finds it.
type Foreseen struct {
	Start time.Time `json:"start,omitzero"` // zero: not within the days that were asked for
	End   time.Time `json:"end,omitzero"`   // by its walltime
	Why   string    `json:"why,omitempty"`  // it does not start, in the scheduler's words
	Until time.Time `json:"until"`          // so far it was looked
}

func whyCommand(env *Env) *cli.Command {
	return &cli.Command{
		Name:      "why",
		Usage:     "say why a job does not run: what it lacks, where, until when, and what would have to end",
		ArgsUsage: "JOB",
		Description: "What the scheduler has said of the job comes first; then the hosts that have room for it first, with all that\n" +
			"is held there by others: runs until their walltime, suspended jobs, reservations, jobs that come before it.\n" +
			"Any replica answers. Who may see the job in qstat may ask. --when plays the cluster on, as rampart sim --from-cluster\n" +
			"does: it takes a snapshot, which operators and managers may, and answers for the queue as it is now.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "when", Usage: "tell when the job starts if every job takes its walltime"},
			&cli.UintFlag{Name: "days", Usage: "look so many `DAYS` ahead, 1 to 366", Value: 30},
			&cli.BoolFlag{Name: "json", Usage: "print the form that stays stable"}, serverFlag,
		},
		Action: func(c *cli.Context) error {
			job, err := Operand(c, "why", "job")
			if err != nil {
				return err
			}
			return Why(c.Context, env, WhyOptions{
				Server: c.String("server"), Job: job, JSON: c.Bool("json"), When: c.Bool("when") || c.IsSet("days"), Days: c.Uint("days"),
			})
		},
	}
}

// Why says why a job does not run.
func Why(ctx context.Context, env *Env, o WhyOptions) error {
	if o.When && (o.Days < 1 || o.Days > MostDays) {
		return fmt.Errorf("why: --days: %d, want 1 to %d", o.Days, MostDays)
	}
	client, err := env.Batch(o.Server)
	if err != nil {
		return err
	}
	r, err := client.Explain(ctx, connect.NewRequest(&api.ExplainRequest{Job: o.Job}))
	if err != nil {
		return fmt.Errorf("why: %s: %w", o.Job, err)
	}
	told := tell(r.Msg)
	if o.When && told.waits() {
		if env.Foresee == nil {
			return errors.New("why: --when: this cluster is played, and has no twin")
		}
		f, err := env.Foresee(ctx, o.Server, told.Job, o.Days)
		if err != nil {
			return fmt.Errorf("why: %s: --when: %w", told.Job, err)
		}
		told.When = &f
	}
	err = form{JSON: o.JSON}.draw(env, told, nil, told.print)
	if err != nil {
		return fmt.Errorf("why: %w", err)
	}
	return nil
}

// MostDays bounds how far anybody looks ahead.
const MostDays = 366

// A why is what is known of a job that does not run, in the form of --json.
type why struct {
	Job        string    `json:"job"`
	State      string    `json:"state"`
	Says       string    `json:"says"` // in one sentence
	Now        time.Time `json:"now"`
	Comment    string    `json:"comment,omitempty"`
	Select     string    `json:"select,omitempty"`
	Place      string    `json:"place,omitempty"`
	Walltime   string    `json:"walltime,omitempty"`
	Queue      string    `json:"queue,omitempty"`
	Never      bool      `json:"never,omitempty"`
	Start      time.Time `json:"start,omitzero"`
	Promised   bool      `json:"promised,omitempty"` // the scheduler keeps Start for it
	ExecVnode  string    `json:"exec_vnode,omitempty"`
	When       *Foreseen `json:"when,omitempty"` // with --when
	Shut       *held     `json:"shut,omitempty"`
	Counted    []held    `json:"counted,omitempty"` // runs that count for the limit, or hold the resource of server or queue, that it waits for
	Others     uint32    `json:"others,omitempty"`  // further ones
	Chunk      string    `json:"chunk,omitempty"`
	Chunks     uint32    `json:"chunks,omitempty"`
	Room       []string  `json:"room,omitempty"`
	Nearest    []nearest `json:"nearest,omitempty"`
	More       uint32    `json:"more,omitempty"`
	Ineligible uint32    `json:"ineligible,omitempty"`
}

// A nearest is a host that has no room now.
type nearest struct {
	Vnodes []string  `json:"vnodes"`
	Closed string    `json:"closed,omitempty"`
	Lacks  []lack    `json:"lacks,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Holds  []held    `json:"holds,omitempty"`
	Others uint32    `json:"others,omitempty"`
}

type lack struct {
	Resource string `json:"resource"`
	Wants    string `json:"wants"`
	Free     string `json:"free"`
	Total    string `json:"total"`
}

type held struct {
	Kind  string    `json:"kind"`
	By    string    `json:"by,omitempty"`
	Vnode string    `json:"vnode,omitempty"`
	What  string    `json:"what,omitempty"`
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Without is when the job could start if this ended now.
	Without time.Time `json:"without,omitzero"`
}

func (h held) ends() string {
	if h.Until.IsZero() {
		return "until nobody knows when"
	}
	return "until " + h.Until.Format(time.DateTime)
}

// instant turns seconds into a time; 0 is none.
func instant(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

func heldOf(h *api.Obstacle_Hold) held {
	return held{Kind: h.GetKind(), By: h.GetBy(), Vnode: h.GetVnode(), What: h.GetWhat(), From: instant(h.GetFrom()), Until: instant(h.GetUntil()), Without: instant(h.GetWithout())}
}

// tell turns an answer into what is told.
func tell(r *api.ExplainReply) *why {
	job := values{name: r.GetJob(), all: r.GetAttributes()}
	w := &why{
		Job: r.GetJob(), State: job.get("job_state", ""), Now: time.Unix(r.GetNow(), 0), Comment: job.get("comment", ""),
		Select: job.get("Resource_List", "select"), Place: job.get("Resource_List", "place"), Walltime: job.get("Resource_List", "walltime"),
		Queue: job.get("queue", ""),
	}
	o := r.GetObstacle()
	w.Never, w.Start, w.Promised, w.ExecVnode = o.GetNever(), instant(o.GetStart()), o.GetPromised(), o.GetExecVnode()
	w.Chunk, w.Chunks, w.Room, w.More, w.Ineligible = o.GetChunk(), o.GetChunks(), o.GetRoom(), o.GetMore(), o.GetIneligible()
	if s := o.GetShut(); s != nil {
		shut := heldOf(s)
		w.Shut = &shut
	}
	for _, h := range o.GetCounted() {
		w.Counted = append(w.Counted, heldOf(h))
	}
	w.Others = o.GetCountedMore()
	for _, n := range o.GetNearest() {
		near := nearest{Vnodes: n.GetVnodes(), Closed: n.GetClosed(), At: instant(n.GetAt()), Others: n.GetOthers()}
		for _, l := range n.GetLacks() {
			near.Lacks = append(near.Lacks, lack{l.GetResource(), l.GetWants(), l.GetFree(), l.GetTotal()})
		}
		for _, h := range n.GetHolds() {
			near.Holds = append(near.Holds, heldOf(h))
		}
		w.Nearest = append(w.Nearest, near)
	}
	w.Says = w.sentence(r, job)
	return w
}

// sentence says in one line what keeps the job, or what has become of it.
func (w *why) sentence(r *api.ExplainReply, job values) string {
	at := func(name string) string {
		if t := job.moment(name, ""); !t.IsZero() {
			return t.Format(time.DateTime)
		}
		return "a time that is not known"
	}
	switch w.State {
	case "R":
		return "it runs since " + at("stime") + " on " + job.get("exec_vnode", "")
	case "S", "U":
		switch _, indices, byLoad := lsf.ReadLoadComment(w.Comment); {
		case byLoad && lsf.ByCondition(indices):
			return "it is suspended by load, and goes on when STOP_COND of its queue holds on none of its hosts and RESUME_COND on all, or without one when they are within loadSched: " + w.Comment
		case byLoad:
			return "it is suspended by load, and goes on when the load of its hosts is within loadSched again: " + w.Comment
		}
		return "it is suspended since it was preempted or by somebody's wish; it goes on when what it gave back of " + job.get("exec_vnode", "") + " is free again"
	case "E":
		return "it has run, and is on its way out"
	case "F", "X":
		if code := job.get("Exit_status", ""); code != "" {
			return "it is over since " + at("obittime") + ", with exit status " + code
		}
		return "it is over"
	case "M":
		return "it was moved to " + job.get("queue", "")
	case "W":
		return "it waits for its Execution_Time, " + at("Execution_Time")
	case "T":
		return "it is on its way"
	case "H":
		if depend := job.get("depend", ""); depend != "" && strings.Contains(job.get("Hold_Types", ""), "s") {
			return "it is held (" + job.get("Hold_Types", "") + ") until what it depends on has happened: " + depend
		}
		return "it is held (" + job.get("Hold_Types", "") + ") until somebody releases it"
	}
	return w.waiting(r)
}

// waiting returns the sentence of a queued job.
func (w *why) waiting(r *api.ExplainReply) string {
	o := r.GetObstacle()
	switch {
	case o == nil:
		return "it is in queue " + w.Queue + ", from which the scheduler starts no jobs"
	case len(r.GetUnconfirmed()) > 0:
		return "it does not start again before the end of its earlier run is confirmed by " + strings.Join(r.GetUnconfirmed(), ", ")
	case !r.GetScheduling():
		if name := r.GetScheduler(); name != "" {
			return "the scheduling of " + name + ", which plans for queue " + w.Queue + ", is off: no job starts"
		}
		return "the server's scheduling is off: no job starts"
	case w.Never && o.GetReason() != "":
		return "it can never run: " + strings.TrimSpace(o.GetReason())
	case o.GetReason() != "":
		return "it waits: " + strings.TrimSpace(o.GetReason())
	case w.Shut != nil:
		return "it waits: " + w.Shut.Kind
	}
	return "vnodes are free for it: the scheduler has not started it yet"
}

// waits reports whether the job has still to start.
func (w *why) waits() bool {
	return w.State == "Q" || w.State == "H" || w.State == "W" || w.State == "B"
}

// print writes the form for people.
func (w *why) print(out io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(terminal.Printable(fmt.Sprintf(format, args...)) + "\n")
	}
	line("%s: %s", w.Job, w.Says)
	if w.Select != "" {
		long := "no walltime: it is taken to run for ever"
		if w.Walltime != "" {
			long = "walltime=" + w.Walltime
		}
		line("it asks for select=%s, place=%s, %s", w.Select, w.Place, long)
	}
	switch {
	case w.Shut == nil:
	case w.Shut.By != "":
		line("%s: %s", w.Shut.Kind, w.Shut.By)
	default:
		line("%s", strings.TrimSpace("not for it: "+w.Shut.Kind+between(w.Shut.From, w.Shut.Until)))
	}
	w.printStart(line)
	if w.When != nil {
		line("%s", w.When.words(w.Now))
	}
	if w.Chunk != "" {
		w.printHosts(line)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// between says from when until when something lasts, as far as that is known.
func between(from, until time.Time) (text string) {
	if !from.IsZero() {
		text += " from " + from.Format(time.DateTime)
	}
	if !until.IsZero() {
		text += " until " + until.Format(time.DateTime)
	}
	return text
}

// printStart says when the job is to start.
func (w *why) printStart(line func(string, ...any)) {
	on := ""
	if w.ExecVnode != "" {
		on = " on " + w.ExecVnode
	}
	switch {
	case len(w.Counted) > 0:
		line("vnodes have room for it now%s; some of these have to end:", on)
		w.printHolds(line, w.Counted, w.Others, "  ")
		if w.Promised && !w.Start.IsZero() {
			line("it is expected to start at %s: that is kept for it", w.Start.Format(time.DateTime))
		}
	case w.Start.IsZero() && w.ExecVnode != "" && w.State == "Q":
		line("there is room now%s", on)
	case w.Start.IsZero() && w.Chunk != "" && !w.Never:
		line("nobody knows when it can start")
	case w.Promised && !w.Start.IsZero():
		line("it is expected to start at %s%s: that is kept for it", w.Start.Format(time.DateTime), on)
	case !w.Start.IsZero():
		line("it can start at %s%s at the earliest, if nobody comes before it", w.Start.Format(time.DateTime), on)
	}
}

// words says when the job starts.
func (f *Foreseen) words(now time.Time) string {
	const provided = "if every job takes its walltime, and none is added, "
	switch {
	case f.Start.IsZero() && f.Why != "":
		return provided + "it does not start before " + f.Until.Format(time.DateTime) + ": " + strings.TrimSpace(f.Why)
	case f.Start.IsZero():
		return provided + "it does not start before " + f.Until.Format(time.DateTime)
	}
	text := provided + "it starts at " + f.Start.Format(time.DateTime) + ", in " + f.Start.Sub(now).Round(time.Second).String()
	if !f.End.IsZero() {
		text += ", and ends by " + f.End.Format(time.DateTime)
	}
	return text
}
