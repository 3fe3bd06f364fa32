package transport

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"time"
)

// A Renewer keeps an identity fresh: it asks for a new leaf when a third of the
// present one's life is over, and again until it has one.
type Renewer struct {
	Identity *Identity
	// Sign turns a certificate request into a leaf: the CA on a replica, the
	// Renew method elsewhere.
	Sign func(ctx context.Context, csr []byte) (leaf []byte, err error)
	// Save, if set, puts the new leaf on disk before it is used.
	Save   func(leaf []byte) error
	Logger *slog.Logger
	// Stale, if set, tells that the present leaf is to be renewed before its time: another CA
	// signs now.
	Stale func() bool
}

// The waits of a Renewer. The look is short because a timer stands still while
// the machine sleeps.
const (
	renewLook  = 5 * time.Minute
	renewRetry = 30 * time.Second
	staleLook  = 10 * time.Second
)

// Run renews until ctx ends.
func (r *Renewer) Run(ctx context.Context) error {
	for {
		wait := r.wait()
		if wait <= 0 {
			wait = r.look()
			if err := r.renew(ctx); err != nil && ctx.Err() == nil {
				r.Logger.Warn("certificate not renewed", "err", err, "expires", r.Identity.Certificate().NotAfter)
				wait = renewRetry
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// wait returns how long nothing is to be done.
func (r *Renewer) wait() time.Duration {
	if r.Stale != nil && r.Stale() {
		return 0
	}
	return min(time.Until(renewAt(r.Identity.Certificate())), r.look())
}

func (r *Renewer) look() time.Duration {
	if r.Stale != nil {
		return staleLook
	}
	return renewLook
}

func renewAt(c *x509.Certificate) time.Time {
	return c.NotBefore.Add(c.NotAfter.Sub(c.NotBefore) / 3)
}

func (r *Renewer) renew(ctx context.Context) error {
	csr, err := r.Identity.CSR()
	if err != nil {
		return err
	}
	leaf, err := r.Sign(ctx, csr)
	if err != nil {
		return fmt.Errorf("renew certificate: %w", err)
	}
	if r.Save != nil {
		if err := r.Save(leaf); err != nil {
			return fmt.Errorf("renew certificate: %w", err)
		}
	}
	return r.Identity.Swap(leaf)
}
