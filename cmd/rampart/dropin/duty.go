package dropin

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/mom"
	"rampart/cmd/rampart/server"
	"rampart/fsm/pbs"
	"rampart/transport/daylog"
	"rampart/transport/own"
)

// lookEvery is how often the small processes look at the duties.
const lookEvery = 5 * time.Second

// A duty is a small process that stands where PBS has a daemon of its own.
type duty struct {
	lock  string
	begin func(ctx context.Context)
	again func(ctx context.Context) // SIGHUP
	pipe  func()                    // SIGPIPE; nil: it is not noticed
	look  func(ctx context.Context) // now and then
	every time.Duration
}

// run is the life of the process: in the background, unless -N was given.
func (c *call) run(ctx context.Context, d duty) error {
	if !c.has("N") {
		if err := c.free(ctx, d.lock); err != nil {
			return err
		}
		return c.background(ctx)
	}
	pipe := upPipe()
	lock, err := c.lock(d.lock)
	if err != nil {
		return err
	}
	defer lock.Close()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if d.pipe != nil {
		signal.Notify(signals, syscall.SIGPIPE)
	}
	defer signal.Stop(signals)
	sayUp(ctx, pipe, func() string { return "" })
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	hups, pipes := make(chan struct{}, 1), make(chan struct{}, 1)
	go func() { // ends with the process, which the signal ends
		for sig := range signals {
			to := hups
			switch sig {
			case syscall.SIGHUP:
			case syscall.SIGPIPE:
				to = pipes
			default:
				stop()
				return
			}
			select {
			case to <- struct{}{}:
			default:
			}
		}
	}()
	d.begin(ctx)
	tick := time.NewTicker(d.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hups:
			d.again(ctx)
		case <-pipes:
			d.pipe()
		case <-tick.C:
			d.look(ctx)
		}
	}
}

// lock is home.Lock. Of a folder outside of the home, such as a scheduler's, that is closed to others which it is in itself alone.
func (c *call) lock(path string) (*os.File, error) {
	if filepath.Dir(filepath.Dir(path)) != filepath.Clean(string(c.home)) {
		return own.Lock(path, os.Getpid())
	}
	return home.Lock(path)
}

// commMain is pbs_comm: what PBS routes between its daemons goes over the replicas' own
// port, so it reports whether that of this host serves.
func commMain(ctx context.Context, c *call) error {
	me := "Comm@" + c.hostname()
	log := newJournal(c.home.CommLogs(), me, "TPP", daylog.ServerMask)
	me += "(Main Thread)" // who of the daemon writes, as in PBS; there is nobody else
	defer log.Close()
	last := "-"
	look := func(ctx context.Context) {
		text := "this host has neither a replica nor a mom"
		if socket, page := c.daemon(); socket != "" {
			text = "the daemon of this host serves"
			if why := watchPage(socket, page)(ctx); why != "" {
				text += " not: " + why
			}
		}
		if ctx.Err() == nil && text != last {
			last = text
			log.say(pbs.LogSystem, me, text)
		}
	}
	begin := func(ctx context.Context) {
		log.say(pbs.LogSystem, me, fmt.Sprintf("pbs_comm started, pid = %d", os.Getpid()))
		look(ctx)
	}
	err := c.run(ctx, duty{lock: c.home.CommLock(), begin: begin, again: func(ctx context.Context) {
		_ = log.Close()
		look(ctx)
	}, look: look, every: lookEvery})
	if c.has("N") && err == nil {
		log.say(pbs.LogSystem, me, "Is down")
	}
	return err
}

// daemon returns the socket of the daemon of this home, and the page that tells how it does.
func (c *call) daemon() (socket, page string) {
	if replica, err := server.Load(c.home); err == nil {
		return c.home.Gateway(replica.Host), "/readyz"
	}
	if agent, err := mom.Load(c.home); err == nil {
		return c.home.MomGateway(agent.Host), "/readyz"
	}
	return "", ""
}

func (c *call) hostname() string {
	me, err := c.self(context.Background())
	if err != nil {
		return "localhost"
	}
	return me.short
}
