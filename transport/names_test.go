package transport

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A resolver that hangs costs nobody a host that was known, and two seconds one that was not.
func TestDialNamed_ResolverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := false
		names := newNames(func(ctx context.Context, host string) ([]string, error) {
			if hangs {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			if host == "gone" {
				return nil, &net.DNSError{Name: host, IsNotFound: true}
			}
			return []string{"10.0.0.1", "10.0.0.2"}, nil
		})
		defer names.Close()
		var tried []string
		dial := func(address string) (time.Duration, error) {
			begin := time.Now()
			conn, err := dialNamed(t.Context(), names, address, func(_ context.Context, to string) (net.Conn, error) {
				if tried = append(tried, to); to == "10.0.0.1:1" {
					return nil, errors.New("refused")
				}
				a, b := net.Pipe()
				return a, b.Close()
			})
			if err == nil {
				_ = conn.Close()
			}
			return time.Since(begin), err
		}
		if _, err := dial("s1:1"); err != nil || !slices.Equal(tried, []string{"10.0.0.1:1", "10.0.0.2:1"}) {
			t.Fatalf("%v, tried %v", err, tried)
		}
		if _, err := dial("gone:1"); !refused(err) {
			t.Errorf("a host that is not there: %v", err)
		}
		hangs = true
		time.Sleep(time.Hour)
		if d, err := dial("s1:1"); err != nil || d > time.Second {
			t.Errorf("known: %v after %v", err, d)
		}
		if d, err := dial("s2:1"); err == nil || refused(err) || d > 2*time.Second {
			t.Errorf("unknown: %v after %v", err, d)
		}
		if d, err := dial("s1:1"); err != nil || d != 0 {
			t.Errorf("known, while the resolver is silent: %v after %v", err, d)
		}
		if d, err := dial("10.0.0.9:1"); err != nil || d != 0 {
			t.Errorf("a number: %v after %v", err, d)
		}
	})
}

// A name whose servers do not answer is no silence of the resolver, which knows others.
func TestNames_OneThatDoesNotResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := newNames(func(_ context.Context, host string) ([]string, error) {
			if host == "lost" {
				return nil, &net.DNSError{Name: host, Err: "server misbehaving", IsTemporary: true}
			}
			return []string{"10.0.0.1"}, nil
		})
		defer names.Close()
		if _, err := lookup(t.Context(), names, "s1"); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if _, err := lookup(t.Context(), names, "lost"); err == nil || refused(err) {
				t.Fatalf("lost: %v", err)
			}
			time.Sleep(time.Second)
			if silent := names.Silent(); silent.Err != nil {
				t.Fatalf("silent: %+v", silent)
			}
		}
	})
}
