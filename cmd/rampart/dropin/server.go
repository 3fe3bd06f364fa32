package dropin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/server"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/own"
)

// serverMain is pbs_server. On a fresh host it makes a cluster of this one replica, if
// PBS_SERVER means this host (specification: drop-in; a single-host installation of PBS).
func serverMain(ctx context.Context, c *call) error {
	if kind := c.options["t"]; c.has("t") && !slices.Contains([]string{"hot", "warm"}, kind) {
		return fmt.Errorf("%w: -t %s: jobs, queues and vnodes are in the replicated state, which a start leaves as it is", ErrUsage, kind)
	}
	if err := c.absolute("L"); err != nil {
		return err
	}
	if err := c.foundServer(ctx); err != nil {
		return err
	}
	if !c.has("N") {
		if err := c.free(ctx, c.home.ServerLock()); err != nil {
			return err
		}
		return c.background(ctx)
	}
	pipe := upPipe()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	config, err := server.Load(c.home)
	if err != nil {
		return err
	}
	config.Hot = c.options["t"] == "hot"
	if config.Rename, err = c.serverName(ctx); err != nil {
		return err
	}
	lock, err := home.Lock(c.home.ServerLock())
	if err != nil {
		return err
	}
	defer lock.Close()
	look := watchPage(c.home.Gateway(config.Host), "/readyz")
	go sayUp(ctx, pipe, func() string { return look(ctx) }) // ends with its word, or with ctx
	return server.Run(ctx, config, server.Process{Hangups: hangups, LogFile: c.options["L"], PID: os.Getpid()}, c.world.Logger(config.Host))
}

// freeWithin bounds the wait for a daemon that is about to end.
const freeWithin = time.Minute

// free refuses a start while the lock is held, before anything is begun. That of a daemon which is about to end is waited for.
func (c *call) free(ctx context.Context, path string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(freeWithin); ; {
		lock, err := c.lock(path)
		if err == nil {
			return lock.Close()
		}
		if !errors.Is(err, own.ErrRunning) || !ending(path) || time.Now().After(end) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ending reports whether the daemon that holds a lock was told to end, and so has emptied its file, or was killed: its memory is gone
// before its files are.
func ending(lock string) bool {
	pid, err := os.ReadFile(lock)
	if err != nil {
		return false
	}
	if pid = bytes.TrimSpace(pid); len(pid) == 0 {
		return true
	}
	words, err := os.ReadFile(filepath.Join("/proc", string(pid), "cmdline"))
	return errors.Is(err, fs.ErrNotExist) || err == nil && len(words) == 0
}

// foundServer makes the replica of a home that has none.
func (c *call) foundServer(ctx context.Context) error {
	_, err := server.Load(c.home)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	me, err := c.self(ctx)
	if err != nil {
		return err
	}
	config := server.Default(me.short, me.address)
	config.Home = c.home
	port := me.port("PBS_BATCH_SERVICE_PORT", serverPort)
	if c.has("p") {
		port = c.options["p"]
	}
	config.Listen = net.JoinHostPort(me.address, port)
	if !me.is(ctx, me.first()) {
		config.Replicas = []string{me.replica()}
		token, err := home.TokenSource{Stderr: c.world.Stderr}.Token()
		if errors.Is(err, home.ErrNoToken) {
			err = me.unenrolled(c, "replica", "server", "")
		}
		if err != nil {
			return err
		}
		return server.Join(ctx, transport.System{}, config, token)
	}
	if config.Manager, err = server.Manager(ctx, me.short); err != nil {
		return err
	}
	return server.Init(config)
}

// serverName returns what PBS_SERVER calls the server: a name of its own if PBS_SERVER_HOST_NAME says that it
// is on this host, else that which it was made with.
func (c *call) serverName(ctx context.Context) (*string, error) {
	name, host := home.Conf("PBS_SERVER"), home.Conf("PBS_SERVER_HOST_NAME")
	if name == "" || host == "" {
		return new(string), nil
	}
	me, err := c.self(ctx)
	if err != nil {
		return nil, err
	}
	if len(me.servers) != 1 || !me.is(ctx, me.first()) {
		return nil, nil
	}
	if _, err := pbs.ParseJobID("0."+name, ""); err != nil || me.is(ctx, name) {
		return new(string), nil
	}
	return &name, nil
}

// watchPage returns a function that asks a daemon's page through its socket, and returns
// why it does not answer with success.
func watchPage(socket, page string) func(ctx context.Context) string {
	asker := &http.Client{
		Timeout: time.Second,
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return transport.DialUnix(ctx, socket)
		}},
	}
	return func(ctx context.Context) string {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://gateway"+page, http.NoBody)
		if err != nil {
			return err.Error()
		}
		reply, err := asker.Do(r)
		if err != nil {
			return "it does not answer yet"
		}
		defer reply.Body.Close()
		if reply.StatusCode == http.StatusOK {
			return ""
		}
		text, _ := io.ReadAll(io.LimitReader(reply.Body, 1<<10))
		return strings.TrimSpace(string(text))
	}
}
