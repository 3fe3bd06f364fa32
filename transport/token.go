package transport

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	tokenPrefix = "rampart1" // the form's version: another form, another prefix
	secretBytes = 20
	maxToken    = 256
)

// A Token lets one process enrol. It names the role it is good for, carries the
// secret that the cluster knows by its hash, and the hash of the CA's
// certificate, so that the joiner knows whom it trusts.
type Token struct {
	Role   Role
	Secret [secretBytes]byte
	CA     [sha256.Size]byte
}

// NewToken makes a token of a cluster, by what has the Hash of its CA.
func NewToken(ca interface{ Hash() []byte }, role Role) Token {
	t := Token{Role: role}
	copy(t.CA[:], ca.Hash())
	_, _ = rand.Read(t.Secret[:]) // never fails (crypto/rand)
	return t
}

// String returns the text that a person carries from host to host.
func (t Token) String() string {
	enc := base64.RawURLEncoding
	return strings.Join([]string{tokenPrefix, string(t.Role), enc.EncodeToString(t.Secret[:]), enc.EncodeToString(t.CA[:])}, ".")
}

// Hash returns the name under which the state keeps the token; the secret
// cannot be had from it.
func (t Token) Hash() string {
	sum := sha256.Sum256(t.Secret[:])
	return hex.EncodeToString(sum[:])
}

// Enrols reports whether a text is meant to be an enrolment token, whatever its form's version,
// and not a login token.
func Enrols(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), strings.TrimRight(tokenPrefix, "0123456789"))
}

var errToken = errors.New("not an enrolment token")

// ParseToken reads the text of a token; blanks around it do no harm.
func ParseToken(text string) (Token, error) {
	text = strings.TrimSpace(text)
	parts := strings.Split(text, ".")
	if len(text) > maxToken || len(parts) != 4 || parts[0] != tokenPrefix {
		return Token{}, errToken
	}
	t := Token{Role: Role(parts[1])}
	if !t.Role.Valid() || !decodeExactly(t.Secret[:], parts[2]) || !decodeExactly(t.CA[:], parts[3]) {
		return Token{}, errToken
	}
	return t, nil
}

// For refuses a token that makes something else than what its bearer is about to become.
func (t Token) For(roles ...Role) error {
	if slices.Contains(roles, t.Role) {
		return nil
	}
	return fmt.Errorf("it is a token for role %s", t.Role)
}

// decodeExactly fills dst from base64 text that has no other length or spelling.
func decodeExactly(dst []byte, text string) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	// The decoder skips line ends and spare bits; a token has one spelling.
	if err != nil || len(b) != len(dst) || base64.RawURLEncoding.EncodeToString(b) != text {
		return false
	}
	copy(dst, b)
	return true
}
