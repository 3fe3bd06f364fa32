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
}

// The waits of a Renewer. The look is short because a timer stands still while
// the machine sleeps.
const (
	renewLook  = 5 * time.Minute
	renewRetry = 30 * time.Second
)

// Run renews until ctx ends.
func (r *Renewer) Run(ctx context.Context) error {
	for {
		wait := min(time.Until(renewAt(r.Identity.Certificate())), renewLook)
		if wait <= 0 {
			wait = renewLook
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
