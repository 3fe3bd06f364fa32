package login

import (
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"rampart/fsm/pbs"
	"rampart/transport"
)

var joe = pbs.User{Name: "joe", Host: "hosta"}

func newCA(t *testing.T) *transport.CA {
	t.Helper()
	ca, err := transport.NewCA("c1", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func TestIssue_AndRead(t *testing.T) {
	ca, now := newCA(t), time.Now()
	for asked, want := range map[time.Duration]time.Duration{0: DefaultLife, time.Minute: time.Minute, 100 * time.Hour: MaxLife} {
		text, expires, err := Issue(ca, joe, asked, now)
		if err != nil || expires.Sub(now) != want {
			t.Errorf("asked for %v: until %v, %v", asked, expires, err)
		}
		if user, err := Verifier(ca)(text); err != nil || user != joe {
			t.Errorf("read: %v, %v", user, err)
		}
	}
	for _, user := range []pbs.User{{}, {Name: "joe"}, {Host: "hosta"}} {
		if _, _, err := Issue(ca, user, 0, now); err == nil {
			t.Errorf("issued for %q", user)
		}
	}
}

func TestVerifier_Refuses(t *testing.T) {
	ca, now := newCA(t), time.Now()
	sign := func(m jwt.SigningMethod, key any, c jwt.RegisteredClaims) string {
		text, err := jwt.NewWithClaims(m, c).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	claims := func(change func(*jwt.RegisteredClaims)) jwt.RegisteredClaims {
		c := jwt.RegisteredClaims{
			Issuer: "c1", Subject: "joe@hosta", IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(time.Hour)),
		}
		change(&c)
		return c
	}
	own := func(change func(*jwt.RegisteredClaims)) string {
		return sign(jwt.SigningMethodES256, ca.Key(), claims(change))
	}
	same := func(*jwt.RegisteredClaims) {}
	if _, err := Verifier(ca)(own(same)); err != nil {
		t.Fatalf("the model of all below: %v", err)
	}
	good := own(same)
	for name, text := range map[string]string{
		"empty":     "",
		"no alg":    sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(same)),
		"HMAC":      sign(jwt.SigningMethodHS256, ca.Certificate(), claims(same)),
		"other CA":  sign(jwt.SigningMethodES256, newCA(t).Key(), claims(same)),
		"cluster":   own(func(c *jwt.RegisteredClaims) { c.Issuer = "c2" }),
		"expired":   own(func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(now.Add(-time.Hour)) }),
		"no end":    own(func(c *jwt.RegisteredClaims) { c.ExpiresAt = nil }),
		"no begin":  own(func(c *jwt.RegisteredClaims) { c.IssuedAt = nil }),
		"too long":  own(func(c *jwt.RegisteredClaims) { c.ExpiresAt = jwt.NewNumericDate(now.Add(MaxLife + time.Hour)) }),
		"future":    own(func(c *jwt.RegisteredClaims) { c.IssuedAt = jwt.NewNumericDate(now.Add(time.Hour)) }),
		"no host":   own(func(c *jwt.RegisteredClaims) { c.Subject = "joe" }),
		"nobody":    own(func(c *jwt.RegisteredClaims) { c.Subject = "@hosta" }),
		"truncated": good[:strings.LastIndexByte(good, '.')+1],
	} {
		if user, err := Verifier(ca)(text); err == nil {
			t.Errorf("%s: taken for %s", name, user)
		}
	}
}

// TestVerifier_NoGrace: a token is good for as long as was asked, and not for the difference that
// clocks may have; one that a replica with a fast clock has issued is good at once.
func TestVerifier_NoGrace(t *testing.T) {
	ca, now := newCA(t), time.Now()
	for text, test := range map[string]struct {
		issued time.Time
		good   bool
	}{
		"good for a minute yet":            {now.Add(-59 * time.Minute), true},
		"over for a second":                {now.Add(-time.Hour - time.Second), false},
		"issued by a clock that is fast":   {now.Add(skew / 2), true},
		"issued by a clock that is absurd": {now.Add(time.Hour), false},
	} {
		token, _, err := Issue(ca, joe, time.Hour, test.issued)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Verifier(ca)(token); (err == nil) != test.good {
			t.Errorf("%s: %v", text, err)
		}
	}
}
