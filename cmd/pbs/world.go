package main

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rampart/cli"
	"rampart/transport"
	"rampart/transport/api/apiconnect"
	"rampart/transport/client"
)

// world returns the Env of a real process.
func world() *cli.Env {
	return &cli.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ:    os.Environ,
		Now:        time.Now,
		Zone:       time.Local,
		Hostname:   os.Hostname,
		Getwd:      os.Getwd,
		Open:       func(name string) (fs.File, error) { return os.Open(name) },
		Stat:       os.Stat,
		WriteFile:  func(name string, data []byte) error { return os.WriteFile(name, data, 0o600) },
		MakeFolder: func(name string) error { return os.MkdirAll(name, 0o755) },
		Terminal:   terminal,
		Console:    console,
		Editor:     editor,
		Dial:       new(net.Dialer).DialContext,
		Batch:      batch,
		Cluster:    clusterService,
		Halt:       halt,
		Gone:       gone,
		Tasks:      tasks,
		Start:      start,
		WithRequestID: func(ctx context.Context, id string) context.Context {
			return client.WithRequestID(ctx, transport.RequestID(id))
		},
		NewRequestID: func() string { return string(client.NewRequestID()) },
	}
}

func terminal() bool { return isTerminal(os.Stdin) }

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS) // /dev/null is a device too
	return err == nil
}

// waiting tells somebody at a terminal why nothing comes; scripts compare what is said.
func waiting() {
	fmt.Fprintf(os.Stderr, "%s: no answer yet; waiting for the replicas to have a leader\n", filepath.Base(os.Args[0]))
}

func batch(t cli.Target) (apiconnect.BatchClient, error) {
	c, err := dial(t)
	if err != nil {
		return nil, err
	}
	return c.Batch(), nil
}

func clusterService(t cli.Target) (apiconnect.ClusterClient, error) {
	c, err := dial(t)
	if err != nil {
		return nil, err
	}
	return c.Cluster(), nil
}

func halt(t cli.Target) (apiconnect.HaltClient, error) {
	c, err := dial(t)
	if err != nil {
		return nil, err
	}
	return c.Halt(), nil
}

// dialFor bounds the wait for the answer of a host.
const dialFor = time.Second

// gone reports whether the host of an address says that nobody listens there.
func gone(ctx context.Context, address string) bool {
	d := net.Dialer{Timeout: dialFor}
	c, err := d.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, unix.ECONNREFUSED)
}

// dial returns a client that asks this host's daemons, which know the user by the
// kernel's word; or, with a login token, the replicas themselves.
func dial(t cli.Target) (*client.Client, error) {
	budget, err := t.Budget()
	if err != nil {
		return nil, err
	}
	o := client.Options{Token: loginToken(os.Getenv("RAMPART_TOKEN")), Servers: t.Names, Budget: budget}
	for _, path := range t.Gateways {
		o.Replicas = append(o.Replicas, "unix:"+path)
	}
	if o.Token != "" {
		config, err := trust(os.Getenv("RAMPART_CA"))
		if err != nil {
			return nil, err
		}
		o.TLS = config
		if o.Replicas = t.Replicas; !t.Operand {
			o.Servers = nil // the address is asked itself, whatever it is called
		}
	}
	if isTerminal(os.Stderr) {
		o.Waiting = waiting
	}
	if len(o.Replicas) == 0 {
		return nil, &cli.Unreachable{Server: t.Server, Err: errors.New("no daemon of this host serves it, and there is no login token")}
	}
	return client.New(o), nil
}

// loginToken returns what RAMPART_TOKEN holds, unless it is there to let a daemon join: that says
// nothing of who calls.
func loginToken(text string) string {
	if transport.Enrols(text) {
		return ""
	}
	return strings.TrimSpace(text)
}

// trust reads the certificate of the cluster's CA.
func trust(file string) (*tls.Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("RAMPART_TOKEN is set; RAMPART_CA must name the cluster's certificate: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("RAMPART_CA: %s holds no certificate", file)
	}
	return transport.UserTLS(block.Bytes), nil
}
