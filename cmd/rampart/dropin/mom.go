package dropin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/mom"
	"rampart/cmd/rampart/server"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/client"
	"rampart/transport/own"
)

// momMain is pbs_mom. It ends the jobs that an earlier mom left and has them queued again,
// unless -p says that they are to be adopted (specification: cli-contract section 9). On a
// fresh host with a replica it joins by itself.
func momMain(ctx context.Context, c *call) error {
	if c.has("s") {
		return mom.Define(c.home, c.world.Stdout, c.options["s"], c.operands)
	}
	if c.has("p") && c.has("r") {
		return fmt.Errorf("%w: -p and -r: one of them", ErrUsage)
	}
	if err := c.absolute("L", "C"); err != nil {
		return err
	}
	settings, err := c.momSettings()
	if err != nil {
		return err
	}
	if err := c.enrolMom(ctx); err != nil {
		return err
	}
	if !c.has("N") {
		if err := c.free(ctx, c.home.MomLock()); err != nil {
			return err
		}
		return c.background(ctx)
	}
	pipe := upPipe()
	config, err := mom.Load(c.home)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)
	return mom.Run(ctx, config, mom.Options{
		Shim: filepath.Join(filepath.Dir(c.world.Program), "pbs"), KillJobs: !c.has("p"), Signals: signals,
		LogFile: c.options["L"], Settings: settings, Checkpoints: c.options["C"],
		Logger: c.world.Logger(config.Host),
		Up:     func(unready func() string) { go sayUp(ctx, pipe, unready) }, // ends with its word
	})
}

// momSettings returns the path of the file that is read in place of mom_priv/config, in which a relative name of it is; empty: there
// is none. A daemon that could not read it would say so where nobody looks.
func (c *call) momSettings() (string, error) {
	path, given := c.options["c"]
	if !given {
		return "", nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.home.MomPriv(), path)
	}
	if err := own.Program(path); err != nil {
		return "", fmt.Errorf("-c: %w", err)
	}
	return path, nil
}

// enrolWithin bounds the wait for a replica that was started just before.
const enrolWithin = 30 * time.Second

// enrolMom makes the mom of a home that has none: if the home has a replica, by a token that
// root gets there.
func (c *call) enrolMom(ctx context.Context) error {
	_, err := mom.Load(c.home)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	me, err := c.self(ctx)
	if err != nil {
		return err
	}
	port := me.port("PBS_MOM_SERVICE_PORT", momPort)
	if c.has("M") {
		port = c.options["M"]
	}
	replica, err := server.Load(c.home)
	alone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !alone {
		return err
	}
	config := mom.Default(me.short, me.address)
	config.Home, config.Replicas = c.home, []string{replica.Address()}
	config.Listen = net.JoinHostPort(me.address, port)
	if alone {
		config.Replicas = []string{me.replica()}
		token, err := home.TokenSource{Stderr: c.world.Stderr}.Token()
		if errors.Is(err, home.ErrNoToken) {
			err = me.unenrolled(c, "mom", "mom", "; the token of a login host is one of --role submit")
		}
		if err != nil {
			return err
		}
		return mom.Join(ctx, transport.System{}, config, token)
	}
	token, err := localToken(ctx, c.home.Gateway(replica.Host), me.short)
	if err != nil {
		return fmt.Errorf("no mom in %s, and the replica of this host gives no token for one: %w", c.home, err)
	}
	return mom.Join(ctx, transport.System{}, config, token)
}

// localToken gets an enrolment token for a mom of this host from its replica.
func localToken(ctx context.Context, gateway, host string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, enrolWithin)
	defer cancel()
	asker := client.New(client.Options{Replicas: []string{"unix:" + gateway}, Budget: enrolWithin})
	defer asker.Close()
	reply, err := asker.Cluster().CreateToken(client.WithRequestID(ctx, client.NewRequestID()), connect.NewRequest(&api.CreateTokenRequest{
		Role: string(transport.RoleMom), Host: host, TtlSeconds: int64(enrolWithin / time.Second),
	}))
	if err != nil {
		return "", err
	}
	return reply.Msg.GetToken(), nil
}
