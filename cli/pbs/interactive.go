package pbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

const (
	// attachAgain and attachAgainMost are the pauses before a connection that broke is
	// made anew: each is twice the one before.
	attachAgain     = 50 * time.Millisecond
	attachAgainMost = time.Second
	// lastLook is how long a terminal that was told to end waits for the session's word.
	lastLook = 2 * time.Second
	// sessionGone is when a session that could not be reached has surely ended: it waits for a terminal for
	// five minutes, though its mom is gone.
	sessionGone = 6 * time.Minute
)

// An interaction is somebody at a terminal, and the interactive job that he waits for and
// works in: qsub -I.
type interaction struct {
	*session
	console cli.Console
	signals <-chan os.Signal
	job     string
	cooked  func() // gives the terminal back as it was
}

// interact waits for an interactive job, connects the terminal to it, and tells of its end.
func (s *session) interact(ctx context.Context, console cli.Console, job string) error {
	i := &interaction{session: s, console: console, signals: console.Signals(), job: job}
	ctx = context.WithoutCancel(ctx) // what interrupts a command is asked about here
	fmt.Fprintf(s.env.Stdout, "qsub: waiting for job %s to start\n", job)
	for {
		started, err := i.await(ctx)
		switch {
		case errors.Is(err, errDeleted):
			return nil
		case err != nil:
			s.fail(err, func(text string) string { return text + " " + job })
			return s.end()
		case !started:
			fmt.Fprintf(s.env.Stdout, "qsub: job %s apparently deleted\n", job)
			return cli.Status(1)
		}
		err = i.work(ctx, i.connect)
		if err == nil || errors.Is(err, errDeleted) {
			return nil
		}
		if !errors.Is(err, pbs.Refuse(pbs.BadState)) { // else that run came to nothing
			s.fail(err, func(text string) string { return text + " " + job })
			return s.end()
		}
		time.Sleep(attachAgainMost / 4)
	}
}

// errDeleted ends the wait for a job that its owner has given up.
var errDeleted = errors.New("the job was deleted")

// await waits until the job runs; false: it never will. ^C asks whether to go on.
func (i *interaction) await(ctx context.Context) (started bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	type outcome struct {
		started bool
		err     error
	}
	seen := make(chan outcome, 1)
	defer cancel()
	go func() {
		started, err := i.watchStart(ctx)
		seen <- outcome{started, err}
	}()
	for {
		select {
		case o := <-seen:
			return o.started, o.err
		case sig := <-i.signals:
			if sig != os.Interrupt || i.wishesToEnd() {
				return false, i.remove(ctx)
			}
		}
	}
}

func (i *interaction) watchStart(ctx context.Context) (started bool, err error) {
	r := &api.WatchRequest{Names: []string{i.job}, Attributes: []string{"job_state"}}
	err = i.watch(ctx, r, true, func(m *api.WatchReply) (bool, error) {
		for _, o := range m.Objects {
			if o.Refusal != nil {
				return true, refusal(o)
			}
			switch state := value(o, "job_state"); state {
			case "R", "S", "E":
				started = true
				return true, nil
			case "F":
				return true, nil
			}
		}
		return len(m.Gone) > 0, nil
	})
	if errors.Is(err, pbs.Refuse(pbs.UnknownJob)) {
		return false, nil
	}
	return started, err
}

// wishesToEnd asks as PBS does; the end of the input is a yes.
func (i *interaction) wishesToEnd() bool {
	in := bufio.NewReader(i.env.Stdin)
	for {
		io.WriteString(i.env.Stdout, "Do you wish to terminate the job and exit (y|[n])? ")
		line, err := in.ReadString('\n')
		switch answer := strings.ToLower(strings.TrimSpace(line)); {
		case err != nil && answer == "", strings.HasPrefix(answer, "y"):
			return true
		case answer == "", strings.HasPrefix(answer, "n"):
			return false
		}
		io.WriteString(i.env.Stdout, "yes or no please\n")
	}
}

// remove deletes the job that was waited for.
func (i *interaction) remove(ctx context.Context) error {
	fmt.Fprintf(i.env.Stdout, "Job %s is being deleted\n", i.job)
	if _, err := i.batch.Delete(i.env.WithRequestID(ctx, i.env.NewRequestID()), connect.NewRequest(&api.DeleteRequest{Job: i.job})); err != nil {
		return err
	}
	return errDeleted
}

// work connects the terminal to the session until that is over. BadState is the error of a
// job that was never connected to. When nobody has answered for so long that there is no session any more,
// its error is the last that was heard.
func (i *interaction) work(ctx context.Context, connect func(ctx context.Context, r *remote, ready func()) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := newRemote(i.job, i.env.Stdout, i.console.Size)
	i.cooked = func() {}
	defer func() { i.cooked() }()
	begun := false
	ready := func() {
		if begun {
			return
		}
		begun = true
		fmt.Fprintf(i.env.Stdout, "qsub: job %s ready\n\n", i.job)
		if undo, err := i.console.Raw(); err == nil {
			i.cooked = undo
		}
		go i.read(ctx, r, cancel)
		go i.heed(ctx, r, cancel)
	}
	pause, seen := attachAgain, time.Now()
	for !r.isOver() && ctx.Err() == nil {
		came := false
		err := connect(ctx, r, func() { came = true; ready() })
		if final(err) && !begun {
			return err
		}
		if final(err) || err == nil {
			break
		}
		if came {
			pause, seen = attachAgain, time.Now()
		}
		if begun && time.Since(seen) >= sessionGone {
			i.cooked()
			io.WriteString(i.env.Stdout, "\n")
			return err
		}
		signals := i.signals
		if begun {
			signals = nil // heed has them
		}
		select {
		case <-ctx.Done():
		case sig := <-signals:
			if sig != os.Interrupt || i.wishesToEnd() {
				return i.remove(ctx)
			}
		case <-time.After(pause):
		}
		pause = min(2*pause, attachAgainMost)
	}
	i.cooked()
	fmt.Fprintf(i.env.Stdout, "\nqsub: job %s completed\n", i.job)
	return nil
}

func (i *interaction) connect(ctx context.Context, r *remote, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := i.batch.Attach(ctx)
	defer stream.CloseResponse()
	defer stream.CloseRequest()
	err := r.attach(ctx, stream, ready, cancel)
	if err == nil {
		farewell(stream, cancel)
	}
	return err
}

// farewell tells an ended session that all of its output was seen, and stays until it has
// heard that: the word could get lost with the connection, and the job would wait for it.
func farewell(stream terminalStream, cut func()) {
	late := time.AfterFunc(lastLook, cut)
	defer late.Stop()
	if stream.Send(&api.TerminalUp{Frame: &api.Frame{Kind: api.FrameKind_FRAME_KIND_HANGUP}}) != nil {
		return
	}
	for {
		if _, err := stream.Receive(); err != nil {
			return
		}
	}
}

// final tells whether an error says that the session is over, and not only the connection.
func final(err error) bool {
	var refused *pbs.Error
	return errors.As(err, &refused) && refused.Code != pbs.NoQuorum && refused.Code != pbs.UnknownResult
}

// read passes on what is typed.
func (i *interaction) read(ctx context.Context, r *remote, end func()) {
	var e escape
	buf := make([]byte, 4096)
	for {
		n, err := i.env.Stdin.Read(buf)
		pass, command := e.filter(buf[:n])
		r.typed(ctx, pass)
		switch {
		case command == escapeSuspend:
			i.suspend()
			ring(r.wake) // the window may have another size
		case command == escapeEnd, err != nil:
			leave(r, end)
			return
		}
	}
}

// suspend gives the terminal back for a while.
func (i *interaction) suspend() {
	i.cooked()
	i.console.Suspend()
	_, _ = i.console.Raw() // cooked knows what it was before
}

// heed does what signals say.
func (i *interaction) heed(ctx context.Context, r *remote, end func()) {
	resized := i.console.Resized()
	for {
		select {
		case <-ctx.Done():
			return
		case <-resized:
			ring(r.wake)
		case sig := <-i.signals:
			if sig != os.Interrupt { // that one is a key of the job's
				leave(r, end)
				return
			}
		}
	}
}

// leave hangs up, and waits a moment for the session's word.
func leave(r *remote, end func()) {
	r.change(func() { r.hangup = true })
	time.AfterFunc(lastLook, end)
}

// consoleOf returns the terminal of whoever wants an interactive job.
func consoleOf(env *cli.Env) (cli.Console, error) {
	if env.Terminal() && env.Console != nil {
		if c, ok := env.Console(); ok {
			return c, nil
		}
	}
	return nil, errNoTerminal
}

func (r *request) interactive() bool { return r.value("interactive") == "True" }

// completeInteractive refuses what an interactive job cannot be, and says which terminal
// it will have.
func (r *request) completeInteractive() error {
	if r.value("block") == "True" {
		return errors.New("interactive and block job submission is not supported")
	}
	if r.value("Rerunable") == "True" {
		io.WriteString(r.env.Stderr, "qsub (Warning): Interactive jobs will be treated as not rerunnable\n")
	}
	r.set("Rerunable", "", "False")
	return nil
}
