package main

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"

	urfave "github.com/urfave/cli/v2"

	"rampart/cli/admin"
	"rampart/cmd/rampart/home"
	"rampart/cmd/rampart/sim"
)

// twin returns what a twin of the living cluster sees.
func twin(stdout io.Writer, quit func() bool) sim.TwinEnv {
	user := os.Getenv("LOGNAME")
	if user == "" {
		user = "root"
	}
	return sim.TwinEnv{
		Out: stdout, User: user, Now: time.Now, Quit: quit, Cluster: clusterClient,
		Open:  func(name string) (fs.File, error) { return os.Open(name) },
		Write: func(name string, write func(io.Writer) error) error { return writeTo(stdout, name, write) },
	}
}

// foresee tells when the jobs of a cluster start, and what would be if.
func foresee(c *urfave.Context) error {
	if file := c.String("from-snapshot"); file != "" {
		home.WarnShared(c.App.ErrWriter, file)
	}
	quit, restore := onSignal()
	defer restore()
	return twin(c.App.Writer, quit).Foresee(c)
}

// begins says when a job of the living cluster starts.
func begins(ctx context.Context, server, job string, days uint) (admin.Foreseen, error) {
	quit, restore := onSignal()
	defer restore()
	return twin(os.Stdout, quit).Begins(ctx, server, job, days)
}
