// Package login makes and reads login tokens: short-lived JSON Web Tokens
// (ES256), signed with the CA's key, for people without a daemon on their host.
// It stands apart from transport so that user commands need not carry it. It
// keeps no state and starts nothing.
package login

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"rampart/fsm/pbs"
	"rampart/transport"
)

// MaxLife is the longest life of a login token; a longer one is neither issued
// nor taken.
const MaxLife = 12 * time.Hour

// DefaultLife is the life of a token for which no other was asked.
const DefaultLife = time.Hour

// skew is how far the clock of the replica that issued a token may be ahead. It lengthens no
// token's life.
const skew = 30 * time.Second

// Issue makes a token for a user, the subject user@host. It lasts for life, at
// most MaxLife; 0 is DefaultLife.
func Issue(ca *transport.CA, user pbs.User, life time.Duration, now time.Time) (text string, expires time.Time, err error) {
	if user.Name == "" || user.Host == "" {
		return "", time.Time{}, errors.New("issue login token: it needs a user and a host")
	}
	if life <= 0 {
		life = DefaultLife
	}
	expires = now.Add(min(life, MaxLife))
	claims := jwt.RegisteredClaims{
		Issuer: ca.Cluster(), Subject: user.String(),
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(expires),
	}
	text, err = jwt.NewWithClaims(jwt.SigningMethodES256, claims).SignedString(ca.Key())
	if err != nil {
		return "", time.Time{}, fmt.Errorf("issue login token: %w", err)
	}
	return text, expires, nil
}

// Verifier returns what HandlerConfig.Login wants: it reads a token and says
// whose it is.
func Verifier(ca *transport.CA) func(token string) (pbs.User, error) {
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodES256.Alg()}),
		jwt.WithIssuer(ca.Cluster()), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(skew),
	)
	key := ca.Key().Public().(*ecdsa.PublicKey)
	return func(token string) (pbs.User, error) {
		var c jwt.RegisteredClaims
		if _, err := parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return key, nil }); err != nil {
			return pbs.User{}, fmt.Errorf("login token: %w", err)
		}
		if !time.Now().Before(c.ExpiresAt.Time) { // the parser grants the skew here, too
			return pbs.User{}, fmt.Errorf("login token: %w", jwt.ErrTokenExpired)
		}
		if c.IssuedAt == nil || c.ExpiresAt.Sub(c.IssuedAt.Time) > MaxLife {
			return pbs.User{}, errors.New("login token: it lives too long")
		}
		user := pbs.ParseUser(c.Subject)
		if user.Name == "" || user.Host == "" {
			return pbs.User{}, errors.New("login token: it names nobody")
		}
		return user, nil
	}
}
