package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"rampart/transport/known"
)

const (
	// namesFresh is how long an address is taken without asking the resolver again.
	namesFresh = 5 * time.Second
	// dialEach bounds the attempt at one of several addresses.
	dialEach = 5 * time.Second
)

// names are the addresses of hosts as the resolver of this process has told them: what is known
// stays good while it hangs.
var names = newNames(net.DefaultResolver.LookupHost)

func newNames(lookup func(ctx context.Context, host string) ([]string, error)) *known.Cache[[]string] {
	return known.New(known.Options[[]string]{
		Ask: lookup, Fresh: namesFresh,
		No: func(err error) bool {
			dns, ok := errors.AsType[*net.DNSError](err)
			return ok && dns.IsNotFound && !dns.IsTimeout && !dns.IsTemporary
		},
	})
}

// LookupHost returns the addresses of a host. One that was known is told without waiting for
// a resolver that hangs; else it is waited for two seconds at most.
func LookupHost(ctx context.Context, host string) ([]string, error) { return lookup(ctx, names, host) }

// NamesSilent returns since when the resolver has not answered; the zero value: it answers.
func NamesSilent() known.Silence { return names.Silent() }

func lookup(ctx context.Context, names *known.Cache[[]string], host string) ([]string, error) {
	addresses, err := names.Get(ctx, host)
	if errors.Is(err, known.ErrSilent) {
		return nil, &net.DNSError{Err: "the resolver does not answer", Name: host, IsTimeout: true}
	}
	return addresses, err
}

// dialNamed opens a stream to the first address of a host that takes it.
func dialNamed(ctx context.Context, names *known.Cache[[]string], address string, dial func(ctx context.Context, address string) (net.Conn, error)) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || isAddress(host) {
		return dial(ctx, address)
	}
	addresses, err := lookup(ctx, names, host)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	var failures []error
	for i, ip := range addresses {
		conn, err := dialOne(ctx, net.JoinHostPort(ip, port), i < len(addresses)-1, dial)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// dialOne bounds the attempt if there are more addresses.
func dialOne(ctx context.Context, address string, more bool, dial func(ctx context.Context, address string) (net.Conn, error)) (net.Conn, error) {
	if !more {
		return dial(ctx, address)
	}
	ctx, cancel := context.WithTimeout(ctx, dialEach)
	defer cancel()
	return dial(ctx, address)
}

// isAddress reports whether a host is a number, with a zone or without.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
