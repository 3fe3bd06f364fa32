package interactive

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
	"rampart/transport/streams"
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

// A Moment is a stage of a job about which the person at the terminal is told.
type Moment int

// The moments.
const (
	Waits   Moment = iota // for the job to start
	Never                 // it will not start
	Removed               // it is being deleted, as was asked for
	Ready                 // the terminal is connected to it
	Over                  // it has ended
)

// An Outcome says how a session has ended.
type Outcome int

// The outcomes.
const (
	Failed     Outcome = iota // with an error
	Ended                     // with the job
	GivenUp                   // whoever waited for the job has deleted it
	NotStarted                // the job is gone
)

// A Session is somebody at a terminal, and the interactive job that they wait for and work in; or a command without a terminal, whose standard
// streams are those of the job.
type Session struct {
	Env     *cli.Env
	Batch   apiconnect.BatchClient
	Console cli.Console
	Job     string
	Tell    func(m Moment, hosts string) // hosts: its exec_host, once it has one
	Viewer  *Viewer                      // shows the job's programs; nil: they have no display
	Piped   bool                         // there is no terminal: of Console Signals alone is used, and the job has interactive_pipes

	signals <-chan os.Signal
	hosts   string
	cooked  func()          // gives the terminal back as it was
	parter  *streams.Parter // of pipes
}

// Run waits for the job, connects the terminal to it, and tells of its end.
func (i *Session) Run(ctx context.Context) (Outcome, error) {
	i.signals = i.Console.Signals()
	ctx = context.WithoutCancel(ctx) // what interrupts a command is asked about here
	i.Tell(Waits, "")
	for {
		started, err := i.await(ctx)
		switch {
		case errors.Is(err, errDeleted):
			return GivenUp, nil
		case err != nil:
			return Failed, err
		case !started:
			i.Tell(Never, "")
			return NotStarted, nil
		}
		err = i.work(ctx, i.connect)
		switch {
		case err == nil:
			return Ended, nil
		case errors.Is(err, errDeleted):
			return GivenUp, nil
		case !errors.Is(err, pbs.Refuse(pbs.BadState)): // else that run came to nothing
			return Failed, err
		}
		time.Sleep(attachAgainMost / 4)
	}
}

// UntilSignalled returns a context for what follows a session: it ends when whoever is at the terminal interrupts it, and not because
// somebody has while the session went on.
func UntilSignalled(ctx context.Context, console cli.Console) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	signals := console.Signals()
	go func() {
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// errDeleted ends the wait for a job that its owner has given up.
var errDeleted = errors.New("the job was deleted")

// await waits until the job runs; false: it never will. ^C asks whether to go on.
func (i *Session) await(ctx context.Context) (started bool, err error) {
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
			if i.givesUp(sig) {
				return false, i.remove(ctx)
			}
		}
	}
}

func (i *Session) watchStart(ctx context.Context) (started bool, err error) {
	r := &api.WatchRequest{Names: []string{i.Job}, Attributes: []string{"job_state", "exec_host"}}
	err = cli.Watch(ctx, i.Batch, r, true, func(m *api.WatchReply) (bool, error) {
		for _, o := range m.Objects {
			if o.Refusal != nil {
				return true, cli.Refusal(o)
			}
			i.hosts = cli.Value(o, "exec_host")
			switch state := cli.Value(o, "job_state"); state {
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

// givesUp reports whether a signal ends the wait for the job. Without a terminal nobody is asked.
func (i *Session) givesUp(sig os.Signal) bool {
	return i.Piped || sig != os.Interrupt || i.wishesToEnd()
}

// wishesToEnd asks as PBS does; the end of the input is a yes.
func (i *Session) wishesToEnd() bool {
	in := bufio.NewReader(i.Env.Stdin)
	for {
		io.WriteString(i.Env.Stdout, "Do you wish to terminate the job and exit (y|[n])? ")
		line, err := in.ReadString('\n')
		switch answer := strings.ToLower(strings.TrimSpace(line)); {
		case err != nil && answer == "", strings.HasPrefix(answer, "y"):
			return true
		case answer == "", strings.HasPrefix(answer, "n"):
			return false
		}
		io.WriteString(i.Env.Stdout, "yes or no please\n")
	}
}

// remove deletes the job that was waited for.
func (i *Session) remove(ctx context.Context) error {
	i.Tell(Removed, "")
	if _, err := i.Batch.Delete(i.Env.WithRequestID(ctx, i.Env.NewRequestID()), connect.NewRequest(&api.DeleteRequest{Job: i.Job})); err != nil {
		return err
	}
	return errDeleted
}

// work connects the terminal to the session until that is over. BadState is the error of a
// job that was never connected to. When nobody has answered for so long that there is no session any more,
// its error is the last that was heard.
func (i *Session) work(ctx context.Context, connect func(ctx context.Context, r *remote, ready func()) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, window := i.shown()
	r := newRemote(i.Job, out, window)
	i.cooked = func() {}
	defer func() { i.cooked() }()
	begun := false
	ready := func() {
		if begun {
			return
		}
		begun = true
		i.Tell(Ready, i.hosts)
		i.sit(ctx, r, cancel)
		if i.Viewer != nil {
			go i.Viewer.serve(ctx, i.Job, func(ctx context.Context) terminalStream { return i.Batch.Attach(ctx) })
		}
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
			if !i.Piped {
				io.WriteString(i.Env.Stdout, "\n")
			}
			return err
		}
		signals := i.signals
		if begun {
			signals = nil // handle has them
		}
		select {
		case <-ctx.Done():
		case sig := <-signals:
			if i.givesUp(sig) {
				return i.remove(ctx)
			}
		case <-time.After(pause):
		}
		pause = min(2*pause, attachAgainMost)
	}
	i.cooked()
	i.Tell(Over, i.hosts)
	return i.unshown()
}

// sit begins to pass on what is typed, and signals.
func (i *Session) sit(ctx context.Context, r *remote, end func()) {
	if i.Piped {
		go i.readPipe(ctx, r)
		go i.handlePipe(ctx, r, end)
		return
	}
	if undo, err := i.Console.Raw(); err == nil {
		i.cooked = undo
	}
	go i.read(ctx, r, end)
	go i.handle(ctx, r, end)
}

func (i *Session) connect(ctx context.Context, r *remote, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := i.Batch.Attach(ctx)
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

// final reports whether an error says that the session is over, and not only the connection.
func final(err error) bool {
	var refused *pbs.Error
	return errors.As(err, &refused) && refused.Code != pbs.NoQuorum && refused.Code != pbs.UnknownResult
}

// read passes on what is typed.
func (i *Session) read(ctx context.Context, r *remote, end func()) {
	var e escape
	buf := make([]byte, 4096)
	for {
		n, err := i.Env.Stdin.Read(buf)
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
func (i *Session) suspend() {
	i.cooked()
	i.Console.Suspend()
	_, _ = i.Console.Raw() // cooked knows what it was before
}

// handle does what signals say.
func (i *Session) handle(ctx context.Context, r *remote, end func()) {
	resized := i.Console.Resized()
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

// ConsoleOf returns the terminal of whoever wants an interactive job; false: he has none.
func ConsoleOf(env *cli.Env) (cli.Console, bool) {
	if !env.Terminal() || env.Console == nil {
		return nil, false
	}
	return env.Console()
}
